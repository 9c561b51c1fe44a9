// SPDX-License-Identifier: MIT
#include "web/src/signalling/signal_message.hpp"

#include <array>

namespace reckoner::web {
namespace {

constexpr std::array<std::string_view, 4> kNames{"offer", "answer", "refused", "leave"};

}  // namespace

std::optional<SignalMessage> read_signal(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (text.size() > kMaxSignalBytes || end == std::string_view::npos || end + 1 == text.size())
    return std::nullopt;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (text.substr(0, end) == kNames[i]) return SignalMessage{static_cast<Signal>(i), text.substr(end + 1)};
  }
  return std::nullopt;
}

std::string write_signal(const SignalMessage& message) {
  std::string out(kNames[static_cast<std::size_t>(message.kind)]);
  out += '\n';
  out += message.body;
  return out;
}

}  // namespace reckoner::web
