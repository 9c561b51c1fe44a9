// SPDX-License-Identifier: MIT
#include "motion_serialize.hpp"
#include "motion_steps.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <reckoner/net/motion_codec.hpp>

namespace reckoner {
namespace {

// The gap between publishes that rounding is budgeted for. Motions last a fifth of a second on the busiest
// recorded traces and longer on calm ones, where velocities are small and cheap anyway.
constexpr double kHorizonS = 0.25;

// Share of the threshold that one step of position, velocity x horizon and acceleration x horizon^2/2 may
// take. The rounding error is uniform within half a step on each axis; the sum of the three stays below a
// tenth of the threshold in the root mean square.
constexpr double kPositionShare = 0.11;
constexpr double kVelocityShare = 0.11;
constexpr double kAccelerationShare = 0.11;
constexpr double kAngularShare = 1.0 / 5.0;

// On a route motions last much longer, for nothing but a change of speed ends them: an error of half a step
// of speed stays below half the threshold for 16 s, one of acceleration for a ramp of 2 s.
constexpr double kRouteSpeedStepsPerS = 16.0;
constexpr double kRouteAccelerationStepsPerS2 = 8.0;

constexpr double kMaxAccelerationMps2 = 1e5;
constexpr double kMaxAngularVelocityRps = 1e4;
constexpr double kMostSteps = 2'000'000'000.0;  // in 32 bits with the sign
constexpr double kMostPositionSteps = 7e13;     // in kMostStateBits

template <class T, class Vector>
std::array<T, 3> to_steps(const Vector& v, double step) {
  return {static_cast<T>(std::llround(double{v.x} / step)), static_cast<T>(std::llround(double{v.y} / step)),
          static_cast<T>(std::llround(double{v.z} / step))};
}

template <class T>
bool within(const std::array<T, 3>& steps, double step, double limit) {
  return std::all_of(steps.begin(), steps.end(),
                     [&](T s) { return std::abs(static_cast<double>(s)) * step <= limit; });
}

// Within the limit, and within what travels at the finest step.
template <class Vector>
bool fits(const Vector& v, double limit, double finest_step, double most_steps) {
  const double most = std::min(limit, finest_step * most_steps);
  return std::abs(v.x) <= most && std::abs(v.y) <= most && std::abs(v.z) <= most;
}

glm::vec3 from_steps(const std::array<std::int32_t, 3>& s, double step) {
  return {static_cast<float>(static_cast<double>(s[0]) * step),
          static_cast<float>(static_cast<double>(s[1]) * step),
          static_cast<float>(static_cast<double>(s[2]) * step)};
}

glm::quat dequantise_orientation(const QuantisedState& q, unsigned bits) {
  const double most = largest_steps(bits);
  std::array<double, 4> c{};
  double rest = 1.0;
  for (std::size_t i = 0, k = 0; i < 4; ++i) {
    if (i == q.largest) continue;
    c[i] = static_cast<double>(q.orientation[k++]) / most * kHalfSqrt2;
    rest = rest - c[i] * c[i];
  }
  // Rounding can leave the three a little too long; the largest is then at least as large as they are.
  c[q.largest] = std::sqrt(rest > 0.0 ? rest : 0.0);
  const double norm = std::sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + c[3] * c[3]);
  return {static_cast<float>(c[0] / norm), static_cast<float>(c[1] / norm), static_cast<float>(c[2] / norm),
          static_cast<float>(c[3] / norm)};
}

}  // namespace

Quantisation quantisation_for(const Archetype& archetype) {
  const double threshold_m = archetype.threshold_m;
  const double threshold_rad = archetype.threshold_rad;
  Quantisation q;
  q.position_step_m = threshold_m * kPositionShare;
  q.velocity_step_mps = threshold_m * kVelocityShare / kHorizonS;
  q.acceleration_step_mps2 = threshold_m * kAccelerationShare / (0.5 * kHorizonS * kHorizonS);
  q.angular_velocity_step_rps = threshold_rad * kAngularShare / kHorizonS;
  q.route_distance_step_m = threshold_m * kPositionShare;
  q.route_speed_step_mps = threshold_m / kRouteSpeedStepsPerS;
  q.route_acceleration_step_mps2 = threshold_m / kRouteAccelerationStepsPerS2;
  q.max_speed_mps = archetype.max_speed_mps;
  q.world_size_m = archetype.world_size_m;
  if (archetype.has_orientation) {
    // A step turns by at most about twice itself; a tenth of the threshold each way, 9 to 13 bits.
    q.orientation_bits = 9;
    while (q.orientation_bits < 13 &&
           2.0 * kHalfSqrt2 / largest_steps(q.orientation_bits) > 0.1 * threshold_rad) {
      ++q.orientation_bits;
    }
  }
  return q;
}

bool can_travel(const State& state, const Quantisation& quantisation) {
  // One of the largest steps of room, because rounding may go outwards.
  const Steps coarse = steps_at(quantisation, 0);
  const Steps fine = steps_at(quantisation, kMostPrecision);
  return is_sane(state) &&
         fits(state.position, quantisation.world_size_m - coarse.position_m, fine.position_m,
              kMostPositionSteps) &&
         fits(state.velocity, quantisation.max_speed_mps - coarse.velocity_mps, fine.velocity_mps,
              kMostSteps) &&
         fits(state.acceleration, kMaxAccelerationMps2 - coarse.acceleration_mps2, fine.acceleration_mps2,
              kMostSteps) &&
         fits(state.angular_velocity, kMaxAngularVelocityRps - coarse.angular_velocity_rps,
              fine.angular_velocity_rps, kMostSteps);
}

std::uint8_t precision_for(double scale) {
  const double halvings = -std::floor(std::log2(std::max(scale, 1e-9)));
  return static_cast<std::uint8_t>(std::clamp(kUnitPrecision + halvings, 0.0, double{kMostPrecision}));
}

QuantisedState quantise(const State& state, std::uint8_t teleports, std::uint8_t precision,
                        const Quantisation& quantisation) {
  assert(can_travel(state, quantisation) && precision <= kMostPrecision);
  const Steps steps = steps_at(quantisation, precision);
  QuantisedState out;
  out.teleports = static_cast<std::uint8_t>(teleports % kTeleportModulus);
  out.precision = precision;
  out.position = to_steps<std::int64_t>(state.position, steps.position_m);
  out.velocity = to_steps<std::int32_t>(state.velocity, steps.velocity_mps);
  out.acceleration = to_steps<std::int32_t>(state.acceleration, steps.acceleration_mps2);
  if (steps.orientation_bits == 0) return out;
  out.largest = static_cast<std::uint8_t>(largest_component(state.orientation));
  out.orientation = smallest_three(state.orientation, out.largest, steps.orientation_bits);
  out.angular_velocity = to_steps<std::int32_t>(state.angular_velocity, steps.angular_velocity_rps);
  return out;
}

std::optional<State> dequantise(const QuantisedState& quantised, const Quantisation& quantisation) {
  const Steps steps = steps_at(quantisation, quantised.precision);
  if (!within(quantised.position, steps.position_m, quantisation.world_size_m) ||
      !within(quantised.velocity, steps.velocity_mps, quantisation.max_speed_mps) ||
      !within(quantised.acceleration, steps.acceleration_mps2, kMaxAccelerationMps2) ||
      !within(quantised.angular_velocity, steps.angular_velocity_rps, kMaxAngularVelocityRps)) {
    return std::nullopt;
  }
  State state;
  for (int i = 0; i < 3; ++i) {
    state.position[i] =
        static_cast<double>(quantised.position[static_cast<std::size_t>(i)]) * steps.position_m;
  }
  state.velocity = from_steps(quantised.velocity, steps.velocity_mps);
  state.acceleration = from_steps(quantised.acceleration, steps.acceleration_mps2);
  if (steps.orientation_bits != 0) {
    state.orientation = dequantise_orientation(quantised, steps.orientation_bits);
    state.angular_velocity = from_steps(quantised.angular_velocity, steps.angular_velocity_rps);
  }
  return state;
}

void write_full(BitWriter& writer, const QuantisedState& state, const Quantisation& quantisation) {
  wire::BitOutputArchive archive{writer};
  QuantisedState copy = state;
  serialize_state(archive, copy, quantisation.orientation_bits);
}

QuantisedState read_full(BitReader& reader, const Quantisation& quantisation) {
  wire::BitInputArchive archive{reader};
  QuantisedState state;
  serialize_state(archive, state, quantisation.orientation_bits);
  return state;
}

}  // namespace reckoner
