// SPDX-License-Identifier: MIT
#pragma once

#include "reckoning/src/prediction/four_floats.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace reckoner {

/// Recursive least squares with exponential forgetting, for a linear predictor of N inputs (L. Ljung and T.
/// Söderström, "Theory and Practice of Recursive Identification", 1983, sec. 2.2). Before any learning, the
/// prediction is the first input. Learning finds how the other inputs improve the prediction. Outliers have
/// less weight (P. J. Huber, "Robust estimation of a location parameter", 1964), because rare events such as
/// collisions do not describe normal motion.
///
/// It stays stable for days. The trace of the covariance never exceeds its initial value, so inputs without
/// information cannot make the covariance grow. The variance of the noise, which sets the gain, is measured
/// from the first sample on. A sample without any motion is ignored. If rounding makes the covariance
/// invalid, it is reset to its initial value. Single precision saves memory, because every entity has several
/// of these predictors.
template <std::size_t N>
class LeastSquares {
  static_assert(N >= 2 && N <= 5, "the inputs after the first are the lanes of a FourFloats");

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
  /// first learn(). The predictor trusts these weights as if it had learned them from many samples, but
  /// learning continues.
  void begin_with(const Inputs& weights, float noise) {
    weights_ = weights;
    noise_ = noise;
    noise_gain_ = kPriorNoiseGain;
    scale_covariance(kPriorVarianceFactor);
  }

  /// The number of values in a Memory: weights, covariance, noise and its gain.
  static constexpr std::size_t kMemorySize = N + N * (N + 1) / 2 + 2;
  /// All that it has learned.
  using Memory = std::array<float, kMemorySize>;
  [[nodiscard]] Memory memory() const {
    Memory memory{};
    auto next = std::copy(weights_.begin(), weights_.end(), memory.begin());
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = 0; j <= i; ++j)
        *next++ = covariance(i, j);
    }
    *next++ = noise_;
    *next = noise_gain_;
    return memory;
  }
  /// Continues as the predictor whose memory this is. All values must be finite. An invalid covariance is
  /// reset by the next learn().
  void resume(const Memory& memory) {
    std::copy_n(memory.data(), N, weights_.begin());
    const float* next = memory.data() + N;
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = 0; j <= i; ++j)
        set_covariance(i, j, *next++);
    }
    noise_ = std::max(kMinNoise, memory[kMemorySize - 2]);
    noise_gain_ = std::clamp(memory[kMemorySize - 1], 0.0f, 1.0f);
  }

  /// Converts `weights` to targets whose difference from the first input is `factor` times as large.
  [[nodiscard]] static Inputs stretched(const Inputs& weights, float factor) {
    Inputs result{1.0f};
    for (std::size_t i = 0; i < N; ++i)
      result[i] += factor * (weights[i] - result[i]);
    return result;
  }
  /// Call this when the difference between the targets and the first input becomes about `factor` times as
  /// large, for example when the horizon changes. It scales the weights and the noise, and increases the
  /// covariance a little.
  void stretch(float factor) {
    weights_ = stretched(weights_, factor);
    noise_ = std::max(kMinNoise, noise_ * factor * factor);
    const float doubt = kStretchDoubt * (factor - 1.0f);
    for (std::size_t i = 0; i < N; ++i) {
      const float prior = i == 0 ? kFirstPriorVariance : kPriorVariance;
      set_covariance(i, i, covariance(i, i) + prior * doubt * doubt);
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
    if (!(size > kMinSize) || !(size < kMaxSize) || !(error * error < kMaxSize)) return;

    const Gain gain = gain_along(x);
    if (!(gain.spread >= 0.0f)) return forget_covariance();
    measure_noise(error * error, samples);
    const float outlier = std::max(1.0f, std::abs(error) / (kOutlier * std::sqrt(noise_)));
    const float kept = 1.0f - (1.0f - kForgetting) * samples;
    const float scale = 1.0f / (kept * noise_ * outlier / samples + gain.spread);
    weights_[0] += gain.first * (scale * error);
    for (std::size_t i = 1; i < N; ++i)
      weights_[i] += gain.others[i - 1] * (scale * error);
    shrink(gain, scale, 1.0f / kept, kDrift * samples);
  }

 private:
  // Variance of a weight before any sample. The first input is larger than the others, which are differences.
  // If all weights had the same variance, the weight of the first input would absorb most of the first
  // errors.
  static constexpr float kPriorVariance = 1.0f;
  static constexpr float kFirstPriorVariance = 0.01f;
  static constexpr float kPriorVarianceFactor = 0.1f;  // factor on the variances after begin_with()
  static constexpr float kPriorNoiseGain = 0.05f;      // noise gain after begin_with()
  // Standard deviation of the doubt that stretch() adds to the weights, per unit of (factor - 1). On recorded
  // motion, all values up to 0.1 give similar results. With as much doubt as begin_with() assumes, the
  // results are 3 percent worse.
  static constexpr float kStretchDoubt = 0.05f;
  // Factor on the weight of all older samples at each new sample. Older samples fade within a minute or two.
  static constexpr float kForgetting = 0.9998f;
  // Variance that each weight gains per sample. Without it, an hour of perfectly constant motion would make
  // the weights so certain that learning anything else would take an hour.
  static constexpr float kDrift = 1e-8f;
  static constexpr float kNoiseGain = 0.002f;  // share of a sample in noise_, after the first samples
  static constexpr float kMinNoise = 1e-9f;    // squared input units
  static constexpr float kMinSize = 1e-12f;    // squared input units; a smaller sample counts as no motion
  static constexpr float kMaxSize = 1e12f;     // squared input units; a larger sample is ignored as invalid
  static constexpr float kOutlier = 3.0f;      // standard deviations above which an error has less weight

  // At first noise_ is the mean over all samples. Later it is an exponential average over the recent samples.
  void measure_noise(float error2, float samples) {
    noise_gain_ = std::max(noise_gain_ / (1.0f + noise_gain_), std::min(0.5f, kNoiseGain * samples));
    noise_ = std::max(kMinNoise, noise_ + noise_gain_ * (error2 - noise_));
  }

  // The entry (i, j) of the covariance matrix, with j <= i.
  [[nodiscard]] float covariance(std::size_t i, std::size_t j) const {
    if (i == 0) return first_;
    return j == 0 ? border_[i - 1] : block_[i - 1][j - 1];
  }
  // Sets the entry (i, j), with j <= i, and the equal entry (j, i).
  void set_covariance(std::size_t i, std::size_t j, float value) {
    if (i == 0) {
      first_ = value;
    } else if (j == 0) {
      border_[i - 1] = value;
    } else {
      block_[i - 1][j - 1] = block_[j - 1][i - 1] = value;
    }
  }

  void forget_covariance() {
    first_ = kFirstPriorVariance;
    border_ = FourFloats{};
    block_ = {};
    for (std::size_t i = 0; i + 1 < N; ++i)
      block_[i][i] = kPriorVariance;
  }

  void scale_covariance(float factor) {
    first_ *= factor;
    border_ = border_ * factor;
    for (FourFloats& row : block_)
      row = row * factor;
  }

  // The product of the covariance and the inputs x, and `spread` = x' covariance x.
  struct Gain {
    float first = 0.0f;
    FourFloats others{};
    float spread = 0.0f;
  };
  [[nodiscard]] Gain gain_along(const Inputs& x) const {
    Gain gain{first_ * x[0], border_ * x[0]};
    for (std::size_t j = 1; j < N; ++j) {
      gain.first += border_[j - 1] * x[j];
      gain.others += block_[j - 1] * x[j];
    }
    gain.spread = gain.first * x[0];
    for (std::size_t j = 1; j < N; ++j)
      gain.spread += gain.others[j - 1] * x[j];
    return gain;
  }

  // Updates the covariance. The sample reduces it; forgetting (`growth`) and `drift` increase it. The trace
  // of the covariance never exceeds its initial value.
  void shrink(const Gain& gain, float scale, float growth, float drift) {
    first_ = (first_ - gain.first * gain.first * scale) * growth + drift;
    border_ = (border_ - gain.others * gain.first * scale) * growth;
    float trace = first_;
    for (std::size_t i = 0; i + 1 < N; ++i) {
      // The order of the factors keeps the matrix symmetric to the last bit.
      block_[i] = (block_[i] - gain.others * gain.others[i] * scale) * growth;
      block_[i][i] += drift;
      trace += block_[i][i];
    }
    constexpr float kMaxTrace = kFirstPriorVariance + kPriorVariance * (N - 1);
    if (trace > kMaxTrace) scale_covariance(kMaxTrace / trace);
  }

  Inputs weights_{};
  // The symmetric covariance matrix: the variance of the first weight, its covariances with the other
  // weights, and the block of the other weights.
  float first_ = 0.0f;
  FourFloats border_{};
  std::array<FourFloats, N - 1> block_{};
  float noise_ = 0.1f;  // mean square of the errors, squared input units
  // Share of the newest sample in noise_. After the first sample, the sample has one half and the initial
  // guess the other half.
  float noise_gain_ = 1.0f;
};

}  // namespace reckoner
