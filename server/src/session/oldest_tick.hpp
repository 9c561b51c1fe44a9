// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/util/tick_order.hpp"

#include <cstdint>
#include <deque>
#include <optional>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The oldest of the ticks of a queue, without going through it: what is behind an older one never counts.
class OldestTick {
 public:
  /// One more at the end of the queue.
  void push(Tick tick) {
    while (!oldest_.empty() && !earlier(oldest_.back().tick, tick))
      oldest_.pop_back();
    oldest_.push_back({pushed_++, tick});
  }
  /// The first of the queue is gone.
  void pop() {
    if (!oldest_.empty() && oldest_.front().number == popped_) oldest_.pop_front();
    ++popped_;
  }
  /// Nothing if the queue is empty.
  [[nodiscard]] std::optional<Tick> get() const {
    return oldest_.empty() ? std::nullopt : std::optional{oldest_.front().tick};
  }

 private:
  struct Entry {
    std::uint64_t number;  // in the order in which they came
    Tick tick;
  };
  std::deque<Entry> oldest_;  // of those left, each that none behind it is as old as
  std::uint64_t pushed_ = 0;
  std::uint64_t popped_ = 0;
};

}  // namespace reckoner
