// SPDX-License-Identifier: MIT
#include "reckoning/src/prediction/rate_fit.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

// Time constants of the low-passes, each fed by the one before: dense where motion has just changed, sparse
// further back, a stride's length at the end. Measured on the recorded traces, five inputs predict as well as
// the rates themselves at eight lags.
constexpr std::array<double, 4> kTimeConstantsS{1.0 / 60, 3.0 / 60, 8.0 / 60, 20.0 / 60};

constexpr double kMemoryS = 5.0;  // how long a guess's error counts
constexpr float kLeastError = 1e-12f;
constexpr std::uint8_t kLeastLessons = 3;  // each axis once: on one alone a circle may look like a halt
constexpr std::uint8_t kPriorLessons = 8;  // what is not seen as often is no prior
// How far off guesses are for others of its kind counts as if it had been seen for half a second.
constexpr float kKindErrorShare = 0.1f;
constexpr double kSettleS = 0.5;    // rest after which nothing of an entity's past is kept
constexpr double kSampleHz = 60.0;  // what the predictor's constants are made for
constexpr float kMostRate2 = 1e12f;

// Multiples of the golden ratio never repeat in any period and visit the axes evenly.
constexpr std::uint32_t kGoldenStep = 2654435769u;
std::size_t axis_of(std::uint32_t order) {
  return static_cast<std::size_t>((std::uint64_t{order} * 3) >> 32);
}

// The weight of a guess falls with the fourth power of its mean square error: close ones are averaged, which
// beats each of them, and a bad one has no say.
float weight_of(float error, float least) {
  const float ratio = (least + kLeastError) / (error + kLeastError);
  return ratio * ratio * ratio * ratio;
}

}  // namespace

RateFit::RateFit(double tick_rate_hz, double horizon_s) {
  set_horizon(tick_rate_hz, horizon_s);
  for (std::size_t i = 0; i < kLags; ++i)
    follow_[i] = static_cast<float>(1.0 - std::exp(-1.0 / (kTimeConstantsS[i] * tick_rate_hz)));
}

void RateFit::set_horizon(double tick_rate_hz, double horizon_s) {
  const double wanted = std::max(1.0, std::round(horizon_s * tick_rate_hz));
  const double per_slot = std::ceil(wanted / static_cast<double>(kMostSlots));
  slots_ = static_cast<std::uint8_t>(std::round(wanted / per_slot));
  ticks_per_slot_ = static_cast<std::uint16_t>(per_slot);
  horizon_ticks_ = static_cast<std::uint16_t>(slots_ * ticks_per_slot_);
  horizon_s_ = static_cast<float>(horizon_ticks_ / tick_rate_hz);
  ticks_to_settle_ = static_cast<std::uint16_t>(horizon_ticks_ + std::ceil(kSettleS * tick_rate_hz));
  samples_per_slot_ = static_cast<float>(3.0 * per_slot * kSampleHz / tick_rate_hz);
  kept_ = static_cast<float>(std::exp(-per_slot / (kMemoryS * tick_rate_hz)));
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

// Of as many as there could be before: those that fit go on.
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
  if (moved_ < kPriorLessons) return std::nullopt;
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
    error = kKindErrorShare * factor * factor * *next++;
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

void RateFit::observe(const glm::vec3& rate, const glm::vec3& derivative, const glm::dvec3& way) {
  const float rate2 = glm::dot(rate, rate);
  const float derivative2 = glm::dot(derivative, derivative);
  if (!(rate2 < kMostRate2) || !(derivative2 < kMostRate2)) {
    restart();
    mean_ = glm::vec3{0.0f};
    return;
  }
  if (rate2 == 0.0f && derivative2 == 0.0f) {
    if (settled_) return;
    if (++ticks_at_rest_ >= ticks_to_settle_) return settle();
  } else {
    ticks_at_rest_ = 0;
    if (settled_) wake(rate, way);
  }
  follow(rate);
  if (ticks_seen_ >= 2 && --ticks_to_slot_ == 0) step(rate, derivative, way);
  guess(rate, derivative);
}

// Learns from the oldest slot and writes it anew.
void RateFit::step(const glm::vec3& rate, const glm::vec3& derivative, const glm::dvec3& way) {
  ticks_to_slot_ = ticks_per_slot_;
  Slot& slot = slots_in_flight_[slot_];
  if (slots_filled_ < slots_) {
    ++slots_filled_;
  } else {
    const std::size_t then = axis_of(order_ - slots_ * kGoldenStep);
    learn(slot, then, way[static_cast<glm::length_t>(then)]);
    if (lessons_ < kLeastLessons) ++lessons_;
    if (lessons_ >= kLeastLessons) weigh_guesses();
  }
  const std::size_t axis = axis_of(order_);
  const auto i = static_cast<glm::length_t>(axis);
  slot = {way[i], inputs(rate, axis), derivative[i]};
  order_ += kGoldenStep;
  if (++slot_ == slots_) slot_ = 0;
}

void RateFit::follow(const glm::vec3& rate) {
  // Before the beginning it counts as having moved as it began; the first tick has no velocity yet.
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

void RateFit::learn(const Slot& then, std::size_t axis, double way) {
  const float rate = then.inputs[0];
  const float mean = static_cast<float>(way - then.way) / horizon_s_;
  if (!(mean * mean < kMostRate2)) return;
  if (moved_ < kPriorLessons && (mean != 0.0f || rate != 0.0f)) ++moved_;
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
  const glm::vec3 carried = rate + derivative * (0.5f * horizon_s_);
  glm::vec3 learned;
  for (std::size_t axis = 0; axis < 3; ++axis)
    learned[static_cast<glm::length_t>(axis)] = predictor(axis).predict(inputs(rate, axis));
  mean_ = rate * shares_[0] + carried * shares_[1] + learned * shares_[3];
  // Nothing learned may send an entity off faster than twice what it or its own acceleration says.
  const float most = 4.0f * std::max(glm::dot(rate, rate), glm::dot(carried, carried));
  const float speed2 = glm::dot(mean_, mean_);
  if (speed2 > most) mean_ *= std::sqrt(most / speed2);
}

void RateFit::settle() {
  settled_ = true;
  mean_ = glm::vec3{0.0f};
}

// It begins to move: what is in flight becomes as if it had rested for ever.
void RateFit::wake(const glm::vec3& rate, const glm::dvec3& way) {
  settled_ = false;
  smooth_.fill(glm::vec3{0.0f});
  const float tick_s = horizon_s_ / static_cast<float>(horizon_ticks_);
  const glm::dvec3 rested = way - glm::dvec3{rate * tick_s};
  for (std::uint32_t i = 0; i < slots_; ++i) {
    Slot& slot = slots_in_flight_[(slot_ + i) % slots_];
    slot = {};
    slot.way = rested[static_cast<glm::length_t>(axis_of(order_ + (i - slots_) * kGoldenStep))];
  }
  slots_filled_ = slots_;
}

}  // namespace reckoner
