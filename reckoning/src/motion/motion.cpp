// SPDX-License-Identifier: MIT
//
// Server and clients predict with this file and must agree to the last bit, with every compiler and processor
// and in every game. So it uses scalars only, internal linkage, IEEE + - * / and sqrt, and its own sine and
// cosine. It makes no GLM call, because the linker may replace GLM's inline functions by copies that a game
// compiled with -ffast-math. It is compiled without fused multiply-add: by a CMake setting for this file, and
// by the pragma below for compilers that support it.
#include <cmath>

#include <reckoner/reckoning/motion.hpp>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

namespace reckoner {
namespace {

// Smaller numbers count as zero, so that a processor that flushes denormals gets the same result.
constexpr double kTiny = 1e-30;

struct SinCos {
  double sine;
  double cosine;
};

// Sine and cosine of x >= 0 by Taylor polynomials on [-pi/4, pi/4], with an absolute error below 1e-15.
// Subtracting multiples of pi/2 in two parts is exact enough up to about 1e6 rad. A larger angle is
// meaningless anyway, so it is replaced by 1e6 rad.
SinCos sine_and_cosine(double x) {
  constexpr double kTwoOverPi = 0.63661977236758134308;
  constexpr double kHalfPiHigh = 1.57079632673412561417e+00;  // first 33 bits of pi/2
  constexpr double kHalfPiLow = 6.07710050650619224932e-11;   // remainder of pi/2
  constexpr double kLargest = 1e6;
  if (!(x < kLargest)) x = kLargest;

  const auto quadrant = static_cast<long long>(x * kTwoOverPi + 0.5);
  const auto turns = static_cast<double>(quadrant);
  const double r = (x - turns * kHalfPiHigh) - turns * kHalfPiLow;
  const double r2 = r * r;
  double sine = 1.0 / 1307674368000.0;
  sine = 1.0 / 6227020800.0 - r2 * sine;
  sine = 1.0 / 39916800.0 - r2 * sine;
  sine = 1.0 / 362880.0 - r2 * sine;
  sine = 1.0 / 5040.0 - r2 * sine;
  sine = 1.0 / 120.0 - r2 * sine;
  sine = 1.0 / 6.0 - r2 * sine;
  sine = r - r * (r2 * sine);
  double cosine = 1.0 / 20922789888000.0;
  cosine = 1.0 / 87178291200.0 - r2 * cosine;
  cosine = 1.0 / 479001600.0 - r2 * cosine;
  cosine = 1.0 / 3628800.0 - r2 * cosine;
  cosine = 1.0 / 40320.0 - r2 * cosine;
  cosine = 1.0 / 720.0 - r2 * cosine;
  cosine = 1.0 / 24.0 - r2 * cosine;
  cosine = 1.0 / 2.0 - r2 * cosine;
  cosine = 1.0 - r2 * cosine;
  switch (quadrant & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

struct Quaternion {
  double w, x, y, z;
};

Quaternion product(const Quaternion& a, const Quaternion& b) {
  return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
          a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

// The rotation by |w| t about w.
Quaternion turn(double wx, double wy, double wz, double dt_s) {
  const double rate2 = wx * wx + wy * wy + wz * wz;
  if (!(rate2 > kTiny)) return {1.0, 0.0, 0.0, 0.0};
  const double rate = std::sqrt(rate2);
  const double half = 0.5 * rate * dt_s;
  const SinCos s = sine_and_cosine(half < 0.0 ? -half : half);
  const double k = (half < 0.0 ? -s.sine : s.sine) / rate;
  return {s.cosine, wx * k, wy * k, wz * k};
}

double along_velocity(const State& state, const glm::vec3& vector) {
  double sum = 0.0;
  for (int i = 0; i < 3; ++i)
    sum = sum + static_cast<double>(state.velocity[i]) * static_cast<double>(vector[i]);
  return sum;
}

float flushed(double value) {
  constexpr double kSmallestNormalFloat = 1.17549435e-38;
  return value < kSmallestNormalFloat && value > -kSmallestNormalFloat ? 0.0f : static_cast<float>(value);
}

}  // namespace

State extrapolate(const State& state, double dt_s) {
  State out = state;
  const double half_dt = 0.5 * dt_s;
  for (int i = 0; i < 3; ++i) {
    const double v = state.velocity[i];
    const double a = state.acceleration[i];
    out.position[i] = state.position[i] + (v + a * half_dt) * dt_s;
    out.velocity[i] = flushed(v + a * dt_s);
  }
  const Quaternion q =
      product(turn(state.angular_velocity.x, state.angular_velocity.y, state.angular_velocity.z, dt_s),
              {state.orientation.w, state.orientation.x, state.orientation.y, state.orientation.z});
  // Rounding moves the product slightly off unit length; normalise it.
  const double norm2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  const double k = norm2 > kTiny ? 1.0 / std::sqrt(norm2) : 1.0;
  out.orientation.w = flushed(q.w * k);
  out.orientation.x = flushed(q.x * k);
  out.orientation.y = flushed(q.y * k);
  out.orientation.z = flushed(q.z * k);
  return out;
}

bool is_braking(const State& state) {
  return along_velocity(state, state.acceleration) < -kTiny;
}

State extrapolate_braking(const State& state, double dt_s) {
  State out = extrapolate(state, dt_s);
  if (!is_braking(state)) return out;
  const double stop_s = along_velocity(state, state.velocity) / -along_velocity(state, state.acceleration);
  if (!(dt_s > stop_s)) return out;
  // At stop_s the body still moves sideways with the velocity v + a stop_s. From then on it brakes with |a|
  // until it rests.
  double left2 = 0.0;
  double brake2 = 0.0;
  for (int i = 0; i < 3; ++i) {
    const double a = state.acceleration[i];
    const double left = state.velocity[i] + a * stop_s;
    left2 = left2 + left * left;
    brake2 = brake2 + a * a;
  }
  const double slide_s = std::sqrt(left2 / brake2);
  const double since_s = dt_s - stop_s;
  const bool slides = since_s < slide_s;
  const double slid_s = slides ? since_s - 0.5 * since_s * (since_s / slide_s) : 0.5 * slide_s;
  for (int i = 0; i < 3; ++i) {
    const double v = state.velocity[i];
    const double a = state.acceleration[i];
    const double left = v + a * stop_s;
    out.position[i] = state.position[i] + (v + a * (0.5 * stop_s)) * stop_s + left * slid_s;
    out.velocity[i] = slides ? flushed(left * (1.0 - since_s / slide_s)) : 0.0f;
    out.acceleration[i] = slides ? flushed(-left / slide_s) : 0.0f;
  }
  return out;
}

}  // namespace reckoner
