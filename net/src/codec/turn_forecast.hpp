// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/code_parameters.hpp"
#include "net/src/codec/motion_steps.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include <glm/gtc/quaternion.hpp>

// What is known about three numbers before they are read, and about the second and third once those before
// them are. Both ends compute with it and must agree to the last bit; see motion_steps.hpp.

namespace reckoner {
namespace {

using Vector3 = std::array<double, 3>;
using Matrix3 = std::array<Vector3, 3>;

/// Three numbers that are expected around zero with a covariance of known shape and unknown scale, met one
/// after the other. Conditioning of a normal distribution by elimination.
class Expectation {
 public:
  explicit Expectation(const Matrix3& covariance) : c_(covariance), deviation_(std::sqrt(variance())) {}

  /// What the next is expected to be, given those before.
  [[nodiscard]] double mean() const { return mean_[next_]; }
  /// How far from it, at scale 1.
  [[nodiscard]] double deviation() const { return deviation_; }

  /// The next is `value`. Returns how far from the mean it lies, in deviations: a witness of the scale.
  double met(double value) {
    const double off = value - mean_[next_];
    const double variance_here = variance();
    for (std::size_t i = next_ + 1; i < 3; ++i) {
      const double gain = c_[i][next_] / variance_here;
      mean_[i] = mean_[i] + gain * off;
      for (std::size_t k = next_ + 1; k < 3; ++k)
        c_[i][k] = c_[i][k] - gain * c_[next_][k];
    }
    const double witness = std::abs(off) / deviation_;
    if (++next_ < 3) deviation_ = std::sqrt(variance());
    return witness;
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

/// Covariance of an unforeseen turn as a rotation vector about the world's axes: 1 about the vertical, less
/// about the body's y axis, and less still about any axis.
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

/// The same of the three components of the orientation that travel, in steps: d q = 1/2 turn * q. The sign of
/// the component left out does not matter: it turns all of them.
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

/// The rotation vector from one orientation to another, for small turns.
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
