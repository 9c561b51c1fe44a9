// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/motion_steps.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include <glm/gtc/quaternion.hpp>

// Forecasts of three correlated numbers. After one number is known, it improves the forecasts of the next
// ones. Both ends must get bit-identical results; see motion_steps.hpp.

namespace reckoner {
namespace {

using Vector3 = std::array<double, 3>;
using Matrix3 = std::array<Vector3, 3>;

/// Three normally distributed numbers with mean zero. The shape of the covariance is known, its scale is not.
/// Each number that becomes known changes the distribution of the others (conditioning of a normal
/// distribution by elimination).
class ConditionalNormal {
 public:
  explicit ConditionalNormal(const Matrix3& covariance) : c_(covariance), deviation_(std::sqrt(variance())) {}

  /// Expected value of the next number, given the numbers before it.
  [[nodiscard]] double mean() const { return mean_[next_]; }
  /// Standard deviation of the next number at scale 1.
  [[nodiscard]] double deviation() const { return deviation_; }

  /// Sets the next number to `value`. Returns its distance from the mean in standard deviations, which is
  /// evidence about the scale.
  double observe(double value) {
    const double off = value - mean_[next_];
    const double variance_here = variance();
    for (std::size_t i = next_ + 1; i < 3; ++i) {
      const double gain = c_[i][next_] / variance_here;
      mean_[i] = mean_[i] + gain * off;
      for (std::size_t k = next_ + 1; k < 3; ++k)
        c_[i][k] = c_[i][k] - gain * c_[next_][k];
    }
    const double scale_evidence = std::abs(off) / deviation_;
    if (++next_ < 3) deviation_ = std::sqrt(variance());
    return scale_evidence;
  }

 private:
  [[nodiscard]] double variance() const {
    constexpr double kLeast = 1e-6;
    return c_[next_][next_] > kLeast ? c_[next_][next_] : kLeast;
  }

  Matrix3 c_;
  Vector3 mean_{};
  std::size_t next_ = 0;
  double deviation_;
};

/// Covariance of an unpredicted turn, as a rotation vector about the world's axes. It is 1 about the vertical
/// axis, smaller about the body's y axis, and smallest about any axis.
[[maybe_unused]] inline Matrix3 turn_covariance(const glm::quat& orientation, const Prior& prior) {
  const double w = orientation.w;
  const double x = orientation.x;
  const double y = orientation.y;
  const double z = orientation.z;
  const Vector3 body_y{2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)};
  const double pitch = power_of_two(-int{prior.pitch_share});
  const double other = power_of_two(-int{prior.other_share});
  Matrix3 c{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k)
      c[i][k] = pitch * body_y[i] * body_y[k];
    c[i][i] = c[i][i] + other;
  }
  c[2][2] = c[2][2] + 1.0;
  return c;
}

/// Covariance of the three orientation components that are sent, in steps, for a turn with covariance `turn`:
/// dq = 1/2 turn * q. The sign of the omitted component does not matter, because it changes the signs of all
/// three.
[[maybe_unused]] inline Matrix3 component_covariance(const glm::quat& q, std::size_t left_out,
                                                     double steps_per_unit, const Matrix3& turn) {
  const double w = q.w;
  const double x = q.x;
  const double y = q.y;
  const double z = q.z;
  const std::array<Vector3, 4> rows{Vector3{-x, -y, -z}, {w, z, -y}, {-z, w, x}, {y, -x, w}};
  const double k = 0.5 * steps_per_unit;
  Matrix3 jacobian{};
  for (std::size_t i = 0, n = 0; i < 4; ++i) {
    if (i == left_out) continue;
    for (std::size_t axis = 0; axis < 3; ++axis)
      jacobian[n][axis] = k * rows[i][axis];
    ++n;
  }
  Matrix3 c{};
  for (std::size_t i = 0; i < 3; ++i) {
    Vector3 row{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      row[axis] =
          jacobian[i][0] * turn[0][axis] + jacobian[i][1] * turn[1][axis] + jacobian[i][2] * turn[2][axis];
    }
    for (std::size_t n = 0; n < 3; ++n)
      c[i][n] = row[0] * jacobian[n][0] + row[1] * jacobian[n][1] + row[2] * jacobian[n][2];
  }
  return c;
}

/// Rotation vector from one orientation to another, for small turns.
[[maybe_unused]] inline Vector3 turn_between(const glm::quat& from, const glm::quat& to) {
  const double aw = from.w;
  const double ax = from.x;
  const double ay = from.y;
  const double az = from.z;
  const double bw = to.w;
  const double bx = to.x;
  const double by = to.y;
  const double bz = to.z;
  const double w = bw * aw + bx * ax + by * ay + bz * az;
  const double k = w < 0.0 ? -2.0 : 2.0;
  return {k * (bx * aw - bw * ax - by * az + bz * ay), k * (by * aw - bw * ay - bz * ax + bx * az),
          k * (bz * aw - bw * az - bx * ay + by * ax)};
}

}  // namespace
}  // namespace reckoner
