// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace reckoner {

/// Recursive least squares with exponential forgetting for one linear predictor of N inputs (L. Ljung and T.
/// Söderström, "Theory and Practice of Recursive Identification", 1983, sec. 2.2). It starts as "the first
/// input, unchanged" and learns how the others improve on that. Outliers count less (P. J. Huber, "Robust
/// estimation of a location parameter", 1964): a collision says nothing about priors.
///
/// Safe for days: the covariance is capped at its prior, so that inputs which stop carrying information
/// cannot wind it up; the noise that the gain is balanced against is measured, from the first sample on; a
/// sample in which nothing moves is left out; and should rounding ever spoil the covariance (single
/// precision: one of these lives in every entity), it starts again from its prior.
template <std::size_t N>
class LeastSquares {
 public:
  using Inputs = std::array<float, N>;  ///< one for each weight

  LeastSquares() {
    weights_[0] = 1.0f;
    forget_covariance();
  }

  /// As learned so far, one for each input.
  [[nodiscard]] const Inputs& weights() const { return weights_; }

  /// Mean square of the recent errors, squared input units.
  [[nodiscard]] float noise() const { return noise_; }

  /// Begins with what others of its kind have learned; only before the first learn(). They are believed as if
  /// a good deal had been seen, but it learns its own.
  void begin_with(const Inputs& weights, float noise) {
    weights_ = weights;
    noise_ = noise;
    noise_gain_ = kKindNoiseGain;
    for (float& c : covariance_)
      c *= kKindVariance;
  }

  /// Weights for targets that lie `factor` times as far from the first input.
  [[nodiscard]] static Inputs stretched(const Inputs& weights, float factor) {
    Inputs result{1.0f};
    for (std::size_t i = 0; i < N; ++i)
      result[i] += factor * (weights[i] - result[i]);
    return result;
  }
  /// From now on targets lie so many times as far from the first input, about, and are as much less certain:
  /// what was learned is carried over, and doubted a little.
  void stretch(float factor) {
    weights_ = stretched(weights_, factor);
    noise_ = std::max(kLeastNoise, noise_ * factor * factor);
    const float doubt = kStretchDoubt * (factor - 1.0f);
    for (std::size_t i = 0, k = 0; i < N; ++i) {
      k += i;
      covariance_[k++] += (i == 0 ? kFirstPriorVariance : kPriorVariance) * doubt * doubt;
    }
  }

  /// The weighted sum of the inputs.
  [[nodiscard]] float predict(const Inputs& x) const {
    float sum = 0.0f;
    for (std::size_t i = 0; i < N; ++i)
      sum += weights_[i] * x[i];
    return sum;
  }

  /// Learns that `x` was followed by `target`, and counts it as so many samples: 1 at 60 a second.
  void learn(const Inputs& x, float target, float samples) {
    const float error = target - predict(x);
    float size = target * target;
    for (const float input : x)
      size += input * input;
    if (!(size > kLeastSize) || !(size < kMostSize) || !(error * error < kMostSize)) return;

    Inputs gain{};
    const float spread = spread_along(x, gain);
    if (!(spread >= 0.0f)) return forget_covariance();
    measure_noise(error * error, samples);
    const float outlier = std::max(1.0f, std::abs(error) / (kOutlier * std::sqrt(noise_)));
    const float kept = 1.0f - (1.0f - kForgetting) * samples;
    const float scale = 1.0f / (kept * noise_ * outlier / samples + spread);
    for (std::size_t i = 0; i < N; ++i)
      weights_[i] += gain[i] * (scale * error);
    shrink(gain, scale, 1.0f / kept, kDrift * samples);
  }

 private:
  static constexpr std::size_t kPairs = N * (N + 1) / 2;
  // Of a weight, before anything was seen. The first input is larger than the others, which are differences:
  // were its weight as free as theirs, the first few samples would all be put down to it.
  static constexpr float kPriorVariance = 1.0f;
  static constexpr float kFirstPriorVariance = 0.01f;
  static constexpr float kKindVariance = 0.1f;    // of that, for who begins with what its kind has learned
  static constexpr float kKindNoiseGain = 0.05f;  // as if so much of the noise were from one sample
  // How far off stretched weights may be, for each time they grow by. On recorded motion less and more are
  // alike up to 0.1; as much doubt as of a kind's costs 3 percent.
  static constexpr float kStretchDoubt = 0.05f;
  static constexpr float kForgetting = 0.9998f;  // a sample: what is older than a minute or two fades
  // What weights may change by in a sample, squared. Without it an hour of perfectly even motion would teach
  // so surely that it takes an hour to learn anything else.
  static constexpr float kDrift = 1e-8f;
  static constexpr float kNoiseGain = 0.002f;  // a sample
  static constexpr float kLeastNoise = 1e-9f;  // squared input units
  static constexpr float kLeastSize = 1e-12f;  // squared input units: below it nothing moves
  static constexpr float kMostSize = 1e12f;    // above it is nothing that could be learned from
  static constexpr float kOutlier = 3.0f;      // standard deviations from which an error counts less

  // At first the mean of all samples, later that of the recent ones.
  void measure_noise(float error2, float samples) {
    noise_gain_ = std::max(noise_gain_ / (1.0f + noise_gain_), std::min(0.5f, kNoiseGain * samples));
    noise_ = std::max(kLeastNoise, noise_ + noise_gain_ * (error2 - noise_));
  }

  void forget_covariance() {
    covariance_.fill(0.0f);
    for (std::size_t i = 0, k = 0; i < N; ++i) {
      k += i;
      covariance_[k + i] = i == 0 ? kFirstPriorVariance : kPriorVariance;
    }
  }

  // gain = covariance x; returns x' covariance x.
  float spread_along(const Inputs& x, Inputs& gain) const {
    for (std::size_t i = 0, k = 0; i < N; ++i) {
      for (std::size_t j = 0; j < i; ++j, ++k) {
        gain[i] += covariance_[k] * x[j];
        gain[j] += covariance_[k] * x[i];
      }
      gain[i] += covariance_[k++] * x[i];
    }
    float spread = 0.0f;
    for (std::size_t i = 0; i < N; ++i)
      spread += gain[i] * x[i];
    return spread;
  }

  // What was learned takes from the covariance, what is forgotten gives back, up to the prior in all.
  void shrink(const Inputs& gain, float scale, float growth, float drift) {
    float trace = 0.0f;
    for (std::size_t i = 0, k = 0; i < N; ++i) {
      const float taken = gain[i] * scale;
      for (std::size_t j = 0; j <= i; ++j, ++k)
        covariance_[k] = (covariance_[k] - taken * gain[j]) * growth;
      covariance_[k - 1] += drift;
      trace += covariance_[k - 1];
    }
    constexpr float kMostTrace = kFirstPriorVariance + kPriorVariance * (N - 1);
    if (trace > kMostTrace) {
      for (float& c : covariance_)
        c *= kMostTrace / trace;
    }
  }

  Inputs weights_{};
  std::array<float, kPairs> covariance_{};  // lower triangle by rows; it is symmetric
  float noise_ = 0.1f;                      // mean square of the errors, squared input units
  float noise_gain_ = 1.0f;  // of the last sample in it; the first is half of it, the rest being a guess
};

}  // namespace reckoner
