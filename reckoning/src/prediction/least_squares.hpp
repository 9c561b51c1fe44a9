// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace reckoner {

/// Recursive least squares with exponential forgetting, for a linear predictor of N inputs (L. Ljung and T.
/// Söderström, "Theory and Practice of Recursive Identification", 1983, sec. 2.2). The initial prediction is
/// the first input; learning finds how the other inputs improve it. Outliers have less weight (P. J. Huber,
/// "Robust estimation of a location parameter", 1964), because rare events such as collisions do not describe
/// normal motion.
///
/// It stays stable for days. The covariance is limited to its prior, so inputs without information cannot
/// make it grow. The noise level, which sets the gain, is measured from the first sample on. A sample without
/// any motion is ignored. If rounding makes the covariance invalid, it is reset to its prior. Single
/// precision saves memory, because every entity has several of these predictors.
template <std::size_t N>
class LeastSquares {
 public:
  using Inputs = std::array<float, N>;  ///< one value per weight

  LeastSquares() {
    weights_[0] = 1.0f;
    forget_covariance();
  }

  /// The weights learned so far, one per input.
  [[nodiscard]] const Inputs& weights() const { return weights_; }

  /// Mean square of the recent prediction errors, in squared input units.
  [[nodiscard]] float noise() const { return noise_; }

  /// Starts with weights and noise that other entities of the archetype have learned. Call it only before the
  /// first learn(). The weights count as if many samples had been seen, but learning continues.
  void begin_with(const Inputs& weights, float noise) {
    weights_ = weights;
    noise_ = noise;
    noise_gain_ = kKindNoiseGain;
    for (float& c : covariance_)
      c *= kKindVariance;
  }

  /// Weights for targets that differ `factor` times as much from the first input.
  [[nodiscard]] static Inputs stretched(const Inputs& weights, float factor) {
    Inputs result{1.0f};
    for (std::size_t i = 0; i < N; ++i)
      result[i] += factor * (weights[i] - result[i]);
    return result;
  }
  /// Adapts to targets that differ about `factor` times as much from the first input, for example after a
  /// change of the horizon. It scales the weights and the noise, and increases the covariance a little.
  void stretch(float factor) {
    weights_ = stretched(weights_, factor);
    noise_ = std::max(kLeastNoise, noise_ * factor * factor);
    const float doubt = kStretchDoubt * (factor - 1.0f);
    for (std::size_t i = 0, k = 0; i < N; ++i) {
      k += i;
      covariance_[k++] += (i == 0 ? kFirstPriorVariance : kPriorVariance) * doubt * doubt;
    }
  }

  /// The predicted value: the weighted sum of the inputs.
  [[nodiscard]] float predict(const Inputs& x) const {
    float sum = 0.0f;
    for (std::size_t i = 0; i < N; ++i)
      sum += weights_[i] * x[i];
    return sum;
  }

  /// Learns that the inputs `x` were followed by `target`. The sample has the weight `samples`; 1 is the
  /// weight of a sample at 60 Hz.
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
  // Variance of a weight before any sample. The first input is larger than the others, which are differences.
  // With the same variance, its weight would absorb most of the first errors.
  static constexpr float kPriorVariance = 1.0f;
  static constexpr float kFirstPriorVariance = 0.01f;
  static constexpr float kKindVariance = 0.1f;    // factor on the variances after begin_with()
  static constexpr float kKindNoiseGain = 0.05f;  // noise gain after begin_with()
  // Standard deviation of scaled weights per unit of (factor - 1). On recorded motion, all values up to 0.1
  // give similar results; as much doubt as in begin_with() costs 3 percent.
  static constexpr float kStretchDoubt = 0.05f;
  static constexpr float kForgetting = 0.9998f;  // per sample: older samples fade within a minute or two
  // Variance that each weight gains per sample. Without it, an hour of perfectly constant motion would make
  // the weights so certain that learning anything else would take an hour.
  static constexpr float kDrift = 1e-8f;
  static constexpr float kNoiseGain = 0.002f;  // per sample
  static constexpr float kLeastNoise = 1e-9f;  // squared input units
  static constexpr float kLeastSize = 1e-12f;  // squared input units; a smaller sample counts as no motion
  static constexpr float kMostSize = 1e12f;    // squared input units; a larger sample is ignored as invalid
  static constexpr float kOutlier = 3.0f;      // standard deviations above which an error has less weight

  // The mean of all samples at first, later an exponential average of the recent ones.
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

  // Computes gain = covariance x and returns x' covariance x.
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

  // Updates the covariance: the sample reduces it, forgetting (`growth`) and `drift` increase it, and its
  // trace stays at most that of the prior.
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
  std::array<float, kPairs> covariance_{};  // symmetric; lower triangle by rows
  float noise_ = 0.1f;                      // mean square of the errors, squared input units
  // Share of the last sample in noise_; the first sample has half, the initial guess the other half.
  float noise_gain_ = 1.0f;
};

}  // namespace reckoner
