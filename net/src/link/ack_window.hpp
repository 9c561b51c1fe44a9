// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// The receiver's half of acknowledgements. It stores which datagrams from the other end were applied.
class RECKONER_NET_API ReceivedWindow {
 public:
  /// Records that a datagram arrived. Returns false if the datagram is a duplicate, or so old that this is
  /// unknown. The caller must then not apply it.
  bool note(Sequence sequence);

  /// Whether any datagram has arrived. Before that, ack() is meaningless.
  [[nodiscard]] bool any() const { return any_; }
  /// The acknowledgement to send.
  [[nodiscard]] Ack ack() const { return {newest_, window_}; }

 private:
  bool any_ = false;
  Sequence newest_ = 0;
  std::uint32_t window_ = 0;
};

/// The sender's half of acknowledgements. It numbers datagrams and finds out whether each one was
/// acknowledged or lost. A datagram counts as lost if it leaves the window without an acknowledgement, or if
/// it waits longer than a time-out. A later acknowledgement does not change that.
class RECKONER_NET_API SentWindow {
 public:
  /// Maximum number of datagrams in flight. If one more is sent, the oldest counts as lost.
  static constexpr std::size_t kCapacity = 256;

  /// Whether a datagram was acknowledged or lost.
  struct Outcome {
    Sequence sequence = 0;  ///< number of the datagram
    bool acked = false;     ///< false: lost
    double sent_s = 0.0;    ///< when it was sent, s of the sender's clock
  };

  /// Returns the number for a datagram that is sent at `now_s`.
  Sequence send(double now_s);

  /// Processes an acknowledgement. Returns false and changes nothing if it names a datagram that was never
  /// sent.
  bool acknowledge(const Ack& ack);

  /// Counts datagrams that were sent before `now_s` - `timeout_s` as lost.
  void expire(double now_s, double timeout_s);

  /// The outcomes since clear_outcomes(), one per datagram. Valid until the next call.
  [[nodiscard]] std::span<const Outcome> outcomes() const { return outcomes_; }
  /// The datagrams that timed out and have been acknowledged since clear_outcomes(), each once. They still
  /// count as lost, but they show the round-trip time.
  [[nodiscard]] std::span<const Outcome> late() const { return late_; }
  /// Clears both lists.
  void clear_outcomes() {
    outcomes_.clear();
    late_.clear();
  }

  /// Number of datagrams without an outcome.
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
  std::size_t given_up_ = 0;  // number of datagrams in sent_ that timed out
  std::vector<Outcome> outcomes_;
  std::vector<Outcome> late_;
  std::array<Sent, kCapacity> sent_{};  // by sequence modulo capacity
};

}  // namespace reckoner
