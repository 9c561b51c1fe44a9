// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/ack_window.hpp"
#include "net/src/link/link_estimate.hpp"
#include "net/src/messages/datagram.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// One end of the link between a server and a client. It numbers this end's datagrams, finds out whether each
/// of them arrived or was lost, and measures the round trip and the loss. It remembers which datagrams of the
/// other end arrived, and so has the acknowledgement for the next datagram.
///
/// What a datagram contains is not known here. The owner of the contents asks for the outcomes. Times are in
/// seconds on one monotonic clock of this end.
class RECKONER_NET_API PeerLink {
 public:
  using Outcome = SentWindow::Outcome;

  /// The other end acknowledges a datagram at most `answer_delay_s` after its arrival, s.
  explicit PeerLink(double answer_delay_s) : answer_delay_s_(answer_delay_s) {}

  // This end's datagrams.

  /// Returns the number for a datagram that is sent at `now_s`. If SentWindow::kCapacity datagrams are in
  /// flight, the oldest counts as lost.
  Sequence begin(double now_s) { return sent_.send(now_s); }
  /// True if so many datagrams are in flight that the next one would make the oldest count as lost.
  [[nodiscard]] bool full() const { return sent_.full(); }
  /// The datagram takes this number of bytes on the wire.
  void set_bytes(Sequence sequence, std::size_t wire_bytes) { sent_.set_bytes(sequence, wire_bytes); }
  /// Valid for a datagram in flight, and until the next one begins for those of outcomes() and late().
  [[nodiscard]] std::size_t bytes(Sequence sequence) const { return sent_.bytes(sequence); }
  /// Number of datagrams that the link has memory for.
  [[nodiscard]] std::size_t memory() const { return sent_.memory(); }
  /// Counts datagrams as lost that should have been acknowledged by now. On a path that keeps their order,
  /// only those are lost that later ones have overtaken.
  void expire(double now_s) { sent_.expire(now_s, timeout_s(), overtaking_s()); }

  /// The datagrams that arrived or were lost since clear_outcomes(), each once.
  [[nodiscard]] std::span<const Outcome> outcomes() const { return sent_.outcomes(); }
  /// The datagrams that had counted as lost, and of which it has become known since clear_outcomes() that
  /// they arrived.
  [[nodiscard]] std::span<const Outcome> late() const { return sent_.late(); }
  /// Clears both lists, after their owners have read them. Only then do the outcomes count in loss().
  void clear_outcomes();

  // The other end's datagrams.

  enum class Receipt : std::uint8_t {
    newest,    ///< accepted, and newer than all others
    older,     ///< accepted; a newer one arrived before
    repeated,  ///< arrived before, or so old that this is unknown
    refused,   ///< acknowledges a datagram that was never sent
  };
  /// A datagram has arrived at `arrived_s`. The other end reports that it waited `ack_delay_s` before it
  /// acknowledged. The caller must use the datagram's contents only if it is accepted.
  [[nodiscard]] Receipt receive(Sequence sequence, const std::optional<Ack>& ack, double ack_delay_s,
                                double arrived_s);

  /// The newest datagram that arrived; nullopt before the first.
  [[nodiscard]] std::optional<Sequence> newest_received() const {
    return received_.any() ? std::optional(received_.newest()) : std::nullopt;
  }
  /// True if this datagram arrived, and is one of the last SentWindow::kCapacity.
  [[nodiscard]] bool has_received(Sequence sequence) const { return received_.has(sequence); }
  /// The other end waits for the acknowledgement of this datagram, which has been accepted. The next three
  /// different acknowledgements cover it.
  void want_ack(Sequence sequence);
  /// Returns the acknowledgement to send now. Nullopt before the first datagram.
  [[nodiscard]] std::optional<Ack> acknowledge();
  /// acknowledge() as long as the other end may still wait for an acknowledgement: until several were sent
  /// and many newer datagrams have arrived. Nullopt otherwise.
  [[nodiscard]] std::optional<Ack> acknowledge_if_wanted() {
    return is_ack_wanted() ? acknowledge() : std::nullopt;
  }

  // The path.

  [[nodiscard]] const LinkEstimate& round_trip() const { return estimate_; }
  /// The last round trip that was reported, s; 0 before the first. It is impossible, and not a part of
  /// round_trip(), if the clock of the other end is wrong.
  [[nodiscard]] double newest_round_trip_s() const { return newest_round_trip_s_; }
  /// The recent share of datagrams that were lost.
  [[nodiscard]] double loss() const { return loss_; }
  /// A burst of losses hits datagrams in a row. A second copy that is sent this much later lies beyond most
  /// bursts, s.
  static constexpr double kCopyGapS = 0.067;
  /// If a larger share of the datagrams is lost, a second copy of something small pays.
  static constexpr double kLossy = 0.002;
  /// True if loss() is above kLossy.
  [[nodiscard]] bool loses() const { return loss_ > kLossy; }
  /// The datagrams take another path from now on.
  void forget_path() { estimate_ = {}; }
  /// Whether the path keeps the order of datagrams (Transport::is_ordered()).
  void set_ordered(bool ordered) { is_ordered_ = ordered; }

 private:
  [[nodiscard]] double timeout_s() const;
  [[nodiscard]] double overtaking_s() const;
  [[nodiscard]] bool is_ack_wanted() const;

  double answer_delay_s_;
  bool is_ordered_ = false;
  double loss_ = 0.0;
  double newest_round_trip_s_ = 0.0;
  LinkEstimate estimate_;
  ReceivedWindow received_;
  std::optional<Sequence> wants_ack_;  // newest datagram whose acknowledgement the other end waits for
  int acks_left_ = 0;                  // number of acknowledgements of it that must still be sent
  SentWindow sent_;
};

}  // namespace reckoner
