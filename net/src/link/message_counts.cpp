// SPDX-License-Identifier: MIT
#include "net/src/link/message_counts.hpp"

namespace reckoner {

void MessageCounts::add(std::size_t bytes, Origin origin) {
  ++added_;
  unconfirmed_.push_back({static_cast<std::uint32_t>(bytes), origin});
  if (origin == Origin::game) {
    ++game_.messages;
    game_.bytes += bytes;
  }
  extend_sendable();
}

void MessageCounts::extend_sendable() {
  while (sendable_.messages < unconfirmed_.size()) {
    const std::size_t bytes = unconfirmed_[sendable_.messages].bytes;
    if (sendable_.messages >= limits_.window.messages || bytes > limits_.window.bytes - sendable_.bytes)
      return;
    ++sendable_.messages;
    sendable_.bytes += bytes;
  }
}

bool MessageCounts::confirm(std::uint32_t count) {
  if (!can_confirm(count)) return false;
  for (; confirmed_ != count; ++confirmed_) {
    const Message message = unconfirmed_.front();
    unconfirmed_.pop_front();
    if (message.origin == Origin::game) {
      --game_.messages;
      game_.bytes -= message.bytes;
    }
    if (sendable_.messages > 0) {
      --sendable_.messages;
      sendable_.bytes -= message.bytes;
    }
  }
  extend_sendable();
  return true;
}

}  // namespace reckoner
