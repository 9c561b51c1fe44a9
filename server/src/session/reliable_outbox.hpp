// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/session/byte_budget.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace reckoner {

/// Reliable game messages that wait until the byte budget of their client has room for them. So a game that
/// passes on the messages of a talkative client delays messages, not motions.
///
/// The outbox has a token bucket of its own, which the session fills with a share of the byte budget. A
/// message is sent while the bucket holds anything. A message may be larger than the bucket, because it
/// cannot be sent in parts. The excess is charged to the byte budget over the following ticks.
class ReliableOutbox {
 public:
  /// Adds an encoded message. The caller limits the number and the size of the waiting messages.
  void add(std::span<const std::byte> message) {
    waiting_.emplace_back(message.begin(), message.end());
    bytes_ += message.size();
  }

  [[nodiscard]] bool empty() const { return first_ == waiting_.size(); }
  /// Number of waiting messages, and their total size in bytes.
  [[nodiscard]] std::size_t messages() const { return waiting_.size() - first_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// The waiting messages, oldest first. Valid until the outbox changes.
  [[nodiscard]] std::span<const std::vector<std::byte>> waiting() const {
    return std::span(waiting_).subspan(first_);
  }
  /// Removes the `count` oldest messages, which were sent.
  void remove(std::size_t count) {
    for (; count > 0; --count)
      bytes_ -= std::exchange(waiting_[first_++], {}).size();
    if (first_ < waiting_.size() / 2 && !empty()) return;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

  /// Messages give way to motions: while `link_has_queue`, their share falls, and then it rises again. Call
  /// it once a tick; `now_s` is the time of the tick, s.
  void follow_link(bool link_has_queue, double now_s) {
    constexpr double kEveryS = 0.1, kDown = 0.7, kUp = 0.02, kLeast = 1.0 / 16.0;
    if (followed_s_ && now_s < *followed_s_ + kEveryS) return;
    followed_s_ = now_s;
    share_ = std::clamp(link_has_queue ? kDown * share_ : share_ + kUp, kLeast, 1.0);
  }
  /// The part of their share of the byte budget that messages use at present.
  [[nodiscard]] double share() const { return share_; }

  /// The bytes in the bucket. Negative: a large message was sent.
  [[nodiscard]] double room() const { return room_; }
  /// Adds `bytes` to the bucket, which holds at most `most`. Returns the bytes of earlier messages that must
  /// be charged to the byte budget now.
  [[nodiscard]] std::size_t refill(double bytes, double most) {
    room_ = std::min(room_ + bytes, most);
    payable_ = uncharged_ == 0 ? 0.0 : payable_ + bytes;
    const std::size_t now = std::min(uncharged_, static_cast<std::size_t>(payable_));
    payable_ -= static_cast<double>(now);
    uncharged_ -= now;
    return now;
  }
  /// A payload was sent. `wire_bytes` includes its headers. Returns the bytes that must be charged to the
  /// byte budget now; refill() returns the rest over time.
  [[nodiscard]] std::size_t sent(std::size_t wire_bytes) {
    room_ -= static_cast<double>(wire_bytes);
    const std::size_t now = std::min(wire_bytes, static_cast<std::size_t>(ByteBudget::kDatagramBytes));
    uncharged_ += wire_bytes - now;
    return now;
  }
  /// Forgets what is to be charged, because another connection begins.
  void restart() {
    room_ = ByteBudget::kDatagramBytes;
    payable_ = 0.0;
    uncharged_ = 0;
  }

 private:
  std::vector<std::vector<std::byte>> waiting_;
  std::size_t first_ = 0;  // index of the oldest message that waits
  std::size_t bytes_ = 0;
  double share_ = 1.0;
  std::optional<double> followed_s_;
  double room_ = ByteBudget::kDatagramBytes;  // bytes
  std::size_t uncharged_ = 0;                 // bytes of large messages that are not charged yet
  double payable_ = 0.0;                      // bytes that can be charged, less than one after a charge
};

}  // namespace reckoner
