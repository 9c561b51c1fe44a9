// SPDX-License-Identifier: MIT
#include "net/src/codec/motion_codec.hpp"

#include "net/src/codec/codes_text.hpp"
#include "net/src/codec/motion_serialize.hpp"
#include "net/src/codec/motion_steps.hpp"
#include "net/src/codec/turn_forecast.hpp"
#include "reckoning/src/motion/portable_math.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace reckoner {
namespace {

// Steps as shares of the threshold. A new position has a root mean square rounding error below a tenth of the
// threshold. For rates, the share is the displacement that one step causes within the reach. The shares of
// the rates are slightly larger than that of the position, because each rate is rounded so that it cancels,
// at the reach, the errors of the numbers before it. So the error also stays below a tenth while the motion
// is in use (measured on recorded traces: 0.06 to 0.09).
constexpr double kPositionShare = 0.185;
constexpr double kVelocityShare = 0.222;
constexpr double kAccelerationShare = 0.296;
constexpr double kOrientationShare = 0.06;
constexpr double kAngularShare = 0.27;

// Motions on a route last much longer, because only a change of speed ends them. A speed error of half a step
// stays below half the threshold for 16 s. An acceleration error of half a step does so for a ramp of 2 s.
constexpr double kRouteDistanceShare = 0.11;
constexpr double kRouteSpeedStepsPerS = 16.0;
constexpr double kRouteAccelerationStepsPerS2 = 8.0;

constexpr double kMaxAngularVelocityRps = 1e4;
constexpr double kMaxSteps = 1'000'000'000.0;  // fits in kRateBits bits
constexpr double kMaxPositionSteps = 7e13;     // fits in kStateBits bits

// Converts a rate to steps. The clamp keeps it within the limit, because the rate was changed to cancel other
// rounding errors.
std::int32_t to_steps(double rate, double step, double limit) {
  const double most = limit - step;
  return static_cast<std::int32_t>(nearest(std::clamp(rate, -most, most) / step));
}

// Rounds position, velocity and acceleration. The velocity cancels the position's rounding error at the
// reach. The acceleration cancels the remaining error of both, unless it describes the past
// (MotionTransition::bends). If velocity and acceleration are zero, they stay zero, so that rest is exact.
void round_translation(const State& state, const Steps& steps, double max_speed_mps, double reach_s,
                       QuantisedState& out) {
  for (std::size_t i = 0; i < 3; ++i) {
    const auto axis = static_cast<glm::length_t>(i);
    const double position = state.position[axis];
    const double velocity = state.velocity[axis];
    const double acceleration = state.acceleration[axis];
    out.position[i] = nearest(position / steps.position_m);
    if (velocity == 0.0 && acceleration == 0.0) continue;
    double off_m = static_cast<double>(out.position[i]) * steps.position_m - position;
    out.velocity[i] = to_steps(velocity - off_m / reach_s, steps.velocity_mps, max_speed_mps);
    off_m += (static_cast<double>(out.velocity[i]) * steps.velocity_mps - velocity) * reach_s;
    if (out.coding_mode.steady) continue;
    const double undone = out.coding_mode.bends ? 0.0 : 2.0 * off_m / (reach_s * reach_s);
    out.acceleration[i] = to_steps(acceleration - undone, steps.acceleration_mps2, kMaxAccelerationMps2);
  }
}

// Rounds orientation and angular velocity. The angular velocity cancels the orientation's rounding error at
// the reach.
void round_rotation(const State& state, const Steps& steps, double reach_s, QuantisedState& out) {
  out.largest = static_cast<std::uint8_t>(largest_component(state.orientation));
  out.orientation = smallest_three(state.orientation, out.largest, steps.orientation_bits);
  const Vector3 off_rad =
      turn_between(state.orientation, dequantise_orientation(out, steps.orientation_bits));
  for (std::size_t i = 0; i < 3; ++i) {
    const double rate = state.angular_velocity[static_cast<glm::length_t>(i)];
    if (rate == 0.0) continue;
    out.angular_velocity[i] =
        to_steps(rate - off_rad[i] / reach_s, steps.angular_velocity_rps, kMaxAngularVelocityRps);
  }
}

template <class T>
bool within(const std::array<T, 3>& steps, double step, double limit) {
  return std::all_of(steps.begin(), steps.end(),
                     [&](T s) { return std::abs(static_cast<double>(s)) * step <= limit; });
}

// Largest value that can be sent: one step below the limit, because rounding may increase it, and at most
// `most_steps` steps.
double encodable_limit(double limit, double step, double most_steps) {
  return std::min(limit - step, step * most_steps);
}

template <class Vector>
bool fits(const Vector& v, double limit, double step, double most_steps) {
  const double most = encodable_limit(limit, step, most_steps);
  return std::abs(v.x) <= most && std::abs(v.y) <= most && std::abs(v.z) <= most;
}

CallError find_misfit(const State& state, const Quantisation& q, const Steps& steps) {
  if (!fits(state.position, q.world_size_m, steps.position_m, kMaxPositionSteps))
    return CallError::outside_world;
  if (!fits(state.velocity, q.max_speed_mps, steps.velocity_mps, kMaxSteps)) return CallError::too_fast;
  const bool rates_fit =
      fits(state.acceleration, kMaxAccelerationMps2, steps.acceleration_mps2, kMaxSteps) &&
      fits(state.angular_velocity, kMaxAngularVelocityRps, steps.angular_velocity_rps, kMaxSteps);
  return rates_fit ? CallError::none : CallError::beyond_limits;
}

bool fits(const State& state, const Quantisation& q, const Steps& steps) {
  return find_misfit(state, q, steps) == CallError::none;
}

template <class Vector>
Vector clamped(Vector v, double limit, double step, double most_steps) {
  using Number = typename Vector::value_type;
  const double wanted = std::max(0.0, encodable_limit(limit, step, most_steps));
  Number most = static_cast<Number>(wanted);
  // The conversion to float rounded up.
  if (static_cast<double>(most) > wanted) most = std::nextafter(most, Number{0});
  for (glm::length_t i = 0; i < 3; ++i)
    v[i] = std::isfinite(v[i]) ? std::clamp(v[i], -most, most) : Number{0};
  return v;
}

// Reduces reach and precision until all numbers fit. Large numbers do not fit if the steps are very small.
CodingMode coarsened_to_fit(CodingMode coding_mode, const State& state, const Quantisation& q) {
  while (!fits(state, q, steps_at(q, coding_mode.precision, coding_mode.reach))) {
    if (coding_mode.reach > 0) {
      --coding_mode.reach;
    } else if (coding_mode.precision > 0) {
      --coding_mode.precision;
    } else {
      break;
    }
  }
  return coding_mode;
}

glm::vec3 from_steps(const std::array<std::int32_t, 3>& s, double step) {
  return {static_cast<float>(static_cast<double>(s[0]) * step),
          static_cast<float>(static_cast<double>(s[1]) * step),
          static_cast<float>(static_cast<double>(s[2]) * step)};
}

}  // namespace

Quantisation quantisation_for(const Archetype& archetype) {
  const double threshold_m = archetype.threshold_m;
  const double threshold_rad = archetype.threshold_rad;
  Quantisation q;
  if (const auto orders = read_codes(archetype.codes)) q.codes.orders = *orders;
  q.position_step_m = threshold_m * kPositionShare;
  q.velocity_step_mps = threshold_m * kVelocityShare / kShortestReachS;
  q.acceleration_step_mps2 = threshold_m * kAccelerationShare / (0.5 * kShortestReachS * kShortestReachS);
  q.angular_velocity_step_rps = threshold_rad * kAngularShare / kShortestReachS;
  q.route_distance_step_m = threshold_m * kRouteDistanceShare;
  q.route_speed_step_mps = threshold_m / kRouteSpeedStepsPerS;
  q.route_acceleration_step_mps2 = threshold_m / kRouteAccelerationStepsPerS2;
  q.max_speed_mps = archetype.max_speed_mps;
  q.world_size_m = archetype.world_size_m;
  q.never_reverses = archetype.never_reverses;
  q.floor = archetype.floor.get();
  q.walls = archetype.walls.get();
  q.quiet.error_m = static_cast<float>(threshold_m);
  q.quiet.error_rad = static_cast<float>(threshold_rad);
  if (archetype.has_orientation) {
    // The root mean square error of rounding is a turn of about one step.
    q.orientation_bits = 9;
    while (q.orientation_bits < 13 &&
           kHalfSqrt2 / largest_steps(q.orientation_bits) > kOrientationShare * threshold_rad) {
      ++q.orientation_bits;
    }
  }
  return q;
}

CallError find_unencodable(const State& state, const Quantisation& quantisation) {
  if (!is_sane(state)) return CallError::not_finite;
  return find_misfit(state, quantisation, steps_at(quantisation, 0, 0));
}

bool is_encodable(const State& state, const Quantisation& quantisation) {
  return find_unencodable(state, quantisation) == CallError::none;
}

State nearest_encodable(const State& state, const Quantisation& q) {
  const Steps steps = steps_at(q, 0, 0);
  State s = state;
  s.position = clamped(s.position, q.world_size_m, steps.position_m, kMaxPositionSteps);
  s.velocity = clamped(s.velocity, q.max_speed_mps, steps.velocity_mps, kMaxSteps);
  s.acceleration = clamped(s.acceleration, kMaxAccelerationMps2, steps.acceleration_mps2, kMaxSteps);
  s.angular_velocity =
      clamped(s.angular_velocity, kMaxAngularVelocityRps, steps.angular_velocity_rps, kMaxSteps);
  if (!is_sane(s)) s.orientation = State{}.orientation;
  return s;
}

std::uint8_t precision_for(double scale) {
  const double halvings = -std::floor(portable::log2(std::max(scale, 1e-9)));
  return static_cast<std::uint8_t>(std::clamp(kUnitPrecision + halvings, 0.0, double{kMaxPrecision}));
}

std::uint8_t reach_for(double horizon_s) {
  std::uint8_t reach = 0;
  while (reach < kMaxReach && std::ldexp(kShortestReachS, reach) < horizon_s)
    ++reach;
  return reach;
}

QuantisedState quantise(const State& state, std::uint8_t teleports, const CodingMode& coding_mode,
                        const Quantisation& quantisation) {
  assert(is_encodable(state, quantisation) && coding_mode.precision <= kMaxPrecision &&
         coding_mode.reach <= kMaxReach && coding_mode.prior < kPriorCount &&
         coding_mode.wander <= kMaxWander && coding_mode.twist <= kMaxTwist);
  QuantisedState out;
  out.teleports = static_cast<std::uint8_t>(teleports % kTeleportModulus);
  out.coding_mode = coarsened_to_fit(coding_mode, state, quantisation);
  const Steps steps = steps_at(quantisation, out);
  const double reach_s = kShortestReachS * power_of_two(out.coding_mode.reach);
  round_translation(state, steps, quantisation.max_speed_mps, reach_s, out);
  if (steps.orientation_bits != 0) {
    round_rotation(state, steps, reach_s, out);
  } else {
    out.coding_mode.twist = CodingMode{}.twist;  // not sent
  }
  return out;
}

QuantisedState quantise(const State& state, std::uint8_t teleports, std::uint8_t precision,
                        const Quantisation& quantisation) {
  return quantise(state, teleports, CodingMode{.precision = precision}, quantisation);
}

std::optional<State> dequantise(const QuantisedState& quantised, const Quantisation& quantisation) {
  const Steps steps = steps_at(quantisation, quantised);
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
