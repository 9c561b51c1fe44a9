// SPDX-License-Identifier: MIT
#include "reckoning/src/prediction/motion_fit.hpp"

#include "reckoning/src/blend/interpolate.hpp"
#include "reckoning/src/motion/portable_math.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <glm/geometric.hpp>
#include <glm/mat3x3.hpp>
#include <glm/matrix.hpp>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

// Time constants of the low-pass filters. Each filter gets the output of the filter before it. The short time
// constants are close together, because they show recent changes; the long ones are farther apart. The
// longest is about the duration of a stride. On the recorded traces, the current rate and these four filters
// predict as well as unfiltered rates at eight lags.
constexpr std::array<double, 4> kTimeConstantsS{1.0 / 60, 3.0 / 60, 8.0 / 60, 20.0 / 60};

constexpr double kMemoryS = 5.0;  // time constant of the mean error of a prediction
constexpr float kMinError = 1e-12f;
// A lesson is a sample that was learned from. At least one is needed per axis, because on a single axis a
// circle may look like a stop.
constexpr std::uint8_t kMinLessons = 3;
constexpr std::uint8_t kPriorLessons = 8;  // with fewer lessons, there is no prior
// Factor on the errors in a prior: they count as if they had been seen for half a second.
constexpr float kPriorErrorShare = 0.1f;
constexpr double kFitSettleS = 0.5;  // time at rest after which the entity's past is forgotten
constexpr double kSampleHz = 60.0;   // tick rate for which the constants of LeastSquares are chosen
constexpr float kMaxRate2 = 1e12f;
constexpr double kLongestHorizonS = 1.0;  // of a memory from elsewhere

// Multiples of the golden ratio are aperiodic and visit the axes evenly.
constexpr std::uint32_t kGoldenStep = 2654435769u;
std::size_t axis_of(std::uint32_t order) {
  return static_cast<std::size_t>((std::uint64_t{order} * 3) >> 32);
}

// A prediction's weight decreases with the fourth power of its mean square error. So predictions of similar
// quality are averaged, and the average is better than each of them. A bad prediction has almost no effect.
float weight_of(float error, float least) {
  const float ratio = (least + kMinError) / (error + kMinError);
  return ratio * ratio * ratio * ratio;
}

}  // namespace

RateFit::RateFit(double tick_rate_hz, double horizon_s) {
  set_horizon(tick_rate_hz, horizon_s);
  for (std::size_t i = 0; i < kLags; ++i)
    follow_[i] = static_cast<float>(1.0 - portable::exp(-1.0 / (kTimeConstantsS[i] * tick_rate_hz)));
}

void RateFit::set_horizon(double tick_rate_hz, double horizon_s) {
  const double wanted = std::max(1.0, std::round(horizon_s * tick_rate_hz));
  const double per_slot = std::ceil(wanted / static_cast<double>(kMaxSlots));
  slots_ = static_cast<std::uint8_t>(std::round(wanted / per_slot));
  ticks_per_slot_ = static_cast<std::uint16_t>(per_slot);
  horizon_ticks_ = static_cast<std::uint16_t>(slots_ * ticks_per_slot_);
  horizon_s_ = static_cast<float>(horizon_ticks_ / tick_rate_hz);
  ticks_to_settle_ = static_cast<std::uint16_t>(horizon_ticks_ + std::ceil(kFitSettleS * tick_rate_hz));
  samples_per_slot_ = static_cast<float>(3.0 * per_slot * kSampleHz / tick_rate_hz);
  kept_ = static_cast<float>(portable::exp(-per_slot / (kMemoryS * tick_rate_hz)));
}

void RateFit::look_ahead(double tick_rate_hz, double horizon_s) {
  const float before_s = horizon_s_;
  const std::uint16_t ticks_before = ticks_per_slot_;
  const std::size_t slots_before = slots_;
  set_horizon(tick_rate_hz, horizon_s);
  if (horizon_s_ == before_s) return;
  if (ticks_per_slot_ == ticks_before) {
    keep_newest_slots(slots_before);
  } else {
    forget_slots();
  }
  const float factor = horizon_s_ / before_s;
  horizontal_.stretch(factor);
  vertical_.stretch(factor);
  for (float& error : errors_)
    error *= factor * factor;
}

// Keeps the newest samples that fit into the new number of slots.
void RateFit::keep_newest_slots(std::size_t slots_before) {
  const auto before = slots_in_flight_;
  const std::size_t kept = std::min<std::size_t>(slots_filled_, slots_);
  for (std::size_t i = 0; i < kept; ++i)
    slots_in_flight_[i] = before[(slot_ + slots_before - kept + i) % slots_before];
  slots_filled_ = static_cast<std::uint8_t>(kept);
  slot_ = static_cast<std::uint8_t>(kept % slots_);
}

void RateFit::forget_slots() {
  slots_filled_ = 0;
  slot_ = 0;
  ticks_to_slot_ = 1;
}

void RateFit::restart() {
  ticks_seen_ = 0;
  forget_slots();
}

std::optional<RateFit::Prior> RateFit::prior() const {
  if (moving_lessons_ < kPriorLessons) return std::nullopt;
  const float factor = static_cast<float>(kPriorHorizonS) / horizon_s_;
  Prior prior{};
  auto next = prior.begin();
  for (const Predictor* learned : {&horizontal_, &vertical_}) {
    const Predictor::Inputs weights = Predictor::stretched(learned->weights(), factor);
    next = std::copy(weights.begin(), weights.end(), next);
  }
  for (const float error : errors_)
    *next++ = factor * factor * error;
  *next++ = factor * factor * horizontal_.noise();
  *next = factor * factor * vertical_.noise();
  const bool sound = std::all_of(prior.begin(), prior.end(), [](float x) { return std::isfinite(x); });
  return sound ? std::optional(prior) : std::nullopt;
}

void RateFit::begin_with(const Prior& prior) {
  if (!std::all_of(prior.begin(), prior.end(), [](float x) { return std::isfinite(x); })) return;
  const float factor = horizon_s_ / static_cast<float>(kPriorHorizonS);
  const auto* next = prior.data();
  const auto* noise = prior.data() + 2 * kInputs + kGuesses;
  for (Predictor* learned : {&horizontal_, &vertical_}) {
    Predictor::Inputs weights{};
    std::copy_n(next, kInputs, weights.begin());
    learned->begin_with(Predictor::stretched(weights, factor), factor * factor * *noise++);
    next += kInputs;
  }
  for (float& error : errors_)
    error = kPriorErrorShare * factor * factor * *next++;
  weigh_guesses();
}

std::optional<RateFit::Memory> RateFit::memory() const {
  if (moving_lessons_ < kPriorLessons || ticks_seen_ < 2) return std::nullopt;
  Memory memory{horizon_s_};
  auto next = memory.begin() + 1;
  for (const Predictor* learned : {&horizontal_, &vertical_}) {
    const Predictor::Memory part = learned->memory();
    next = std::copy(part.begin(), part.end(), next);
  }
  next = std::copy(errors_.begin(), errors_.end(), next);
  for (const glm::vec3& smooth : smooth_) {
    for (glm::length_t i = 0; i < 3; ++i)
      *next++ = settled_ ? 0.0f : smooth[i];
  }
  const bool sound = std::all_of(memory.begin(), memory.end(), [](float x) { return std::isfinite(x); });
  return sound ? std::optional(memory) : std::nullopt;
}

void RateFit::resume(const Memory& memory, double tick_rate_hz) {
  const auto is_sound = [](float x) { return x * x < kMaxRate2; };
  if (!std::all_of(memory.begin(), memory.end(), is_sound)) return;
  set_horizon(tick_rate_hz, std::clamp(static_cast<double>(memory[0]), 0.0, kLongestHorizonS));
  const auto* next = memory.data() + 1;
  for (Predictor* learned : {&horizontal_, &vertical_}) {
    Predictor::Memory part{};
    std::copy_n(next, part.size(), part.begin());
    learned->resume(part);
    next += part.size();
  }
  for (float& error : errors_)
    error = std::max(0.0f, *next++);
  for (glm::vec3& smooth : smooth_) {
    for (glm::length_t i = 0; i < 3; ++i)
      smooth[i] = *next++;
  }
  forget_slots();
  ticks_seen_ = 2;
  lessons_ = kMinLessons;
  moving_lessons_ = kPriorLessons;
  weigh_guesses();
}

RateFit::Predictor::Inputs RateFit::inputs(const glm::vec3& rate, std::size_t axis) const {
  const auto i = static_cast<glm::length_t>(axis);
  Predictor::Inputs x{rate[i]};
  float before = rate[i];
  for (std::size_t k = 0; k < kLags; ++k) {
    x[k + 1] = before - smooth_[k][i];
    before = smooth_[k][i];
  }
  return x;
}

void RateFit::observe(const glm::vec3& rate, const glm::vec3& derivative, const glm::dvec3& displacement) {
  const float rate2 = glm::dot(rate, rate);
  const float derivative2 = glm::dot(derivative, derivative);
  if (!(rate2 < kMaxRate2) || !(derivative2 < kMaxRate2)) {
    restart();
    mean_ = glm::vec3{0.0f};
    return;
  }
  if (rate2 == 0.0f && derivative2 == 0.0f) {
    if (settled_) return;
    if (++ticks_at_rest_ >= ticks_to_settle_) return settle();
  } else {
    ticks_at_rest_ = 0;
    if (settled_) wake(rate, displacement);
  }
  follow(rate);
  if (ticks_seen_ >= 2 && --ticks_to_slot_ == 0) step(rate, derivative, displacement);
  guess(rate, derivative);
}

// Learns from the oldest slot and replaces it by a new sample.
void RateFit::step(const glm::vec3& rate, const glm::vec3& derivative, const glm::dvec3& displacement) {
  ticks_to_slot_ = ticks_per_slot_;
  Slot& slot = slots_in_flight_[slot_];
  if (slots_filled_ < slots_) {
    ++slots_filled_;
  } else {
    const std::size_t then = axis_of(order_ - slots_ * kGoldenStep);
    learn(slot, then, displacement[static_cast<glm::length_t>(then)]);
    if (lessons_ < kMinLessons) ++lessons_;
    if (lessons_ >= kMinLessons) weigh_guesses();
  }
  const std::size_t axis = axis_of(order_);
  const auto i = static_cast<glm::length_t>(axis);
  slot = {displacement[i], inputs(rate, axis), derivative[i]};
  order_ += kGoldenStep;
  if (++slot_ == slots_) slot_ = 0;
}

void RateFit::follow(const glm::vec3& rate) {
  // For two ticks, assume that the entity has always moved at the current rate. Two are needed, because at
  // its first tick an entity has no velocity yet.
  if (ticks_seen_ < 2) {
    ++ticks_seen_;
    smooth_.fill(rate);
    return;
  }
  glm::vec3 before = rate;
  for (std::size_t k = 0; k < kLags; ++k) {
    smooth_[k] += (before - smooth_[k]) * follow_[k];
    before = smooth_[k];
  }
}

void RateFit::learn(const Slot& then, std::size_t axis, double displacement) {
  const float rate = then.inputs[0];
  const float mean = static_cast<float>(displacement - then.displacement) / horizon_s_;
  if (!(mean * mean < kMaxRate2)) return;
  if (moving_lessons_ < kPriorLessons && (mean != 0.0f || rate != 0.0f)) ++moving_lessons_;
  Predictor& learned = predictor(axis);
  const std::array<float, kGuesses> guesses{rate, rate + then.derivative * (0.5f * horizon_s_), 0.0f,
                                            learned.predict(then.inputs)};
  for (std::size_t i = 0; i < kGuesses; ++i) {
    const float error = guesses[i] - mean;
    errors_[i] += (1.0f - kept_) * (error * error - errors_[i]);
  }
  learned.learn(then.inputs, mean, samples_per_slot_);
}

void RateFit::weigh_guesses() {
  const float least = *std::min_element(errors_.begin(), errors_.end());
  float total = 0.0f;
  for (std::size_t i = 0; i < kGuesses; ++i) {
    shares_[i] = weight_of(errors_[i], least);
    total += shares_[i];
  }
  for (float& share : shares_)
    share /= total;
}

void RateFit::guess(const glm::vec3& rate, const glm::vec3& derivative) {
  const glm::vec3 extrapolated = rate + derivative * (0.5f * horizon_s_);
  glm::vec3 learned;
  for (std::size_t axis = 0; axis < 3; ++axis)
    learned[static_cast<glm::length_t>(axis)] = predictor(axis).predict(inputs(rate, axis));
  mean_ = rate * shares_[0] + extrapolated * shares_[1] + learned * shares_[3];
  // The result is limited to twice the larger of the current rate and the rate predicted from the
  // acceleration.
  const float most = 4.0f * std::max(glm::dot(rate, rate), glm::dot(extrapolated, extrapolated));
  const float speed2 = glm::dot(mean_, mean_);
  if (speed2 > most) mean_ *= std::sqrt(most / speed2);
}

void RateFit::settle() {
  settled_ = true;
  mean_ = glm::vec3{0.0f};
}

// The entity begins to move: the samples in flight are replaced by the samples of an entity that has always
// rested.
void RateFit::wake(const glm::vec3& rate, const glm::dvec3& displacement) {
  settled_ = false;
  smooth_.fill(glm::vec3{0.0f});
  const float tick_s = horizon_s_ / static_cast<float>(horizon_ticks_);
  const glm::dvec3 rested = displacement - glm::dvec3{rate * tick_s};
  for (std::uint32_t i = 0; i < slots_; ++i) {
    Slot& slot = slots_in_flight_[(slot_ + i) % slots_];
    slot = {};
    slot.displacement = rested[static_cast<glm::length_t>(axis_of(order_ + (i - slots_) * kGoldenStep))];
  }
  slots_filled_ = slots_;
}

namespace {

// The typical age of an update while a client uses it is the sum of three parts: the delay, part of a blend,
// and a little more than half of the gap until the next update (docs/TUNING.md).
constexpr double kTypicalDelayS = 0.1;
constexpr double kTypicalGapS = 0.1;
constexpr double kOfBlendS = 0.02;
constexpr double kGapShare = 0.6;

// Limits of the horizon. For horizons below the minimum, any model predicts well. The maximum is the longest
// horizon at which, with 60 ticks per second, every tick can still be learned from.
constexpr double kMinHorizonS = 0.12;
constexpr double kMaxHorizonS = 0.27;

// A smaller change of the horizon is ignored, because a change discards samples in flight.
constexpr double kSlackS = 0.025;

}  // namespace

double MotionFit::horizon_for(double updates_per_second, double delay_s) {
  const double known_s = delay_s > 0.0 ? delay_s : kTypicalDelayS;
  const double gap_s = updates_per_second > 0.0 ? 1.0 / updates_per_second : kTypicalGapS;
  return std::clamp(known_s + kOfBlendS + kGapShare * gap_s, kMinHorizonS, kMaxHorizonS);
}

void MotionFit::change_horizon(double horizon_s) {
  if (std::abs(horizon_s - horizon_s_) <= kSlackS) return;
  linear_.look_ahead(1.0 / tick_s_, horizon_s);
  angular_.look_ahead(1.0 / tick_s_, horizon_s);
  horizon_s_ = static_cast<double>(linear_.horizon_ticks()) * tick_s_;
}

MotionFit::MotionFit(double tick_rate_hz, double horizon_s)
    : tick_s_(1.0 / tick_rate_hz), linear_(tick_rate_hz, horizon_s), angular_(tick_rate_hz, horizon_s) {
  horizon_s_ = static_cast<double>(linear_.horizon_ticks()) * tick_s_;
}

void MotionFit::begin_with(const Priors& priors) {
  if (priors.linear) linear_.begin_with(*priors.linear);
  if (priors.angular) angular_.begin_with(*priors.angular);
}

void MotionFit::resume(const Memory& memory) {
  if (memory.linear) {
    linear_.resume(*memory.linear, 1.0 / tick_s_);
    horizon_s_ = static_cast<double>(linear_.horizon_ticks()) * tick_s_;
    angular_.look_ahead(1.0 / tick_s_, horizon_s_);
  }
  if (memory.angular) {
    angular_.resume(*memory.angular, 1.0 / tick_s_);
    angular_.look_ahead(1.0 / tick_s_, horizon_s_);
  }
}

void MotionFit::restart() {
  linear_.restart();
  angular_.restart();
}

void MotionFit::observe(const State& truth) {
  linear_.observe(truth.velocity, truth.acceleration, truth.position);
  turned_ += glm::dvec3{truth.angular_velocity} * tick_s_;
  angular_.observe(truth.angular_velocity, glm::vec3{0.0f}, turned_);
}

State MotionFit::fitted(const State& truth) const {
  State state = truth;
  state.acceleration = (linear_.mean_rate() - truth.velocity) * static_cast<float>(2.0 / horizon_s_);
  state.angular_velocity = angular_.mean_rate();
  return state;
}

namespace {

// One candidate other than the game's own state: the degree of its polynomial, the duration of the fit, and
// whether the polynomial also replaces the position. Short fits follow turns, long fits average noise. On the
// recorded traces, more candidates bring no gain.
struct Window {
  int degree;
  double seconds;
  bool smooths_position;
};
constexpr std::array<Window, 4> kWindows{
    {{2, 3.0 / 60, false}, {2, 4.0 / 60, false}, {1, 3.0 / 60, true}, {2, 8.0 / 60, true}}};

constexpr double kMaxWindowTicks = 12.0;  // longest window, ticks; most of the history remains for the gap
constexpr double kMemoryGaps = 40.0;      // number of publishes over which candidates are compared

// A gap that is shorter than this, s, has no bend. For short gaps a cubic is as good, and an acceleration for
// extrapolation is more useful.
constexpr double kShortestBentGapS = 0.06;

using Weights = std::array<double, 3>;

double weight(const Weights& w, std::size_t ticks_ago) {
  const auto j = static_cast<double>(ticks_ago);
  return w[0] + j * (w[1] + j * w[2]);
}

template <class Errors>
std::size_t best_of(const Errors& errors) {
  return static_cast<std::size_t>(std::min_element(errors.begin(), errors.end()) - errors.begin());
}

}  // namespace

GapFit::GapFit(double tick_rate_hz) : tick_rate_hz_(tick_rate_hz) {
  static_assert(kWindows.size() + 1 == kCandidates);
  for (std::size_t i = 0; i < kWindows.size(); ++i)
    candidates_[i + 1] = make_candidate(i, tick_rate_hz);
}

// Least squares on evenly spaced points, evaluated at the last point (A. Savitzky and M. Golay 1964).
GapFit::Candidate GapFit::make_candidate(std::size_t index, double tick_rate_hz) {
  const Window& window = kWindows[index];
  const double ticks =
      std::clamp(std::round(window.seconds * tick_rate_hz), double(window.degree), kMaxWindowTicks);
  std::array<double, 5> sums{};  // sums of the powers of the time x = -j, in ticks
  for (double j = 0.0; j <= ticks; ++j) {
    double power = 1.0;
    for (double& sum : sums) {
      sum += power;
      power *= -j;
    }
  }
  glm::dmat3 normal{sums[0], sums[1], sums[2], sums[1], sums[2], sums[3], sums[2], sums[3], sums[4]};
  if (window.degree == 1) normal[0][2] = normal[1][2] = normal[2][0] = normal[2][1] = 0.0;
  const glm::dmat3 inverse = glm::inverse(normal);
  const double curve = window.degree == 1 ? 0.0 : 1.0;
  Candidate c;
  c.ticks = static_cast<std::size_t>(ticks);
  c.smooths_position = window.smooths_position;
  c.value = {inverse[0][0], -inverse[1][0], curve * inverse[2][0]};
  c.derivative = {inverse[0][1] * tick_rate_hz, -inverse[1][1] * tick_rate_hz,
                  curve * inverse[2][1] * tick_rate_hz};
  return c;
}

void GapFit::observe(const State& truth) {
  past_[next_] = {truth.pose(), truth.velocity, truth.angular_velocity};
  next_ = (next_ + 1) % kPast;
  filled_ = std::min(filled_ + 1, kPast);
}

std::size_t GapFit::ticks_in(double gap_s) const {
  return static_cast<std::size_t>(std::max(0.0, std::round(gap_s * tick_rate_hz_)));
}

// The state that the candidate gives for `ticks_ago` ticks ago. While too little history is known, this is
// the game's own state.
GapFit::End GapFit::end(std::size_t candidate, std::size_t ticks_ago) const {
  const Candidate& c = candidates_[candidate];
  const Past& then = past(ticks_ago);
  if (c.ticks == 0 || ticks_ago + c.ticks >= filled_) return {then.pose.position, then.velocity};
  End end{then.pose.position, glm::dvec3{0.0}};
  for (std::size_t j = 1; j <= c.ticks; ++j) {
    const glm::dvec3 step = past(ticks_ago + j).pose.position - then.pose.position;
    if (c.smooths_position) end.position += step * weight(c.value, j);
    end.velocity += step * weight(c.derivative, j);
  }
  return end;
}

State GapFit::smoothed(const State& truth) const {
  State state = truth;
  if (filled_ == 0) return state;
  if (truth.velocity != glm::vec3{0.0f}) {
    const End best = end(best_, 0);
    state.position = best.position;
    state.velocity = glm::vec3{best.velocity};
  }
  const std::size_t ticks = candidates_[best_turn_].ticks;
  if (ticks == 0 || ticks >= filled_ || truth.angular_velocity == glm::vec3{0.0f}) return state;
  if (turns_too_far(ticks)) return state;
  const TurnEnd best = turn_end(turns(ticks + 1), best_turn_, 0);
  state.orientation = glm::quat{glm::normalize(rotation_exp(best.turn) * glm::dquat{truth.orientation})};
  state.angular_velocity = glm::vec3{rotation_rate_to_angular_velocity(best.turn, best.rate)};
  return state;
}

// True if the entity turns nearly half a revolution in `ticks`. Then a rotation vector no longer shows the
// direction of the rotation.
bool GapFit::turns_too_far(std::size_t ticks) const {
  constexpr double kMaxRad = 0.9 * std::numbers::pi;
  const double rate = glm::length(glm::dvec3{past(0).angular_velocity});
  return !(rate * static_cast<double>(ticks) < kMaxRad * tick_rate_hz_);
}

// The orientations of the last `count` ticks, relative to the newest orientation.
GapFit::Turns GapFit::turns(std::size_t count) const {
  Turns turns{};
  const glm::dquat back = glm::conjugate(glm::dquat{past(0).pose.orientation});
  for (std::size_t j = 1; j < count; ++j)
    turns[j] = rotation_log(glm::normalize(glm::dquat{past(j).pose.orientation} * back));
  return turns;
}

// Like end(), for orientations. The polynomial uses rotation vectors, which add up over such a short time.
GapFit::TurnEnd GapFit::turn_end(const Turns& turns, std::size_t candidate, std::size_t ticks_ago) const {
  const Candidate& c = candidates_[candidate];
  TurnEnd end{turns[ticks_ago]};
  if (c.ticks == 0 || ticks_ago + c.ticks >= filled_) {
    end.rate =
        angular_velocity_to_rotation_rate(turns[ticks_ago], glm::dvec3{past(ticks_ago).angular_velocity});
    return end;
  }
  for (std::size_t j = 1; j <= c.ticks; ++j) {
    const glm::dvec3 step = turns[ticks_ago + j] - turns[ticks_ago];
    if (c.smooths_position) end.turn += step * weight(c.value, j);
    end.rate += step * weight(c.derivative, j);
  }
  return end;
}

// Like strayed() for positions, but in rad.
double GapFit::strayed(const Turns& turns, std::size_t candidate, std::size_t gap_ticks) const {
  const double gap_s = static_cast<double>(gap_ticks) / tick_rate_hz_;
  const TurnEnd from = turn_end(turns, candidate, gap_ticks);
  const TurnEnd to = turn_end(turns, candidate, 0);
  const auto curve = hermite_piece(from.turn, to.turn, from.rate * gap_s, to.rate * gap_s);
  double sum = 0.0;
  for (std::size_t j = 0; j < gap_ticks; ++j) {
    const double u = 1.0 - static_cast<double>(j) / static_cast<double>(gap_ticks);
    const glm::dvec3 error = turns[j] - curve.position(u);
    sum += glm::dot(error, error);
  }
  return std::sqrt(sum / static_cast<double>(gap_ticks));
}

GapFit::GapError GapFit::worst_error(const Motion& published, const State& truth, double time_s,
                                     double longest_gap_s) const {
  const double gap_s = time_s - published.time_s;
  const std::size_t ticks = ticks_in(gap_s);
  GapError worst_error;
  if (gap_s >= longest_gap_s) {
    const State predicted = state_at(published, time_s);
    worst_error = {glm::distance(predicted.position, truth.position),
                   angle_between(predicted.orientation, truth.orientation)};
  }
  const Motion now{smoothed(truth), time_s, published.teleports};
  const PathDeviations path = path_deviations(published, now, ticks);
  const std::size_t known = path.count;
  for (std::size_t j = 0; j < known; ++j)
    worst_error.m = std::max(worst_error.m, glm::length(path.left(j, ticks)));
  if (const std::size_t middle = ticks / 2; middle > 0 && middle < known) {
    const double then_s = time_s - static_cast<double>(middle) / tick_rate_hz_;
    const State shown = interpolate_gap(published, now, then_s);
    worst_error.rad =
        std::max(worst_error.rad, angle_between(shown.orientation, past(middle).pose.orientation));
  }
  return worst_error;
}

glm::dvec3 GapFit::PathDeviations::left(std::size_t ticks_ago, std::size_t gap_ticks) const {
  const double u = 1.0 - static_cast<double>(ticks_ago) / static_cast<double>(gap_ticks);
  return by[ticks_ago] - bend * bend_share(u);
}

bool GapFit::bends_over(std::size_t gap_ticks) const {
  return gap_ticks >= 2 && static_cast<double>(gap_ticks) >= kShortestBentGapS * tick_rate_hz_;
}

GapFit::PathDeviations GapFit::path_deviations(const Motion& from, const Motion& to,
                                               std::size_t gap_ticks) const {
  PathDeviations path;
  path.count = std::min(gap_ticks, filled_);
  glm::dvec3 along{0.0};
  double across = 0.0;
  Motion start = from;
  start.time_s = curve_starts(from, to).position_s;
  if (start.time_s > from.time_s) start.state = state_at(from, start.time_s);
  for (std::size_t j = 0; j < path.count; ++j) {
    const double then_s = to.time_s - static_cast<double>(j) / tick_rate_hz_;
    path.by[j] = past(j).pose.position - (then_s < start.time_s ? state_at(from, then_s).position
                                                                : interpolate_position(start, to, then_s));
    const double share = bend_share(1.0 - static_cast<double>(j) / static_cast<double>(gap_ticks));
    along += path.by[j] * share;
    across += share * share;
  }
  // If part of the path in the gap is unknown, the bend would be a guess there.
  if (path.count == gap_ticks && bends_over(gap_ticks) && start.time_s == from.time_s)
    path.bend = along / across;
  return path;
}

std::optional<glm::vec3> GapFit::bend(const Motion& published, const State& truth, double time_s) const {
  const std::size_t ticks = ticks_in(time_s - published.time_s);
  if (!bends_over(ticks) || ticks > filled_) return std::nullopt;
  const Motion now{smoothed(truth), time_s, published.teleports};
  return glm::vec3{bending_acceleration(published, now, path_deviations(published, now, ticks).bend)};
}

// Root mean square deviation of the true path from the curve with this candidate at both ends of the gap, m.
double GapFit::strayed(std::size_t candidate, std::size_t gap_ticks) const {
  const auto motion = [&](std::size_t ticks_ago) {
    const End e = end(candidate, ticks_ago);
    Motion m;
    m.state.position = e.position;
    m.state.velocity = glm::vec3{e.velocity};
    m.time_s = -static_cast<double>(ticks_ago) / tick_rate_hz_;
    return m;
  };
  const PathDeviations path = path_deviations(motion(gap_ticks), motion(0), gap_ticks);
  double sum = 0.0;
  for (std::size_t j = 0; j < path.count; ++j) {
    const glm::dvec3 error = path.left(j, gap_ticks);
    sum += glm::dot(error, error);
  }
  return std::sqrt(sum / static_cast<double>(gap_ticks));
}

void GapFit::learn(double gap_s) {
  const std::size_t ticks = ticks_in(gap_s);
  if (ticks < 2 || ticks >= filled_) return;
  for (std::size_t i = 0; i < kCandidates; ++i)
    errors_[i] += (strayed(i, ticks) - errors_[i]) / kMemoryGaps;
  best_ = best_of(errors_);
  const auto most_ticks = static_cast<std::size_t>(kMaxWindowTicks);
  if (turns_too_far(ticks + most_ticks)) {
    turn_errors_ = {};
    best_turn_ = 0;
    return;
  }
  const Turns turned = turns(std::min(filled_, ticks + most_ticks + 1));
  for (std::size_t i = 0; i < kCandidates; ++i)
    turn_errors_[i] += (strayed(turned, i, ticks) - turn_errors_[i]) / kMemoryGaps;
  best_turn_ = best_of(turn_errors_);
}

}  // namespace reckoner
