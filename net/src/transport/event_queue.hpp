// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/transport.hpp>

namespace reckoner {

/// What happened on a transport and was not polled yet, oldest first. Payloads are copied, one behind the
/// other, into memory that is used again: a server takes in tens of thousands of them a second. That memory
/// stays in proportion to what waits, also if the last event is never polled.
class EventQueue {
 public:
  void push(const TransportEvent& event) {
    if (empty()) clear();
    const std::size_t polled = bytes_.size() - bytes();
    if ((next_ >= kFewEvents && next_ > size()) || polled > kKeptBytes + bytes()) forget_polled();
    waiting_.push_back({event, bytes_.size()});
    bytes_.insert(bytes_.end(), event.payload.begin(), event.payload.end());
  }

  /// The payload is valid until the next call.
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
  /// Of the payloads that wait.
  [[nodiscard]] std::size_t bytes() const { return empty() ? 0 : bytes_.size() - waiting_[next_].begin; }
  /// Of memory, for payloads.
  [[nodiscard]] std::size_t capacity() const { return bytes_.capacity(); }

 private:
  static constexpr std::size_t kKeptBytes = 1024 * 1024;
  static constexpr std::size_t kFewEvents = 64;

  struct Waiting {
    TransportEvent event;  // its payload tells the size only
    std::size_t begin = 0;
  };

  void clear() {
    // What a flood has taken is given back.
    if (bytes_.capacity() > kKeptBytes) *this = {};
    waiting_.clear();
    bytes_.clear();
    next_ = 0;
  }

  // For a game that never polls the last: no more is moved than was polled.
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
