// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/sequence.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Acknowledgement of the newest datagram applied and, a bit each, of the 32 before it (bit 0: the one
/// before).
struct Ack {
  Sequence newest = 0;       ///< number of the newest datagram applied
  std::uint32_t window = 0;  ///< a bit for each of the 32 before: applied
};

/// The receiving half: remembers which datagrams of the other end were applied.
class RECKONER_NET_API ReceivedWindow {
 public:
  /// Notes that a datagram arrived. False if it did before, or is too old to tell: it must not be applied.
  bool note(Sequence sequence);

  /// Whether anything has arrived, so that ack() means something.
  [[nodiscard]] bool any() const { return any_; }
  /// What is to be told the other end.
  [[nodiscard]] Ack ack() const { return {newest_, window_}; }

 private:
  bool any_ = false;
  Sequence newest_ = 0;
  std::uint32_t window_ = 0;
};

/// The sending half: numbers datagrams and finds out what became of each. A datagram that leaves the window
/// unacknowledged, or waits longer than a time-out, counts as lost; an acknowledgement after that is ignored.
class RECKONER_NET_API SentWindow {
 public:
  /// Datagrams in flight at most; the oldest counts as lost when one more is sent.
  static constexpr std::size_t kCapacity = 256;

  /// What became of a datagram, and when it was sent, s.
  struct Outcome {
    Sequence sequence = 0;  ///< its number
    bool acked = false;     ///< false: lost
    double sent_s = 0.0;    ///< s, on the sender's clock
  };

  /// The number for a datagram that is sent at `now_s`.
  Sequence send(double now_s);

  /// Takes in an acknowledgement. False if it names a datagram that was never sent: the other end is broken
  /// or lying, and nothing changes.
  bool acknowledge(const Ack& ack);

  /// Gives up datagrams sent before `now_s` - `timeout_s`.
  void expire(double now_s, double timeout_s);

  /// What became known since clear_outcomes(), each datagram once. Valid until the next call.
  [[nodiscard]] std::span<const Outcome> outcomes() const { return outcomes_; }
  /// Of those that had been given up, the ones that were acknowledged after all since clear_outcomes(), each
  /// once: nothing changes about them, but they tell how slow the way is.
  [[nodiscard]] std::span<const Outcome> late() const { return late_; }
  /// Forgets them, in both lists.
  void clear_outcomes() {
    outcomes_.clear();
    late_.clear();
  }

  /// How many were sent of which nothing is known yet.
  [[nodiscard]] std::size_t in_flight() const;

 private:
  struct Sent {
    double sent_s = 0.0;
    Sequence sequence = 0;
    bool open = false;
    bool given_up = false;
  };

  void settle(Sequence sequence, bool acked);
  void note_late(const Ack& ack);

  Sequence oldest_ = 0;  // no datagram before it is open
  Sequence next_ = 0;
  std::size_t given_up_ = 0;  // of sent_
  std::vector<Outcome> outcomes_;
  std::vector<Outcome> late_;
  std::array<Sent, kCapacity> sent_{};  // by sequence modulo capacity
};

}  // namespace reckoner
