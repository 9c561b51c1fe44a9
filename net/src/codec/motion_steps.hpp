// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/motion_serialize.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <glm/gtc/quaternion.hpp>

// Conversion between numbers and steps, for the codecs. Both ends must get bit-identical results. So this
// file uses only IEEE operations, and is included only in files compiled without floating-point contraction.
// Everything has internal linkage, so that the linker cannot substitute a copy compiled with other options.

namespace reckoner {
namespace {

// Upper limit of every component except the largest.
inline constexpr double kHalfSqrt2 = 0.70710678118654752440;

/// 2^exponent, exactly. Equals std::ldexp(1.0, exponent), without the call.
[[maybe_unused]] inline double power_of_two(int exponent) {
  constexpr int kBias = 1023;
  return std::bit_cast<double>(static_cast<std::uint64_t>(kBias + exponent) << 52);
}

/// Rounds to the nearest integer, halves away from zero. Equals std::llround(), without the call. |x| < 2^62.
[[maybe_unused]] inline std::int64_t nearest(double x) {
  const auto whole = static_cast<std::int64_t>(x);
  const double rest = x - static_cast<double>(whole);
  return whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
}

/// The archetype's steps at one precision and reach. They differ only by powers of two, so both ends compute
/// identical values.
struct Steps {
  double position_m;
  double velocity_mps;
  double acceleration_mps2;
  double angular_velocity_rps;
  unsigned orientation_bits;
};

[[maybe_unused]] inline Steps steps_at(const Quantisation& q, std::uint8_t precision, std::uint8_t reach) {
  const double k = power_of_two(int{kUnitPrecision} - int{precision});
  const double rate = k * power_of_two(-int{reach});
  return {q.position_step_m * k, q.velocity_step_mps * rate,
          q.acceleration_step_mps2 * (rate * power_of_two(-int{reach})), q.angular_velocity_step_rps * rate,
          orientation_bits_at(q.orientation_bits, precision)};
}

[[maybe_unused]] inline Steps steps_at(const Quantisation& q, const QuantisedState& state) {
  return steps_at(q, state.coding_mode.precision, state.coding_mode.reach);
}

[[maybe_unused]] inline double largest_steps(unsigned orientation_bits) {
  return static_cast<double>((std::int64_t{1} << (orientation_bits - 1)) - 1);
}

[[maybe_unused]] inline std::size_t largest_component(const glm::quat& q) {
  const std::array<float, 4> c{q.w, q.x, q.y, q.z};
  std::size_t largest = 0;
  for (std::size_t i = 1; i < 4; ++i) {
    if (std::abs(c[i]) > std::abs(c[largest])) largest = i;
  }
  return largest;
}

/// Returns three components of an orientation ("smallest three"). The fourth follows from them, because q and
/// -q are one orientation. If the omitted component is not the largest, the three are clamped to the range
/// that can be sent.
[[maybe_unused]] inline std::array<std::int16_t, 3> smallest_three(const glm::quat& q, std::size_t left_out,
                                                                   unsigned bits) {
  const std::array<double, 4> c{q.w, q.x, q.y, q.z};
  const double norm = std::sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + c[3] * c[3]);
  const double scale = (c[left_out] < 0.0 ? -1.0 : 1.0) / norm;
  const double most = largest_steps(bits);
  std::array<std::int16_t, 3> three{};
  for (std::size_t i = 0, k = 0; i < 4; ++i) {
    if (i == left_out) continue;
    three[k++] = static_cast<std::int16_t>(nearest(std::clamp(c[i] * scale / kHalfSqrt2, -1.0, 1.0) * most));
  }
  return three;
}

[[maybe_unused]] inline glm::quat dequantise_orientation(const QuantisedState& q, unsigned bits) {
  const double most = largest_steps(bits);
  std::array<double, 4> c{};
  double rest = 1.0;
  for (std::size_t i = 0, k = 0; i < 4; ++i) {
    if (i == q.largest) continue;
    c[i] = static_cast<double>(q.orientation[k++]) / most * kHalfSqrt2;
    rest = rest - c[i] * c[i];
  }
  // Rounding may make the sum of the three squares slightly larger than 1.
  c[q.largest] = std::sqrt(rest > 0.0 ? rest : 0.0);
  const double norm = std::sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + c[3] * c[3]);
  return {static_cast<float>(c[0] / norm), static_cast<float>(c[1] / norm), static_cast<float>(c[2] / norm),
          static_cast<float>(c[3] / norm)};
}

}  // namespace
}  // namespace reckoner
