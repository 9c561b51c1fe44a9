// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/ring_queue.hpp"

#include <cstdint>
#include <optional>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The oldest tick in a queue of ticks, in constant time. It keeps a tick only until an older or equal tick
/// is pushed after it, so the first one that it keeps is the oldest.
class OldestTick {
 public:
  void push(Tick tick) {
    while (!minima_.empty() && !earlier(minima_.back().tick, tick))
      minima_.pop_back();
    minima_.push_back({pushed_++, tick});
  }
  /// Removes the tick that was pushed first.
  void pop() {
    if (!minima_.empty() && minima_.front().index == popped_) minima_.pop_front();
    ++popped_;
  }
  [[nodiscard]] std::optional<Tick> get() const {
    return minima_.empty() ? std::nullopt : std::optional{minima_.front().tick};
  }

 private:
  struct Entry {
    std::uint32_t index = 0;  // number of ticks pushed before this one, modulo 2^32
    Tick tick = 0;
  };
  RingQueue<Entry> minima_;
  std::uint32_t pushed_ = 0;
  std::uint32_t popped_ = 0;
};

}  // namespace reckoner
