// SPDX-License-Identifier: MIT
#include "rate_fit.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

// How long ago the rates are that the predictor looks at: dense where motion has just changed, sparse further
// back, a stride's length at the end.
constexpr std::array<double, 8> kLagsS{0.0,      1.0 / 60, 2.0 / 60,  3.0 / 60,
                                       5.0 / 60, 8.0 / 60, 13.0 / 60, 21.0 / 60};

constexpr double kMemoryS = 10.0;  // how long a guess's error counts
constexpr double kLeastError = 1e-12;

// The weight of a guess falls with the fourth power of its mean square error: close ones are averaged, which
// beats each of them, and a bad one has no say.
double weight_of(double error, double least) {
  const double ratio = (least + kLeastError) / (error + kLeastError);
  return ratio * ratio * ratio * ratio;
}

}  // namespace

RateFit::RateFit(double tick_rate_hz, double horizon_s) {
  constexpr auto kMostTicks = static_cast<double>(kPast) / 2 - 1;
  const auto ticks = [&](double seconds) {
    return std::clamp(std::round(seconds * tick_rate_hz), 0.0, kMostTicks);
  };
  horizon_ticks_ = static_cast<std::size_t>(std::max(1.0, ticks(horizon_s)));
  horizon_s_ = static_cast<double>(horizon_ticks_) / tick_rate_hz;
  memory_ = std::exp(-1.0 / (kMemoryS * tick_rate_hz));
  for (std::size_t i = 0; i < kInputs; ++i)
    lags_[i] = static_cast<std::size_t>(ticks(kLagsS[i]));
}

const RateFit::Past& RateFit::past(std::size_t ticks_ago) const {
  // Before the beginning it counts as having moved as it began.
  return past_[(next_ + kPast - 1 - std::min(ticks_ago, filled_ - 1)) % kPast];
}

RateFit::Predictor::Inputs RateFit::inputs(std::size_t ticks_ago, int axis) const {
  Predictor::Inputs x;
  for (std::size_t i = 0; i < kInputs; ++i)
    x[i] = past(ticks_ago + lags_[i]).rate[axis];
  return x;
}

std::array<glm::dvec3, RateFit::kGuesses> RateFit::guesses(std::size_t ticks_ago) const {
  const Past& then = past(ticks_ago);
  glm::dvec3 learned;
  for (int axis = 0; axis < 3; ++axis)
    learned[axis] = predictor(axis).predict(inputs(ticks_ago, axis));
  const glm::dvec3 rate{then.rate};
  return {rate, rate + glm::dvec3{then.derivative} * (0.5 * horizon_s_), glm::dvec3{0.0}, learned};
}

void RateFit::observe(const glm::vec3& rate, const glm::vec3& derivative, const glm::dvec3* moved) {
  past_[next_] = {rate, derivative};
  next_ = (next_ + 1) % kPast;
  filled_ = std::min(filled_ + 1, kPast);
  if (moved == nullptr || filled_ <= horizon_ticks_) return;

  const glm::dvec3 mean = *moved / horizon_s_;
  const auto then = guesses(horizon_ticks_);
  for (std::size_t i = 0; i < kGuesses; ++i) {
    const glm::dvec3 error = then[i] - mean;
    errors_[i] += (1.0 - memory_) * (glm::dot(error, error) - errors_[i]);
  }
  for (int axis = 0; axis < 3; ++axis)
    predictor(axis).learn(inputs(horizon_ticks_, axis), mean[axis]);
}

glm::dvec3 RateFit::mean_rate() const {
  if (filled_ == 0) return glm::dvec3{0.0};
  const auto now = guesses(0);
  const double least = *std::min_element(errors_.begin(), errors_.end());
  glm::dvec3 sum{0.0};
  double total = 0.0;
  double fastest = 0.0;
  for (std::size_t i = 0; i < kGuesses; ++i) {
    const double weight = weight_of(errors_[i], least);
    sum += now[i] * weight;
    total += weight;
    if (i < 3) fastest = std::max(fastest, glm::length(now[i]));
  }
  // Nothing learned may send an entity off faster than twice what it or its own acceleration says.
  const glm::dvec3 mean = sum / total;
  const double speed = glm::length(mean);
  return speed > 2.0 * fastest ? mean * (2.0 * fastest / speed) : mean;
}

}  // namespace reckoner
