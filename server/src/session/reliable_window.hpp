// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace reckoner {

/// The reliable messages that were sent to one client and are not confirmed: bounded, so that a client that
/// takes nothing in costs no more than that.
class ReliableWindow {
 public:
  static constexpr std::size_t kMostMessages = 1024;
  static constexpr std::size_t kMostBytes = 256 * 1024;

  [[nodiscard]] bool has_room_for(std::size_t bytes) const {
    return sent_.size() < kMostMessages && bytes_ + bytes <= kMostBytes;
  }

  /// `number` is that of the control message.
  void sent(std::uint32_t number, std::size_t bytes) {
    sent_.push_back({number, bytes});
    bytes_ += bytes;
  }

  /// The client has taken in so many control messages.
  void confirm(std::uint32_t count) {
    while (!sent_.empty() && static_cast<std::int32_t>(count - sent_.front().number) >= 0) {
      bytes_ -= sent_.front().bytes;
      sent_.pop_front();
    }
  }

 private:
  struct Sent {
    std::uint32_t number = 0;
    std::size_t bytes = 0;
  };

  std::deque<Sent> sent_;
  std::size_t bytes_ = 0;
};

}  // namespace reckoner
