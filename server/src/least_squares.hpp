// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace reckoner {

/// Recursive least squares with exponential forgetting for one linear predictor of N inputs (L. Ljung and T.
/// Söderström, "Theory and Practice of Recursive Identification", 1983, sec. 2.2). It starts as "the first
/// input, unchanged" and learns how the others improve on that.
///
/// Safe for days: the covariance is capped at its prior, so that inputs which stop carrying information
/// cannot wind it up, and the noise that the gain is balanced against is measured, not assumed.
template <std::size_t N>
class LeastSquares {
 public:
  using Inputs = std::array<double, N>;

  LeastSquares() {
    weights_[0] = 1.0;
    for (std::size_t i = 0; i < N; ++i)
      covariance_[i][i] = kPriorVariance;
  }

  [[nodiscard]] double predict(const Inputs& x) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < N; ++i)
      sum += weights_[i] * x[i];
    return sum;
  }

  /// Learns that `x` was followed by `target`.
  void learn(const Inputs& x, double target) {
    Inputs gain{};
    double spread = 0.0;
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = 0; j < N; ++j)
        gain[i] += covariance_[i][j] * x[j];
      spread += x[i] * gain[i];
    }
    const double error = target - predict(x);
    noise_ += kNoiseGain * (error * error - noise_);
    const double scale = 1.0 / (kForgetting * std::max(kLeastNoise, noise_) + spread);

    double trace = 0.0;
    for (std::size_t i = 0; i < N; ++i) {
      weights_[i] += gain[i] * scale * error;
      for (std::size_t j = 0; j < N; ++j) {
        covariance_[i][j] = (covariance_[i][j] - gain[i] * gain[j] * scale) / kForgetting;
      }
      trace += covariance_[i][i];
    }
    constexpr double kMostTrace = kPriorVariance * N;
    if (trace > kMostTrace) {
      for (auto& row : covariance_) {
        for (double& c : row)
          c *= kMostTrace / trace;
      }
    }
  }

 private:
  static constexpr double kPriorVariance = 1.0;  // of a weight, before anything was seen
  static constexpr double kForgetting = 0.9998;  // a sample: what is older than a minute or two fades
  static constexpr double kNoiseGain = 0.002;
  static constexpr double kLeastNoise = 1e-9;  // squared input units; keeps the gain finite at rest

  Inputs weights_{};
  std::array<Inputs, N> covariance_{};
  double noise_ = 1.0;
};

}  // namespace reckoner
