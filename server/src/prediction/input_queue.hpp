// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/correction.hpp"
#include "net/src/messages/input.hpp"
#include "net/src/messages/input_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/server/prediction.hpp>

namespace reckoner {

/// The inputs of one client, by tick. An input can neither be changed when it has arrived, nor be used for
/// another tick, so a client that floods, delays or withholds inputs moves no more often than an honest one.
class InputQueue {
 public:
  /// An input may be for a tick this far after the server's next one.
  static constexpr Tick kMostAhead = 64;

  InputQueue() : ring_(kRing) {}

  /// Stores the inputs. `next` is the server's next tick, and `wait_ticks` the time until then, in ticks: a
  /// negative number if it is late. Returns the reason if they are refused.
  [[nodiscard]] std::optional<Refusal> add(const InputBatch& batch, Tick next, double wait_ticks,
                                           PredictionStats& stats);

  /// The input of a tick; null if the server does not have it, or not any more.
  [[nodiscard]] const Input* find(Tick tick) const {
    const Entry& entry = ring_[tick % kRing];
    return entry.is_known && entry.tick == tick ? &entry.input : nullptr;
  }

  /// What the player does in a tick.
  struct Taken {
    Input input;
    std::uint32_t repeated = 0;
    std::optional<std::uint16_t> seen_age_ms;  ///< InputBatch::seen_age_ms; empty: there is no input yet
    Tick made_for = 0;                         ///< the tick whose input this is
  };
  /// The input of `tick`, or the last one again, but at most `repeat_ticks` times. Another call for this tick
  /// returns the same. No call for an earlier tick may follow.
  [[nodiscard]] const Taken& take(Tick tick, std::uint32_t repeat_ticks, PredictionStats& stats);
  /// True if take() has repeated an input in a tick after `tick`.
  [[nodiscard]] bool has_repeated_since(Tick tick) const {
    return repeated_for_ && earlier(tick, *repeated_for_);
  }

  /// True if inputs have arrived since the last report.
  [[nodiscard]] bool has_news() const { return has_news_; }
  /// What the client must know. Requires that an input has arrived.
  [[nodiscard]] InputReport report();
  [[nodiscard]] bool any() const { return newest_.has_value(); }

 private:
  static constexpr std::size_t kRing = 256;  // more than kMostAhead and the longest round trip

  struct Entry {
    Tick tick = 0;
    bool is_known = false;
    std::uint16_t seen_age_ms = 0;
    Input input;
  };

  void note_timing(Tick tick, double early_ticks);

  std::vector<Entry> ring_;
  std::optional<Tick> newest_;  // newest tick whose input has arrived
  bool has_news_ = false;
  InputReport report_;
  std::optional<Tick> taken_for_;
  std::optional<Tick> repeated_for_;  // the newest tick in which take() has repeated an input
  Taken taken_;
};

}  // namespace reckoner
