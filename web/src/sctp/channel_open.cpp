// SPDX-License-Identifier: MIT
#include "web/src/sctp/channel_open.hpp"

namespace reckoner::web {
namespace {

constexpr std::size_t kHeaderBytes = 12;
constexpr std::byte kOpenMessage{3};

std::uint32_t big_endian_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (const std::byte byte : bytes.subspan(at, size))
    value = value << 8 | std::to_integer<std::uint32_t>(byte);
  return value;
}

}  // namespace

std::optional<ChannelOpen> read_channel_open(std::span<const std::byte> message) {
  if (message.size() < kHeaderBytes || message[0] != kOpenMessage) return std::nullopt;
  const std::size_t label = big_endian_at(message, 8, 2), protocol = big_endian_at(message, 10, 2);
  if (message.size() != kHeaderBytes + label + protocol) return std::nullopt;
  const std::string_view texts(reinterpret_cast<const char*>(message.data()) + kHeaderBytes,
                               label + protocol);
  return ChannelOpen{.type = std::to_integer<std::uint8_t>(message[1]),
                     .priority = static_cast<std::uint16_t>(big_endian_at(message, 2, 2)),
                     .reliability = big_endian_at(message, 4, 4),
                     .label = texts.substr(0, label),
                     .protocol = texts.substr(label)};
}

std::vector<std::byte> write_channel_open(const ChannelOpen& open) {
  std::vector<std::byte> out{kOpenMessage, std::byte{open.type}};
  const auto put = [&](std::size_t value, int bytes) {
    for (int i = bytes; i-- > 0;)
      out.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
  };
  put(open.priority, 2);
  put(open.reliability, 4);
  put(open.label.size(), 2);
  put(open.protocol.size(), 2);
  for (const std::string_view text : {open.label, open.protocol}) {
    const auto bytes = std::as_bytes(std::span(text));
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

}  // namespace reckoner::web
