// SPDX-License-Identifier: MIT
#include "client/src/playout/session_clock.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace reckoner {
namespace {

// A datagram this much older than the newest is refused. The server does not reuse a slot before that.
constexpr double kOldestDatagramS = 2.0;

// A tick further ahead of the newest one is malformed: no transport keeps a silent connection open for this
// long. The client's own clock is no measure, because it may have stopped (a sleeping laptop), and such
// datagrams correct it.
constexpr double kNewestDatagramS = 60.0;

// Returns the local time of an echoed stamp, which is the latest time before `local_s` with this stamp.
double time_of_stamp(std::uint32_t stamp, double local_s) {
  const std::uint32_t age = (SessionClock::stamp_at(local_s) - stamp) & ((1u << kStampBits) - 1u);
  return (std::floor(local_s / kStampUnitS) - age) * kStampUnitS;
}

}  // namespace

void SessionClock::begin(const WelcomeMessage& message, double local_s) {
  ticks_ = {message.epoch_s, message.tick_rate_hz};
  newest_tick_ = message.tick;
  settles_from_s_ = local_s;
}

void SessionClock::resume(Tick tick, double local_s) {
  note_tick(tick);
  settles_from_s_ = local_s;
}

bool SessionClock::is_valid_tick(Tick tick) {
  constexpr Tick kLast = std::numeric_limits<Tick>::max() - (Tick{1} << 20);
  return tick <= kLast;
}

// Compares ticks as plain numbers. No server runs until ticks wrap. A tick that is "just before" across the
// wrap lies before the server's first tick, and is two years ahead as a plain number.
bool SessionClock::is_far_ahead(Tick tick) const {
  const bool later = tick > newest_tick_;
  return !is_valid_tick(tick) || (later && (tick - newest_tick_) / ticks_.tick_rate_hz > kNewestDatagramS);
}

bool SessionClock::is_too_old(Tick tick) const {
  return static_cast<std::int32_t>(tick - newest_tick_) / ticks_.tick_rate_hz < -kOldestDatagramS;
}

std::uint32_t SessionClock::stamp_at(double local_s) {
  const double units = std::fmod(std::floor(local_s / kStampUnitS), double{1u << kStampBits});
  return static_cast<std::uint32_t>(units < 0.0 ? units + double{1u << kStampBits} : units);
}

void SessionClock::note_datagram(Tick tick, const std::optional<Echo>& echo, double local_s,
                                 double arrived_s) {
  if (backlog_) return sync_.note_waited(time_of(tick));
  sync_.add_arrival(time_of(tick), arrived_s);
  if (!echo) return;
  const double sent_s = time_of_stamp(echo->stamp, local_s);
  sync_.add_exchange(sent_s, time_of(tick) - echo->waited * kStampUnitS, time_of(tick), arrived_s);
  ++exchanges_;
}

double SessionClock::waited_s(Tick tick, double local_s) const {
  if (!backlog_) return 0.0;
  const double one_way_s = 0.5 * sync_.round_trip_s().value_or(0.0);
  return std::max(0.0, server_time_s(local_s) - time_of(tick) - one_way_s);
}

ClockSync::Review SessionClock::review(double local_s, double rate) {
  const ClockSync::Review review = sync_.review(local_s, 1.0 / ticks_.tick_rate_hz, rate);
  if (review.changed) settles_from_s_ = local_s;
  return review;
}

}  // namespace reckoner
