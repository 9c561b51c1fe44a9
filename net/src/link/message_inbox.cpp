// SPDX-License-Identifier: MIT
#include "net/src/link/message_inbox.hpp"

#include <utility>

namespace reckoner {

bool MessageInbox::add(ClientId sender, std::span<const std::byte> payload, std::optional<double> time_s,
                       bool held) {
  Kept& kept = kept_[sender];
  if (kept.messages >= limits_.messages || kept.bytes + payload.size() > limits_.bytes) {
    if (kept.messages == 0) kept_.erase(sender);
    return false;
  }
  ++kept.messages;
  kept.bytes += payload.size();
  Entry entry{sender, {payload.begin(), payload.end()}, time_s};
  if (held && time_s) {
    held_.emplace(*time_s, std::move(entry));
  } else {
    ready_.push_back(std::move(entry));
  }
  return true;
}

bool MessageInbox::has_room(ClientId sender, std::size_t messages, std::size_t bytes) const {
  const auto found = kept_.find(sender);
  const Kept kept = found != kept_.end() ? found->second : Kept{};
  return kept.messages + messages <= limits_.messages && kept.bytes + bytes <= limits_.bytes;
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
  const auto kept = kept_.find(polled_.sender);
  --kept->second.messages;
  kept->second.bytes -= polled_.payload.size();
  if (kept->second.messages == 0) kept_.erase(kept);
  return GameMessage{polled_.sender, polled_.payload, polled_.time_s};
}

}  // namespace reckoner
