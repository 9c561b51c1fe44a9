// SPDX-License-Identifier: MIT
#include "net/src/link/peer_link.hpp"

namespace reckoner {
namespace {

// Number of datagrams over which the share of lost datagrams is averaged.
constexpr double kLossAverage = 200.0;

// An acknowledgement that the other end waits for is repeated until this number of newer datagrams has
// arrived.
constexpr int kAckedDatagrams = 32;

}  // namespace

void PeerLink::clear_outcomes() {
  for (const Outcome& outcome : sent_.outcomes())
    loss_ += ((outcome.acked ? 0.0 : 1.0) - loss_) / kLossAverage;
  sent_.clear_outcomes();
}

PeerLink::Receipt PeerLink::receive(Sequence sequence, const std::optional<Ack>& ack, double ack_delay_s,
                                    double arrived_s) {
  if (ack && !sent_.acknowledge(*ack)) return Receipt::refused;
  const bool newest = !received_.any() || sequence_distance(sequence, received_.ack().newest) > 0;
  if (!received_.note(sequence)) return Receipt::repeated;
  // The delay is known for the newest acknowledged datagram only. A late one counts, too: only late ones show
  // that the round trip has become longer than the time-out.
  const auto measure = [&](std::span<const Outcome> outcomes) {
    for (const Outcome& outcome : outcomes) {
      if (!outcome.acked || outcome.sequence != ack->newest) continue;
      newest_round_trip_s_ = arrived_s - outcome.sent_s - ack_delay_s;
      estimate_.add(newest_round_trip_s_);
    }
  };
  if (ack) {
    measure(sent_.outcomes());
    measure(sent_.late());
  }
  return newest ? Receipt::newest : Receipt::older;
}

std::optional<Ack> PeerLink::wanted_ack() const {
  if (!wants_ack_ || sequence_distance(received_.ack().newest, *wants_ack_) > kAckedDatagrams)
    return std::nullopt;
  return received_.ack();
}

}  // namespace reckoner
