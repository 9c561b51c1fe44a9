// SPDX-License-Identifier: MIT
#include "net/src/link/message_inbox.hpp"

#include <utility>

namespace reckoner {

bool MessageInbox::add(ClientId sender, std::span<const std::byte> payload, std::optional<double> time_s,
                       bool held) {
  Usage& usage = usage_[sender];
  if (usage.messages >= limits_.messages || usage.bytes + payload.size() > limits_.bytes) {
    if (usage.messages == 0) usage_.erase(sender);
    return false;
  }
  ++usage.messages;
  usage.bytes += payload.size();
  Entry entry{sender, {payload.begin(), payload.end()}, time_s};
  if (held && time_s) {
    held_.emplace(*time_s, std::move(entry));
  } else {
    ready_.push_back(std::move(entry));
  }
  return true;
}

bool MessageInbox::has_room(ClientId sender, std::size_t messages, std::size_t bytes) const {
  const auto found = usage_.find(sender);
  const Usage usage = found != usage_.end() ? found->second : Usage{};
  return usage.messages + messages <= limits_.messages && usage.bytes + bytes <= limits_.bytes;
}

void MessageInbox::release(double time_s) {
  while (!held_.empty() && held_.begin()->first <= time_s) {
    ready_.push_back(std::move(held_.begin()->second));
    held_.erase(held_.begin());
  }
}

std::optional<GameMessage> MessageInbox::poll() {
  if (ready_.empty()) return std::nullopt;
  polled_ = std::move(ready_.front());
  ready_.pop_front();
  const auto usage = usage_.find(polled_.sender);
  --usage->second.messages;
  usage->second.bytes -= polled_.payload.size();
  if (usage->second.messages == 0) usage_.erase(usage);
  return GameMessage{polled_.sender, polled_.payload, polled_.time_s};
}

}  // namespace reckoner
