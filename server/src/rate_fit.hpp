// SPDX-License-Identifier: MIT
#pragma once

#include "least_squares.hpp"

#include <array>
#include <cstddef>

#include <glm/vec3.hpp>

namespace reckoner {

/// Learns, from an entity's own past, what its mean velocity (or angular velocity) over the coming horizon
/// will be. Four guesses compete: the rate as it is; the rate carried on by its own derivative; none at all;
/// and a linear predictor over the rates of the last third of a second, learned online with one set of
/// weights for the horizontal axes and one for the vertical, because gravity and jumps obey other laws than
/// steering. Each guess counts by how well it did in the recent past, so that a guess which is clearly best
/// decides alone.
///
/// One per entity and kind of rate; a value, no allocation. Fed once a tick.
class RateFit {
 public:
  RateFit(double tick_rate_hz, double horizon_s);

  /// The next tick: the rate now, its derivative, and how far the entity has come (m or rad) over the last
  /// horizon_ticks() ticks; null if it has not existed, or not been in one piece, for so long.
  void observe(const glm::vec3& rate, const glm::vec3& derivative, const glm::dvec3* moved);

  /// After a teleport: the recent past no longer connects; what was learned about the entity still holds.
  void restart() { filled_ = 0; }

  /// The mean rate expected over the coming horizon.
  [[nodiscard]] glm::dvec3 mean_rate() const;

  [[nodiscard]] std::size_t horizon_ticks() const { return horizon_ticks_; }

 private:
  static constexpr std::size_t kInputs = 8;
  static constexpr std::size_t kGuesses = 4;
  static constexpr std::size_t kPast = 64;  // ticks; holds horizon and lags in full at up to 115 Hz
  using Predictor = LeastSquares<kInputs>;

  struct Past {
    glm::vec3 rate{0.0f};
    glm::vec3 derivative{0.0f};
  };

  [[nodiscard]] const Past& past(std::size_t ticks_ago) const;
  [[nodiscard]] Predictor::Inputs inputs(std::size_t ticks_ago, int axis) const;
  [[nodiscard]] std::array<glm::dvec3, kGuesses> guesses(std::size_t ticks_ago) const;
  [[nodiscard]] Predictor& predictor(int axis) { return axis == kUpAxis ? vertical_ : horizontal_; }
  [[nodiscard]] const Predictor& predictor(int axis) const {
    return axis == kUpAxis ? vertical_ : horizontal_;
  }

  static constexpr int kUpAxis = 2;

  std::size_t horizon_ticks_;
  double horizon_s_;
  double memory_;                            // share of an old error that is kept each tick
  std::array<std::size_t, kInputs> lags_{};  // ticks
  std::array<Past, kPast> past_{};           // ring; newest at next_ - 1
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
  Predictor horizontal_;
  Predictor vertical_;
  std::array<double, kGuesses> errors_{};  // recent mean squares of each guess
};

}  // namespace reckoner
