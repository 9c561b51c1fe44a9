// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/transport.hpp>

namespace reckoner {

/// The events of a transport that were not polled yet, oldest first. The queue copies the payloads into one
/// reused buffer, because a server receives tens of thousands of payloads a second. The buffer stays in
/// proportion to the waiting payloads, even if the game never empties the queue.
class EventQueue {
 public:
  void push(const TransportEvent& event) {
    if (empty()) clear();
    const std::size_t polled = bytes_.size() - bytes();
    if ((next_ >= kFewEvents && next_ > size()) || polled > kKeptBytes + bytes()) forget_polled();
    waiting_.push_back({event, bytes_.size()});
    bytes_.insert(bytes_.end(), event.payload.begin(), event.payload.end());
  }

  /// Adds an event at `now_s`. The time until pop(polled_s) then also counts as waited, for a received
  /// datagram.
  void push(TransportEvent event, double now_s) {
    event.waited_s -= now_s;
    push(event);
  }
  /// The oldest event, which push(event, now_s) has added. `polled_s`: by the clock of `now_s`.
  std::optional<TransportEvent> pop(double polled_s) {
    auto event = pop();
    if (event)
      event->waited_s =
          event->kind == TransportEvent::Kind::received ? std::max(0.0, polled_s + event->waited_s) : 0.0;
    return event;
  }

  /// The oldest event, or nullopt if the queue is empty. The payload is valid until the next call.
  std::optional<TransportEvent> pop() {
    if (empty()) {
      clear();
      return std::nullopt;
    }
    const Waiting& next = waiting_[next_++];
    TransportEvent event = next.event;
    event.payload = std::span(bytes_).subspan(next.begin, next.event.payload.size());
    return event;
  }

  [[nodiscard]] bool empty() const { return next_ == waiting_.size(); }
  [[nodiscard]] std::size_t size() const { return waiting_.size() - next_; }
  /// Bytes of all waiting payloads.
  [[nodiscard]] std::size_t bytes() const { return empty() ? 0 : bytes_.size() - waiting_[next_].begin; }
  /// Allocated bytes for payloads.
  [[nodiscard]] std::size_t capacity() const { return bytes_.capacity(); }

 private:
  static constexpr std::size_t kKeptBytes = 1024 * 1024;
  static constexpr std::size_t kFewEvents = 64;

  struct Waiting {
    TransportEvent event;  // only the size of its payload is valid
    std::size_t begin = 0;
  };

  void clear() {
    // Release the memory that a flood allocated.
    if (bytes_.capacity() > kKeptBytes) *this = {};
    waiting_.clear();
    bytes_.clear();
    next_ = 0;
  }

  // Needed if the game never empties the queue. Moves at most as many bytes as were polled, so the cost is
  // amortised.
  void forget_polled() {
    const std::size_t polled = bytes_.size() - bytes();
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(polled));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(next_));
    for (Waiting& waiting : waiting_)
      waiting.begin -= polled;
    next_ = 0;
  }

  std::vector<Waiting> waiting_;
  std::vector<std::byte> bytes_;
  std::size_t next_ = 0;
};

}  // namespace reckoner
