// SPDX-License-Identifier: MIT
#include "reckoning/src/prediction/rate_fit.hpp"

#include "reckoning/src/motion/portable_math.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

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
// After this time with the same rate, the rate is expected to stay. A lag of the filters or a weight that was
// learned from other motion must not add a drift then.
constexpr double kSteadyS = 8.0 / 60;
constexpr float kSteadyShare = 1e-3f;  // the same rate: the difference is at most this share of the rate
constexpr double kSampleHz = 60.0;     // tick rate for which the constants of LeastSquares are chosen
constexpr float kMaxRate2 = 1e12f;
constexpr double kLongestHorizonS = 1.0;  // of a memory from elsewhere

// Multiples of the golden ratio are aperiodic and visit the axes evenly.
constexpr std::uint32_t kGoldenStep = 2654435769u;
std::size_t axis_of(std::uint32_t order) {
  return static_cast<std::size_t>((std::uint64_t{order} * 3) >> 32);
}

constexpr FourFloats kMinErrors{kMinError, kMinError, kMinError, kMinError};

// A prediction's weight decreases with the fourth power of its mean square error. So predictions of similar
// quality are averaged, and the average is better than each of them. A bad prediction has almost no effect.
FourFloats weights_of(const FourFloats& errors) {
  const float least = std::min(std::min(errors[0], errors[1]), std::min(errors[2], errors[3]));
  const FourFloats ratio = (FourFloats{least, least, least, least} + kMinErrors) / (errors + kMinErrors);
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
  ticks_to_steady_ = static_cast<std::uint16_t>(std::ceil(kSteadyS * tick_rate_hz));
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
  errors_ = errors_ * (factor * factor);
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
  for (std::size_t i = 0; i < kGuesses; ++i)
    *next++ = factor * factor * errors_[i];
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
  for (std::size_t i = 0; i < kGuesses; ++i)
    errors_[i] = kPriorErrorShare * factor * factor * *next++;
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
  for (std::size_t i = 0; i < kGuesses; ++i)
    *next++ = errors_[i];
  for (const FourFloats& smooth : smooth_) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      *next++ = settled_ ? 0.0f : smooth[axis];
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
  for (std::size_t i = 0; i < kGuesses; ++i)
    errors_[i] = std::max(0.0f, *next++);
  for (FourFloats& smooth : smooth_) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      smooth[axis] = *next++;
  }
  forget_slots();
  ticks_seen_ = 2;
  lessons_ = kMinLessons;
  moving_lessons_ = kPriorLessons;
  weigh_guesses();
}

RateFit::Predictor::Inputs RateFit::inputs(float rate, std::size_t axis) const {
  Predictor::Inputs x{rate};
  float before = rate;
  for (std::size_t k = 0; k < kLags; ++k) {
    x[k + 1] = before - smooth_[k][axis];
    before = smooth_[k][axis];
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
  count_steady_ticks(rate);
  follow(rate);
  if (ticks_seen_ >= 2 && --ticks_to_slot_ == 0) step(rate, derivative, displacement);
  guess(rate, derivative);
}

void RateFit::count_steady_ticks(const glm::vec3& rate) {
  const glm::vec3 off = rate - steady_rate_;
  if (glm::dot(off, off) <= kSteadyShare * kSteadyShare * glm::dot(rate, rate)) {
    if (steady_ticks_ < ticks_to_steady_) ++steady_ticks_;
  } else {
    steady_rate_ = rate;
    steady_ticks_ = 0;
  }
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
  slot = {displacement[i], inputs(rate[i], axis), derivative[i]};
  order_ += kGoldenStep;
  if (++slot_ == slots_) slot_ = 0;
}

void RateFit::follow(const glm::vec3& rate) {
  // For two ticks, assume that the entity has always moved at the current rate. Two are needed, because at
  // its first tick an entity has no velocity yet.
  if (ticks_seen_ < 2) {
    ++ticks_seen_;
    smooth_.fill(four_floats(rate));
    return;
  }
  FourFloats before = four_floats(rate);
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
  const FourFloats guesses{rate, rate + then.derivative * (0.5f * horizon_s_), 0.0f,
                           learned.predict(then.inputs)};
  const FourFloats missed = guesses - FourFloats{mean, mean, mean, mean};
  errors_ += (missed * missed - errors_) * (1.0f - kept_);
  learned.learn(then.inputs, mean, samples_per_slot_);
}

void RateFit::weigh_guesses() {
  const FourFloats weights = weights_of(errors_);
  const float total = weights[0] + weights[1] + weights[2] + weights[3];
  shares_ = weights / FourFloats{total, total, total, total};
}

void RateFit::guess(const glm::vec3& rate, const glm::vec3& derivative) {
  if (is_steady()) {
    mean_ = rate;
    return;
  }
  const FourFloats now = four_floats(rate);
  const FourFloats extrapolated = now + four_floats(derivative) * (0.5f * horizon_s_);
  // Predictor::predict() for the three axes at once.
  const Predictor::Inputs& horizontal = horizontal_.weights();
  const Predictor::Inputs& up = vertical_.weights();
  static_assert(kUpAxis == 2);
  const auto weights = [&](std::size_t k) { return FourFloats{horizontal[k], horizontal[k], up[k], 0.0f}; };
  FourFloats learned = weights(0) * now;
  FourFloats before = now;
  for (std::size_t k = 0; k < kLags; ++k) {
    learned += weights(k + 1) * (before - smooth_[k]);
    before = smooth_[k];
  }
  mean_ = three_of(now * shares_[0] + extrapolated * shares_[1] + learned * shares_[3]);
  // The result is limited to twice the larger of the current rate and the rate predicted from the
  // acceleration.
  const glm::vec3 ahead = three_of(extrapolated);
  const float most = 4.0f * std::max(glm::dot(rate, rate), glm::dot(ahead, ahead));
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
  smooth_.fill(FourFloats{});
  const float tick_s = horizon_s_ / static_cast<float>(horizon_ticks_);
  const glm::dvec3 rested = displacement - glm::dvec3{rate * tick_s};
  for (std::uint32_t i = 0; i < slots_; ++i) {
    Slot& slot = slots_in_flight_[(slot_ + i) % slots_];
    slot = {};
    slot.displacement = rested[static_cast<glm::length_t>(axis_of(order_ + (i - slots_) * kGoldenStep))];
  }
  slots_filled_ = slots_;
}

}  // namespace reckoner
