// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// How a key-framed segment speeds up and slows down: parabolic over the first `ease_from` of it, linear in
/// between, parabolic over the last `ease_to`. C1, from 0 at 0 to 1 at 1, never falling. With a = ease_from,
/// b = ease_to (both scaled to sum 1 if they sum to more) and k = 1/(2 - a - b):
///   t < a: k t^2/a;   t < 1 - b: k (2t - a);   else 1 - k (1 - t)^2/b.
/// This is what 3D Studio's keys have as "ease from" (the key left) and "ease to" (the key reached).
class RECKONER_RECKONING_API Easing {
 public:
  /// Linear: value(t) = t.
  Easing() = default;

  /// Both 0 to 1; what lies outside counts as the nearest, NaN as 0.
  Easing(double ease_from, double ease_to);

  /// t outside 0 to 1 counts as the nearest.
  [[nodiscard]] double value(double t) const;
  [[nodiscard]] double rate(double t) const;         ///< derivative
  [[nodiscard]] double second_rate(double t) const;  ///< second derivative; steps at a and at 1 - b
  [[nodiscard]] double inverse(double value) const;  ///< the t with that value

 private:
  double a_ = 0.0;
  double b_ = 0.0;
  double k_ = 0.5;
};

}  // namespace reckoner
