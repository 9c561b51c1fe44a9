// SPDX-License-Identifier: MIT
#include "net/src/link/clock_sync.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reckoner {
namespace {

constexpr double kLargestSlew = ClockSync::kSlew;
constexpr double kStepS = 0.25;
constexpr double kSlewAfterStep = 0.05;  // for the rest of a step of the local clock, until it is below:
constexpr double kSlewedS = 0.005;
// After a change that review() has found, the slewed clock steps from these errors on. A smaller error after
// a step is soon slewed. If the rate has changed, there may be more to come.
constexpr double kStepAfterStepS = 0.06;
constexpr double kStepAfterRateS = 0.03;
constexpr double kStepNoise = 2.0;  // plus this number of times the random delay, after a step

// A slow local clock may measure an answer that waited at the server for this long as one that came before
// its request, s.
constexpr double kLongestWaitS = 0.3;

// Changes of the clock below this cannot be told from the phase between ticks and frames, s.
constexpr double kToleranceS = 0.03;
constexpr double kToleranceGaps = 1.25;  // this number of times the smaller of tick and frame
// When a change is found, it may not be over, and a part of it that is below the tolerance is not found. So
// bounds from the first moments are replaced by later ones, as soon as there are enough.
constexpr double kUnsureS = 0.25;
constexpr double kSureS = 0.75;
constexpr double kRefineS = 0.5;  // shortest time between two corrections of the rate that are no new change
constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr double kShrinking = 0.05;     // of the usual round trip, s per s
constexpr double kSuddenS = 0.35;       // a server sends more often
constexpr double kSuddenGaps = 4.0;     // of the usual time between two calls
constexpr double kUsualAgeS = 0.3;      // of the newest time stamp that has arrived
constexpr double kOldestStampS = 0.4;   // the same while bursts are lost
constexpr double kSlowClockRate = 2.5;  // of a corrected clock, which is then very slow
constexpr double kLongestDoubtS = 2.0;
constexpr double kMakesUpS = 0.1;  // longer than most frames: a clock that stood makes up for it at once
constexpr double kReviewGain = 1.0 / 16.0;
constexpr double kLongestReviewGapS = 0.1;
constexpr double kUsualGapGain = 1.0 / 8.0;
constexpr double kLongestUsualGapS = 2.0;

// Slewing follows this change of the rate without a visible jump.
constexpr double kGentleRate = 0.03;
constexpr double kSameRate = 0.003;       // a rate this close to 1 is 1
constexpr double kSlowestAdvance = 0.14;  // of a local clock that does not stand still, s per s

// Two clocks drift apart by less than this within ten seconds. If the bounds contradict each other by more,
// somebody set one of the clocks, or a clock stopped.
constexpr double kContradictionS = 0.05;

constexpr double kClockSettleS = 0.5;  // time constant with which an error decays exponentially

}  // namespace

void ClockSync::add_exchange(double sent_local_s, double received_server_s, double answered_server_s,
                             double answer_local_s) {
  const auto sent_s = corrected(sent_local_s);
  if (!sent_s) return;
  // It bounds the offset before a step that may have been one of the clock.
  if (doubted_s_ > 0.0 && sent_local_s < doubted_local_s_)
    return add_arrival(answered_server_s, answer_local_s);
  const double round_trip_s = (answer_local_s - *sent_s) - (answered_server_s - received_server_s);
  if (!(round_trip_s >= -kLongestWaitS) || !std::isfinite(round_trip_s)) return;
  const double upper_s = received_server_s - *sent_s;
  changes_.add_upper({received_server_s, *sent_s, upper_s});
  if (round_trip_s < 0.0) return;
  if (const Bounds b = bounds(); b.lower_s && upper_s < *b.lower_s - kContradictionS) stretches_ = {};
  Stretch& stretch = stretch_at(answer_local_s);
  stretch.upper_s = stretch.has_upper ? std::min(stretch.upper_s, upper_s) : upper_s;
  stretch.has_upper = true;
  add_arrival(answered_server_s, answer_local_s);
}

void ClockSync::add_arrival(double sent_server_s, double received_local_s) {
  const double lower_s = sent_server_s - received_local_s;
  if (!std::isfinite(lower_s)) return;
  if (doubted_s_ > 0.0) confirm(sent_server_s, received_local_s);
  changes_.add_lower({sent_server_s, received_local_s, lower_s});
  if (const Bounds b = bounds(); b.upper_s && lower_s > *b.upper_s + kContradictionS) stretches_ = {};
  Stretch& stretch = stretch_at(received_local_s);
  stretch.lower_s = stretch.has_lower ? std::max(stretch.lower_s, lower_s) : lower_s;
  stretch.has_lower = true;
}

bool ClockSync::advance(double local_s) {
  if (const double elapsed_s = local_s - advanced_local_s_; started_ && elapsed_s > sudden_s()) {
    doubt(elapsed_s);
    advanced_local_s_ = local_s;
  }
  const Bounds b = bounds();
  if (!b.upper_s || !b.lower_s) {
    // What has passed is not in doubt a second time.
    if (started_) advanced_local_s_ = std::max(advanced_local_s_, local_s);
    return false;
  }
  const double target_s = 0.5 * (*b.upper_s + *b.lower_s);
  if (!started_) {
    started_ = true;
    offset_s_ = target_s;
    advanced_local_s_ = local_s;
    return false;
  }
  const double error_s = target_s - offset_s_;
  const double elapsed_s = local_s - advanced_local_s_;
  // A clock that stands still must be followed, too.
  if (const auto from_s = std::exchange(step_from_s_, std::nullopt); from_s && std::abs(error_s) > *from_s) {
    // While the local clock stands, its errors add up to what it may make up for later.
    stood_s_ = elapsed_s > 0.0 ? 0.0 : stood_s_ + error_s;
    advanced_local_s_ = std::max(advanced_local_s_, local_s);
    offset_s_ = target_s;
    return true;
  }
  if (!(elapsed_s > 0.0)) return false;
  advanced_local_s_ = local_s;
  if (doubted_s_ > 0.0) {
    if (local_s < doubted_local_s_ + kLongestDoubtS) return false;
    doubted_s_ = 0.0;
  }
  if (const double stood_s = std::exchange(stood_s_, 0.0); stood_s > 0.0 && elapsed_s > kMakesUpS) {
    make_up(std::min(stood_s, elapsed_s));
    return false;
  }

  if (std::abs(error_s) > kStepS) {
    offset_s_ = target_s;
    return true;
  }
  const double wanted_s = error_s * std::min(1.0, elapsed_s / kClockSettleS);
  if (std::abs(error_s) < kSlewedS) slew_ = kLargestSlew;
  const double allowed_s = slew_ * elapsed_s;
  offset_s_ += std::clamp(wanted_s, -allowed_s, allowed_s);
  keep_near_newest(local_s);
  return false;
}

// A slow clock that is corrected may run at the server's rate again. An answer of the server shows this only
// after a round trip, and server time would run ahead for so long. But it is never much later than the newest
// time stamp that has arrived.
void ClockSync::keep_near_newest(double local_s) {
  if (rate_ < kSlowClockRate) return;
  const auto newest_s = changes_.newest_lower_s();
  if (!newest_s) return;
  const double latest_s = *newest_s + 0.5 * usual_round_trip_s_ + kOldestStampS;
  offset_s_ -= std::max(0.0, server_time_s(local_s) - latest_s);
}

// Much local time has passed at once. Either the program did not run, or its clock was set. Time stamps that
// arrive tell at once if time has really passed; but only an answer of the server tells that it has not. So
// server time waits for a time stamp.
void ClockSync::doubt(double elapsed_s) {
  const double made_up_s = std::min(std::exchange(stood_s_, 0.0), elapsed_s);
  if (made_up_s > 0.0) return make_up(made_up_s);
  offset_s_ -= elapsed_s;
  doubted_s_ += elapsed_s;
  doubted_local_s_ = advanced_local_s_ + elapsed_s;
}

// A time stamp has arrived while local time is in doubt: server time is at least that late.
void ClockSync::confirm(double sent_server_s, double received_local_s) {
  const double passed_s = sent_server_s + 0.5 * usual_round_trip_s_ - server_time_s(received_local_s);
  const double confirmed_s = std::clamp(passed_s, 0.0, doubted_s_);
  offset_s_ += confirmed_s;
  doubted_s_ -= confirmed_s;
  if (doubted_s_ > kUsualAgeS) return;
  offset_s_ += std::exchange(doubted_s_, 0.0);
}

void ClockSync::note_waited(double sent_server_s) {
  if (doubted_s_ > 0.0 && sent_server_s > server_time_s(doubted_local_s_) + usual_gap_s_ + kToleranceS)
    offset_s_ += std::exchange(doubted_s_, 0.0);
}

// The local clock stood still, and now it jumped to where it would be by now. Otherwise, the client would
// show the future until an answer from the server tells.
void ClockSync::make_up(double by_s) {
  offset_s_ -= by_s;
  changes_.forget_before(kForever);
  stretches_ = {};
  Stretch& stretch = stretch_at(advanced_local_s_);
  stretch.has_lower = stretch.has_upper = true;
  stretch.lower_s = offset_s_ - 0.5 * usual_round_trip_s_;
  stretch.upper_s = offset_s_ + 0.5 * usual_round_trip_s_;
  changes_.assume_lower(stretch.lower_s);
  changes_.assume_upper(stretch.upper_s);
}

ClockSync::Review ClockSync::review(double local_s, double tick_s, double rate) {
  const double gap_s = std::isfinite(reviewed_local_s_) ? local_s - reviewed_local_s_ : 0.0;
  reviewed_local_s_ = local_s;
  rate_ = rate;
  review_gap_s_ += kReviewGain * (std::clamp(gap_s, 0.0, kLongestReviewGapS) - review_gap_s_);
  usual_gap_s_ += kUsualGapGain * (std::clamp(gap_s, 0.0, kLongestUsualGapS) - usual_gap_s_);
  // A change of the clock makes the round trip look shorter, until it is found.
  const double shrinks_s = kShrinking * std::clamp(gap_s, 0.0, kLongestReviewGapS);
  usual_round_trip_s_ = std::max(round_trip_s().value_or(0.0), usual_round_trip_s_ - shrinks_s);
  if (!changes_.due()) return {};
  changes_.set_round_trip(usual_round_trip_s_);
  const double tolerance_s = std::max(kToleranceS, kToleranceGaps * std::min(tick_s, review_gap_s_));
  const auto found = changes_.find(tolerance_s, review_gap_s_);
  auto change = found;
  if (!change && rate != 1.0 && local_s - rate_since_s_ > kRefineS) {
    if (const double drift = changes_.drift(); drift != 0.0) change = {.since_s = -kForever, .drift = drift};
  }
  if (!change) {
    refine();
    return {};
  }
  const double set_by_s = std::exchange(doubted_s_, 0.0);
  if (set_by_s > 0.0) change = set_at_doubt(*change);
  const double factor =
      change->drift == 0.0 ? provisional_factor(change->rough_drift, rate) : factor_for(change->drift, rate);
  const bool cannot_follow = change->drift != 0.0 && factor * rate == 1.0;
  const double since_s =
      cannot_follow ? changes_.newest_lower_s().value_or(change->since_s) : change->since_s;
  if (!change->is_provisional) changes_.forget_before(since_s);
  if (factor != 1.0) {
    changes_.rescale(factor, local_s);
    earlier_rate_since_s_ = std::exchange(rate_since_s_, local_s);
    factor_ = factor;
    rate_ = rate * factor;
    // It was measured before or after the rate changed.
    usual_round_trip_s_ = std::min(usual_round_trip_s_, usual_round_trip_s_ * factor);
  }
  rebuild(since_s);
  sure_from_s_ = changes_.newest_lower_s();
  if (sure_from_s_) *sure_from_s_ += kUnsureS;
  if (change->drift == 0.0) {
    step_from_s_ = kStepAfterStepS + kStepNoise * change->noise_s;
    slew_ = kSlewAfterStep;
  } else if (cannot_follow || std::abs(factor - 1.0) > kGentleRate) {
    step_from_s_ = kStepAfterRateS;
  }
  return {factor, found.has_value(), set_by_s};
}

// Forgets the bounds from the first moments after a change, when there are enough later ones.
void ClockSync::refine() {
  if (!sure_from_s_) return;
  const double since_s = *sure_from_s_;
  if (changes_.newest_lower_s().value_or(since_s) < since_s + kSureS) return;
  sure_from_s_.reset();
  changes_.forget_before(since_s);
  rebuild(since_s);
}

// Local time was in doubt, and there is a change: the clock was set then. Only bounds from before that are
// wrong.
ClockChangeDetector::Change ClockSync::set_at_doubt(const ClockChangeDetector::Change& change) const {
  const double in_flight_s = 0.5 * usual_round_trip_s_ - kToleranceS;
  return {.since_s = server_time_s(doubted_local_s_) - in_flight_s, .noise_s = change.noise_s};
}

// Returns the factor of the local clock's rate that ends the growth of the offset, or 1 if there is none.
double ClockSync::factor_for(double drift, double rate) {
  const double advance = 1.0 - drift;  // of the local clock, s per s of server time
  if (drift == 0.0) return 1.0;
  const double corrected_rate = rate / std::max(advance, 1e-9);
  // A correction that is far from enough would only do harm when the clock runs as before.
  if (advance < kSlowestAdvance || corrected_rate > kMostRate || corrected_rate < 1.0 / kMostRate)
    return 1.0 / rate;
  return std::abs(corrected_rate - 1.0) < kSameRate ? 1.0 / rate : 1.0 / advance;
}

// The clock may have got another rate, which is not known yet. Meanwhile the old correction would repeat the
// error. Most clocks run as before in the end, so the correction ends if the growth so far is nearer to that.
double ClockSync::provisional_factor(double rough_drift, double rate) {
  const double advance = std::max(kSlowestAdvance, 1.0 - rough_drift);
  const double to_exact = std::abs(std::log(rate / advance));
  return to_exact < std::abs(std::log(advance)) ? 1.0 / rate : 1.0;
}

// The client sent its time stamp before it corrected its clock's rate. Returns the corrected stamp. Nullopt
// if the stamp is too old for that.
std::optional<double> ClockSync::corrected(double sent_local_s) const {
  if (sent_local_s >= rate_since_s_) return sent_local_s;
  if (sent_local_s < earlier_rate_since_s_) return std::nullopt;
  return rate_since_s_ - (rate_since_s_ - sent_local_s) * factor_;
}

// Takes the bounds since the last change of the clock. Until a direction has one, the round trip before the
// change gives it.
void ClockSync::rebuild(double since_s) {
  ClockChangeDetector::Bounds lower, upper;
  changes_.collect(lower, upper, since_s);
  if (lower.count == 0 && upper.count == 0) return;
  stretches_ = {};
  Stretch& stretch = stretch_at(reviewed_local_s_);
  stretch.has_lower = stretch.has_upper = true;
  const auto smaller = [](const auto& a, const auto& b) { return a.offset_s < b.offset_s; };
  if (lower.count > 0) stretch.lower_s = std::ranges::max_element(lower.all(), smaller)->offset_s;
  if (upper.count > 0) stretch.upper_s = std::ranges::min_element(upper.all(), smaller)->offset_s;
  if (upper.count == 0) {
    stretch.upper_s = stretch.lower_s + usual_round_trip_s_;
    changes_.assume_upper(stretch.upper_s);
  } else if (lower.count == 0) {
    stretch.lower_s = stretch.upper_s - usual_round_trip_s_;
    changes_.assume_lower(stretch.lower_s);
  } else if (stretch.upper_s > stretch.lower_s) {
    usual_round_trip_s_ = stretch.upper_s - stretch.lower_s;
  }
}

// More local time than this does not pass between two calls, unless something is wrong.
double ClockSync::sudden_s() const {
  return std::max(kSuddenS, kSuddenGaps * usual_gap_s_);
}

double ClockSync::server_time_s(double local_s) const {
  return local_s + offset_s_;
}

std::optional<double> ClockSync::round_trip_s() const {
  const Bounds b = bounds();
  if (!b.upper_s || !b.lower_s) return std::nullopt;
  return std::max(0.0, *b.upper_s - *b.lower_s);
}

ClockSync::Stretch& ClockSync::stretch_at(double local_s) {
  // Returns only the newest stretch, so that a clock that goes back does not change old bounds.
  newest_stretch_ = std::max(newest_stretch_, static_cast<std::int64_t>(std::floor(local_s / kStretchS)));
  constexpr auto kCount = static_cast<std::int64_t>(kStretches);
  Stretch& stretch = stretches_[static_cast<std::size_t>((newest_stretch_ % kCount + kCount) % kCount)];
  if (stretch.number != newest_stretch_) {
    stretch = {};
    stretch.number = newest_stretch_;
  }
  return stretch;
}

ClockSync::Bounds ClockSync::bounds() const {
  Bounds b;
  if (newest_stretch_ == kNoStretch) return b;
  const auto oldest = newest_stretch_ - static_cast<std::int64_t>(kStretches);
  for (const Stretch& s : stretches_) {
    if (s.number <= oldest) continue;
    if (s.has_upper) b.upper_s = b.upper_s ? std::min(*b.upper_s, s.upper_s) : s.upper_s;
    if (s.has_lower) b.lower_s = b.lower_s ? std::max(*b.lower_s, s.lower_s) : s.lower_s;
  }
  return b;
}

}  // namespace reckoner
