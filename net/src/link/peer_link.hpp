// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/ack_window.hpp"
#include "net/src/link/link_estimate.hpp"
#include "net/src/messages/datagram.hpp"

#include <array>
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
  /// The datagram takes this number of bytes on the wire.
  void set_bytes(Sequence sequence, std::size_t wire_bytes) {
    bytes_[sequence % SentWindow::kCapacity] = static_cast<std::uint32_t>(wire_bytes);
  }
  /// Valid until SentWindow::kCapacity further datagrams have begun.
  [[nodiscard]] std::size_t bytes(Sequence sequence) const {
    return bytes_[sequence % SentWindow::kCapacity];
  }
  /// Counts datagrams as lost that should have been acknowledged by now.
  void expire(double now_s) { sent_.expire(now_s, estimate_.timeout_s(answer_delay_s_)); }

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

  /// The acknowledgement of all that has arrived. Nullopt before the first datagram.
  [[nodiscard]] std::optional<Ack> ack() const {
    return received_.any() ? std::optional(received_.ack()) : std::nullopt;
  }
  /// The other end waits for the acknowledgement of this datagram.
  void want_ack(Sequence sequence) { wants_ack_ = sequence; }
  /// ack() as long as the other end may still wait for it: until many newer datagrams have arrived.
  [[nodiscard]] std::optional<Ack> wanted_ack() const;

  // The path.

  [[nodiscard]] const LinkEstimate& round_trip() const { return estimate_; }
  /// The last round trip that was reported, s; 0 before the first. It is impossible, and not a part of
  /// round_trip(), if the clock of the other end is wrong.
  [[nodiscard]] double newest_round_trip_s() const { return newest_round_trip_s_; }
  /// The recent share of datagrams that were lost.
  [[nodiscard]] double loss() const { return loss_; }
  /// The datagrams take another path from now on.
  void forget_path() { estimate_ = {}; }

 private:
  double answer_delay_s_;
  double loss_ = 0.0;
  double newest_round_trip_s_ = 0.0;
  LinkEstimate estimate_;
  ReceivedWindow received_;
  std::optional<Sequence> wants_ack_;  // newest datagram whose acknowledgement the other end waits for
  SentWindow sent_;
  std::array<std::uint32_t, SentWindow::kCapacity> bytes_{};  // by sequence modulo capacity
};

}  // namespace reckoner
