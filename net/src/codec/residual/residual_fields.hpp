// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/motion_steps.hpp"
#include "net/src/codec/turn_forecast.hpp"
#include "net/src/wire/prefix_code.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <reckoner/reckoning/motion.hpp>

// Defines the residual encoding once, for writing, reading and measuring it. A Coder receives one number
// after the other, each with its forecast and its expected deviation. Both ends must get bit-identical
// results; see motion_steps.hpp.

namespace reckoner {
namespace {

// Limits quantised numbers and forecasts, so that no difference overflows the prefix code.
inline constexpr double kMaxForecast = 7e13;
inline constexpr std::int64_t kMaxPosition = std::int64_t{1} << (kStateBits - 1);
inline constexpr std::int64_t kMaxRate = (std::int64_t{1} << (kRateBits - 1)) - 1;
inline constexpr double kGain = 1.0 / 16.0;

inline std::int64_t to_forecast(double steps) {
  if (!(steps > -kMaxForecast)) return -static_cast<std::int64_t>(kMaxForecast);  // also catches NaN
  return nearest(std::min(steps, kMaxForecast));
}

/// Size in steps as a number of half octaves, from 0.
inline unsigned size_class(double steps) {
  constexpr double kMost = 1e9;
  if (!(steps > 0.0)) return 0;
  const auto size = static_cast<std::uint64_t>(4.0 * (1.0 + std::min(steps, kMost)));
  const auto octave = static_cast<unsigned>(std::bit_width(size)) - 1;
  return 2 * (octave - 2) + static_cast<unsigned>((size >> (octave - 1)) & 1u);
}

[[maybe_unused]] inline unsigned order_of_class(const OrderRule& rule, unsigned size_class) {
  const int sixteenths = int{rule.slope} * static_cast<int>(size_class) + rule.offset;
  return static_cast<unsigned>(std::clamp(sixteenths / 16, 0, int{wire::kMaxPrefixOrder}));
}
[[maybe_unused]] inline unsigned order_of(const OrderRule& rule, double expected_steps) {
  return order_of_class(rule, size_class(expected_steps));
}

/// Everything that both ends know before the first number: the baseline, its prediction and the steps.
struct ResidualContext {
  const CodeParameters& codes;
  const Prior& prior;
  Steps steps;
  const State& baseline;
  const State& forecast;
  double dt_s;
  double wander_m;   ///< expected distance from the forecast, m
  double twist_rad;  ///< expected turn from the forecast, rad

  [[nodiscard]] double per_dt() const { return dt_s > 0.0 ? 1.0 / dt_s : 0.0; }
};

/// Growth of the unpredicted movement with time: t^(3/2), as for a random walk of the velocity. 1 at
/// kShortestReachS.
[[maybe_unused]] inline double spread_after(double dt_s) {
  const double share = dt_s > 0.0 ? dt_s / kShortestReachS : 0.0;
  return share * std::sqrt(share);
}

/// The archetype's orientation step at the unit precision, rad.
[[maybe_unused]] inline double unit_turn_rad(const Quantisation& q) {
  return q.orientation_bits == 0 ? 0.0 : kHalfSqrt2 / largest_steps(q.orientation_bits);
}

/// Codes position, velocity and acceleration as differences from their forecasts, axis by axis.
template <class Coder>
class TranslationCoder {
 public:
  TranslationCoder(Coder& coder, QuantisedState& state, const ResidualContext& known)
      : coder_(coder), state_(state), context_(known), per_dt_(known.per_dt()) {}

  void code() {
    const State& b = context_.baseline;
    const double acceleration_share = 0.5 *
                                      std::sqrt(double{b.acceleration.x} * double{b.acceleration.x} +
                                                double{b.acceleration.y} * double{b.acceleration.y}) *
                                      context_.dt_s * context_.dt_s / context_.steps.position_m;
    const double wandered = 0.5 * (acceleration_share + context_.wander_m / context_.steps.position_m);
    position(0, CodeField::position_x, wandered);
    position(1, CodeField::position_y, 0.5 * (std::abs(off_m_[0]) / context_.steps.position_m + wandered));
    if (!coder_.rest_as_forecast(off_m_[0] == 0.0 && off_m_[1] == 0.0,
                                 [&] { return is_as_forecast(0) && is_as_forecast(1); })) {
      velocity(0, CodeField::velocity_x, (std::abs(off_m_[0]) + 0.5 * std::abs(off_m_[1])) * per_dt_);
      velocity(1, CodeField::velocity_y,
               (std::abs(off_m_[1]) + 0.5 * std::abs(off_m_[0])) * per_dt_ + 0.5 * std::abs(off_mps_[0]));
      acceleration(0, CodeField::acceleration_x, expected_acceleration_error(0));
      acceleration(1, CodeField::acceleration_y, expected_acceleration_error(1) + std::abs(off_mps2_[0]));
    } else {
      assign_forecast(0);
      assign_forecast(1);
    }
    const double climbed =
        (std::abs(double{b.velocity.z}) + std::abs(double{b.acceleration.z}) * context_.dt_s) *
        context_.dt_s / context_.steps.position_m;
    position(2, CodeField::position_z, climbed);
    if (!coder_.rest_as_forecast(off_m_[2] == 0.0, [&] { return is_as_forecast(2); })) {
      velocity(2, CodeField::velocity_z, std::abs(off_m_[2]) * per_dt_);
      acceleration(2, CodeField::acceleration_z, expected_acceleration_error(2));
    } else {
      assign_forecast(2);
    }
  }

 private:
  static glm::length_t axis_of(std::size_t i) { return static_cast<glm::length_t>(i); }

  // Expected error of the acceleration forecast, when the errors of position and velocity are known, m/s^2.
  [[nodiscard]] double expected_acceleration_error(std::size_t i) const {
    return (std::abs(off_mps_[i]) + std::abs(off_m_[i]) * per_dt_) * per_dt_;
  }

  void position(std::size_t i, CodeField field, double expected_steps) {
    const std::int64_t forecast =
        to_forecast(context_.forecast.position[axis_of(i)] / context_.steps.position_m);
    coder_.number(field, state_.position[i], forecast, kMaxPosition, expected_steps);
    off_m_[i] = static_cast<double>(state_.position[i] - forecast) * context_.steps.position_m;
  }

  [[nodiscard]] std::int64_t velocity_forecast(std::size_t i) const {
    const double speed = double{context_.forecast.velocity[axis_of(i)]} +
                         kGain * context_.codes.velocity[0] * off_m_[i] * per_dt_ +
                         kGain * context_.codes.velocity[1] *
                             double{context_.baseline.acceleration[axis_of(i)]} * context_.dt_s;
    return to_forecast(speed / context_.steps.velocity_mps);
  }

  void velocity(std::size_t i, CodeField field, double expected_mps) {
    const std::int64_t forecast = velocity_forecast(i);
    coder_.number(field, state_.velocity[i], forecast, kMaxRate, expected_mps / context_.steps.velocity_mps);
    off_mps_[i] = static_cast<double>(state_.velocity[i] - forecast) * context_.steps.velocity_mps;
  }

  [[nodiscard]] std::int64_t acceleration_forecast(std::size_t i) const {
    if (state_.coding_mode.steady) return 0;
    const auto& gain = i == 2 ? context_.prior.vertical : context_.prior.horizontal;
    const double speed = static_cast<double>(state_.velocity[i]) * context_.steps.velocity_mps;
    const double dv = speed - double{context_.forecast.velocity[axis_of(i)]};
    const double acceleration =
        kGain * (gain[0] * double{context_.baseline.acceleration[axis_of(i)]} +
                 (gain[1] * off_m_[i] * per_dt_ + gain[2] * dv) * per_dt_ + gain[3] * speed);
    return to_forecast(acceleration / context_.steps.acceleration_mps2);
  }

  void acceleration(std::size_t i, CodeField field, double expected_mps2) {
    if (state_.coding_mode.steady) return coder_.assume(state_.acceleration[i], 0, kMaxRate);
    const std::int64_t forecast = acceleration_forecast(i);
    coder_.number(field, state_.acceleration[i], forecast, kMaxRate,
                  expected_mps2 / context_.steps.acceleration_mps2);
    off_mps2_[i] = static_cast<double>(state_.acceleration[i] - forecast) * context_.steps.acceleration_mps2;
  }

  // If the position was exactly as forecast, the rates often are, too.
  [[nodiscard]] bool is_as_forecast(std::size_t i) const {
    return state_.velocity[i] == velocity_forecast(i) && state_.acceleration[i] == acceleration_forecast(i);
  }
  void assign_forecast(std::size_t i) {
    coder_.assume(state_.velocity[i], velocity_forecast(i), kMaxRate);
    coder_.assume(state_.acceleration[i], acceleration_forecast(i), kMaxRate);
  }

  Coder& coder_;
  QuantisedState& state_;
  const ResidualContext& context_;
  double per_dt_;
  Vector3 off_m_{};
  Vector3 off_mps_{};
  Vector3 off_mps2_{};
};

/// Codes orientation and angular velocity as differences from their forecasts.
template <class Coder>
class RotationCoder {
 public:
  RotationCoder(Coder& coder, QuantisedState& state, const ResidualContext& known)
      : coder_(coder), state_(state), context_(known) {}

  void code() {
    const glm::quat& q = context_.forecast.orientation;
    const Matrix3 turn = turn_covariance(q, context_.prior);
    code_orientation(q, turn);
    code_rates(q, turn);
  }

 private:
  void code_orientation(const glm::quat& q, const Matrix3& turn) {
    const unsigned bits = context_.steps.orientation_bits;
    const double most = largest_steps(bits);
    const auto three = smallest_three(q, state_.largest, bits);
    ConditionalNormal expectation{component_covariance(q, state_.largest, most / kHalfSqrt2, turn)};
    const double prior = context_.twist_rad;
    double scale = prior;
    double scale_evidence = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto field = static_cast<CodeField>(static_cast<std::size_t>(CodeField::orientation_1) + i);
      const std::int64_t forecast =
          to_forecast(std::clamp(static_cast<double>(three[i]) + expectation.mean(), -most, most));
      coder_.number(field, state_.orientation[i], forecast, static_cast<std::int64_t>(most),
                    scale * expectation.deviation());
      scale_evidence += expectation.observe(static_cast<double>(state_.orientation[i] - three[i]));
      scale = i == 0 ? 0.6 * scale_evidence + 0.4 * prior : 0.4 * scale_evidence + 0.2 * prior;
    }
    still_ = state_.orientation == three;
  }

  void code_rates(const glm::quat& q, const Matrix3& turn) {
    const Vector3 turned = turn_between(q, dequantise_orientation(state_, context_.steps.orientation_bits));
    constexpr std::array<std::size_t, 3> kOrder{2, 0, 1};
    Matrix3 ordered{};
    Vector3 forecast{};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t axis = kOrder[i];
      const auto& gain = axis == 2 ? context_.prior.yaw : context_.prior.tilt;
      const double still_turning =
          double{context_.baseline.angular_velocity[static_cast<glm::length_t>(axis)]};
      forecast[i] = kGain * (gain[0] * still_turning + gain[1] * turned[axis] * context_.per_dt()) /
                    context_.steps.angular_velocity_rps;
      for (std::size_t k = 0; k < 3; ++k)
        ordered[i][k] = turn[axis][kOrder[k]];
    }
    const auto plain = [&] {
      for (std::size_t i = 0; i < 3; ++i) {
        if (state_.angular_velocity[kOrder[i]] != to_forecast(forecast[i])) return false;
      }
      return true;
    };
    if (coder_.rest_as_forecast(still_, plain)) {
      for (std::size_t i = 0; i < 3; ++i)
        coder_.assume(state_.angular_velocity[kOrder[i]], to_forecast(forecast[i]), kMaxRate);
      return;
    }
    // An entity that turned about an axis usually continues to. The two horizontal axes are treated as one.
    const double tilted = std::sqrt(turned[0] * turned[0] + turned[1] * turned[1]);
    const glm::vec3& w = context_.baseline.angular_velocity;
    const double tilting = std::sqrt(double{w.x} * double{w.x} + double{w.y} * double{w.y});
    const double tilt =
        (0.7 * tilted * context_.per_dt() + 0.2 * tilting) / context_.steps.angular_velocity_rps;
    const double yaw = (0.7 * std::abs(turned[2]) * context_.per_dt() + 0.2 * std::abs(double{w.z})) /
                       context_.steps.angular_velocity_rps;
    ConditionalNormal expectation{ordered};
    double scale_evidence = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto field = static_cast<CodeField>(static_cast<std::size_t>(CodeField::turn_z) + i);
      const std::size_t axis = kOrder[i];
      const double deviation = expectation.deviation();
      const double expected =
          i == 0   ? yaw + 0.2 * tilt
          : i == 1 ? 0.7 * tilt + 0.15 * deviation * (yaw + scale_evidence)
                   : 0.7 * tilt * std::min(1.0, 2.0 * deviation) + 0.3 * deviation * scale_evidence;
      coder_.number(field, state_.angular_velocity[axis], to_forecast(forecast[i] + expectation.mean()),
                    kMaxRate, expected);
      scale_evidence += (i == 0 ? 1.0 : 0.5) *
                        expectation.observe(static_cast<double>(state_.angular_velocity[axis]) - forecast[i]);
    }
  }

  Coder& coder_;
  QuantisedState& state_;
  const ResidualContext& context_;
  bool still_ = false;
};

inline constexpr unsigned kMotionLinkBits = 2;
static_assert(MotionTransition::kLinks == 1u << kMotionLinkBits);

/// Codes the coding mode and the index of the omitted orientation component. Usually the mode equals the
/// baseline's and the index is as expected; one bit says so. Otherwise a reserved bit follows, for future
/// extensions.
template <class Coder>
void code_coding_mode(Coder& coder, QuantisedState& state, const CodingMode& baseline, std::uint8_t largest,
                      bool turns) {
  CodingMode& coding_mode = state.coding_mode;
  if (coder.flag([&] { return coding_mode == baseline && state.largest == largest; })) {
    coding_mode = baseline;
    state.largest = largest;
    return;
  }
  coder.reserved();
  coder.choice(coding_mode.precision, baseline.precision, 4);
  coder.choice(coding_mode.reach, baseline.reach, 2);
  coder.choice(coding_mode.prior, baseline.prior, 2);
  coder.choice(coding_mode.wander, baseline.wander, 3);
  coding_mode.bends = coder.flag([&] { return coding_mode.bends; });
  coding_mode.steady = !coding_mode.bends && coder.flag([&] { return coding_mode.steady; });
  if (!turns) return;
  coder.choice(coding_mode.twist, baseline.twist, 3);
  coder.choice(state.largest, largest, 2);
}

/// A baseline and its prediction. The baseline must be a free motion that dequantise() accepts.
struct ExpectedMotion {
  State then;
  State forecast;
};
[[maybe_unused]] inline ExpectedMotion expected_motion_from(const QuantisedState& baseline, double dt_s,
                                                            const Quantisation& quantisation) {
  const State then = dequantise(baseline, quantisation).value_or(State{});
  return {then, extrapolate(then, dt_s)};
}

template <class Coder>
void code_residual(Coder& coder, QuantisedState& state, const QuantisedState& baseline,
                   const ExpectedMotion& expected_motion, double dt_s, const Quantisation& quantisation) {
  const bool turns = quantisation.orientation_bits != 0;
  const auto largest =
      static_cast<std::uint8_t>(turns ? largest_component(expected_motion.forecast.orientation) : 0);
  state.teleports = baseline.teleports;
  state.frame = baseline.frame;
  code_coding_mode(coder, state, baseline.coding_mode, largest, turns);
  if (state.coding_mode.bends) coder.bits(state.link, kMotionLinkBits);
  state.sudden = state.coding_mode.steady && coder.flag([&] { return state.sudden; });
  const double spread = spread_after(dt_s);
  const ResidualContext known{quantisation.codes,
                              quantisation.codes.priors[state.coding_mode.prior],
                              steps_at(quantisation, state),
                              expected_motion.then,
                              expected_motion.forecast,
                              dt_s,
                              spread * power_of_two(state.coding_mode.wander) * quantisation.position_step_m,
                              spread * power_of_two(state.coding_mode.twist) * unit_turn_rad(quantisation)};
  TranslationCoder<Coder>{coder, state, known}.code();
  if (turns) RotationCoder<Coder>{coder, state, known}.code();
}

}  // namespace
}  // namespace reckoner
