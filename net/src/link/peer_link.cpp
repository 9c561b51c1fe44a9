// SPDX-License-Identifier: MIT
#include "net/src/link/peer_link.hpp"

#include <algorithm>
#include <limits>

namespace reckoner {
namespace {

// Number of datagrams over which the share of lost datagrams is averaged.
constexpr double kLossAverage = 200.0;

// An acknowledgement that the other end waits for is repeated until this number of newer datagrams has
// arrived, and at least this number of times.
constexpr int kAckedDatagrams = 32;
constexpr int kLeastAcks = 3;

// A datagram hardly overtakes another one that was sent this number of mean deviations of the round trip
// earlier.
constexpr double kOvertakingDeviations = 4.0;

}  // namespace

void PeerLink::clear_outcomes() {
  for (const Outcome& outcome : sent_.outcomes())
    loss_ += ((outcome.acked ? 0.0 : 1.0) - loss_) / kLossAverage;
  sent_.clear_outcomes();
}

PeerLink::Receipt PeerLink::receive(Sequence sequence, const std::optional<Ack>& ack, double ack_delay_s,
                                    double arrived_s) {
  if (ack && !sent_.acknowledge(*ack, arrived_s, overtaking_s())) return Receipt::refused;
  const bool newest = !received_.any() || sequence_distance(sequence, received_.newest()) > 0;
  if (!received_.note(sequence)) return Receipt::repeated;
  if (!is_ack_wanted()) wants_ack_.reset();  // before the numbers wrap
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

// How much later a datagram may leave and still arrive before another one, s. Unknown before the first round
// trip, so that only the time-out counts.
double PeerLink::timeout_s() const {
  return is_ordered_ ? std::numeric_limits<double>::infinity() : estimate_.timeout_s(answer_delay_s_);
}

double PeerLink::overtaking_s() const {
  if (is_ordered_) return 0.0;
  return estimate_.known() ? kOvertakingDeviations * estimate_.deviation_s()
                           : std::numeric_limits<double>::infinity();
}

void PeerLink::want_ack(Sequence sequence) {
  if (!is_ack_wanted()) received_.forget_wanted();
  received_.want(sequence);
  wants_ack_ = sequence;
  acks_left_ = kLeastAcks;
}

bool PeerLink::is_ack_wanted() const {
  return wants_ack_ &&
         (acks_left_ > 0 || sequence_distance(received_.newest(), *wants_ack_) <= kAckedDatagrams);
}

std::optional<Ack> PeerLink::acknowledge() {
  if (!received_.any()) return std::nullopt;
  acks_left_ = std::max(0, acks_left_ - 1);
  return received_.acknowledge();
}

}  // namespace reckoner
