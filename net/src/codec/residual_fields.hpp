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

// What the residual encoding is made of, said once for whoever writes, reads or measures it: a Coder gets one
// number after the other, each with what it is expected to be and how far off it may well lie. Both ends
// compute with it and must agree to the last bit; see motion_steps.hpp.

namespace reckoner {
namespace {

// Of quantised numbers and of forecasts alike, so that no difference overflows what a prefix code takes.
inline constexpr double kMostForecast = 7e13;
inline constexpr std::int64_t kMostPosition = std::int64_t{1} << (kMostStateBits - 1);
inline constexpr std::int64_t kMostRate = (std::int64_t{1} << (kMostRateBits - 1)) - 1;
inline constexpr double kGain = 1.0 / 16.0;

inline std::int64_t to_forecast(double steps) {
  if (!(steps > -kMostForecast)) return -static_cast<std::int64_t>(kMostForecast);  // NaN, too
  return nearest(std::min(steps, kMostForecast));
}

/// Half octaves of a size in steps, from 0.
inline unsigned size_class(double steps) {
  constexpr double kMost = 1e9;
  if (!(steps > 0.0)) return 0;
  const auto size = static_cast<std::uint64_t>(4.0 * (1.0 + std::min(steps, kMost)));
  const auto octave = static_cast<unsigned>(std::bit_width(size)) - 1;
  return 2 * (octave - 2) + static_cast<unsigned>((size >> (octave - 1)) & 1u);
}

[[maybe_unused]] inline unsigned order_of(const OrderRule& rule, double expected_steps) {
  const int sixteenths = int{rule.slope} * static_cast<int>(size_class(expected_steps)) + rule.offset;
  return static_cast<unsigned>(std::clamp(sixteenths / 16, 0, int{wire::kMostPrefixOrder}));
}

/// What both ends know before the first number: the baseline carried forward, and the steps to be used.
struct Known {
  const CodeParameters& codes;
  const Prior& prior;
  Steps steps;
  const State& baseline;
  const State& forecast;
  double dt_s;
  double wander_m;   ///< how far the entity may well be from there
  double twist_rad;  ///< how far it may well be turned from there

  [[nodiscard]] double per_dt() const { return dt_s > 0.0 ? 1.0 / dt_s : 0.0; }
};

/// What is not foreseen grows with the power 3/2 of time, as where velocity wanders at random; 1 after
/// kShortestReachS.
[[maybe_unused]] inline double spread_after(double dt_s) {
  const double share = dt_s > 0.0 ? dt_s / kShortestReachS : 0.0;
  return share * std::sqrt(share);
}

/// The archetype's own step of orientation, rad.
[[maybe_unused]] inline double unit_turn_rad(const Quantisation& q) {
  return q.orientation_bits == 0 ? 0.0 : kHalfSqrt2 / largest_steps(q.orientation_bits);
}

/// Codes how far a motion lies from where it was expected, axis by axis.
template <class Coder>
class PlaceCoder {
 public:
  PlaceCoder(Coder& coder, QuantisedState& state, const Known& known)
      : coder_(coder), state_(state), known_(known), per_dt_(known.per_dt()) {}

  void code() {
    const State& b = known_.baseline;
    const double steered = 0.5 *
                           std::sqrt(double{b.acceleration.x} * double{b.acceleration.x} +
                                     double{b.acceleration.y} * double{b.acceleration.y}) *
                           known_.dt_s * known_.dt_s / known_.steps.position_m;
    const double wandered = 0.5 * (steered + known_.wander_m / known_.steps.position_m);
    position(0, CodeField::position_x, wandered);
    position(1, CodeField::position_y, 0.5 * (std::abs(off_m_[0]) / known_.steps.position_m + wandered));
    if (!coder_.rest_foreseen(off_m_[0] == 0.0 && off_m_[1] == 0.0,
                              [&] { return foreseen(0) && foreseen(1); })) {
      velocity(0, CodeField::velocity_x, (std::abs(off_m_[0]) + 0.5 * std::abs(off_m_[1])) * per_dt_);
      velocity(1, CodeField::velocity_y,
               (std::abs(off_m_[1]) + 0.5 * std::abs(off_m_[0])) * per_dt_ + 0.5 * std::abs(off_mps_[0]));
      acceleration(0, CodeField::acceleration_x, surprise(0));
      acceleration(1, CodeField::acceleration_y, surprise(1) + std::abs(off_mps2_[0]));
    } else {
      take_foreseen(0);
      take_foreseen(1);
    }
    const double climbed =
        (std::abs(double{b.velocity.z}) + std::abs(double{b.acceleration.z}) * known_.dt_s) * known_.dt_s /
        known_.steps.position_m;
    position(2, CodeField::position_z, climbed);
    if (!coder_.rest_foreseen(off_m_[2] == 0.0, [&] { return foreseen(2); })) {
      velocity(2, CodeField::velocity_z, std::abs(off_m_[2]) * per_dt_);
      acceleration(2, CodeField::acceleration_z, surprise(2));
    } else {
      take_foreseen(2);
    }
  }

 private:
  static glm::length_t axis_of(std::size_t i) { return static_cast<glm::length_t>(i); }

  // What is known of the acceleration's error once position and velocity are, m/s^2.
  [[nodiscard]] double surprise(std::size_t i) const {
    return (std::abs(off_mps_[i]) + std::abs(off_m_[i]) * per_dt_) * per_dt_;
  }

  void position(std::size_t i, CodeField field, double expected_steps) {
    const std::int64_t forecast = to_forecast(known_.forecast.position[axis_of(i)] / known_.steps.position_m);
    coder_.number(field, state_.position[i], forecast, kMostPosition, expected_steps);
    off_m_[i] = static_cast<double>(state_.position[i] - forecast) * known_.steps.position_m;
  }

  [[nodiscard]] std::int64_t velocity_forecast(std::size_t i) const {
    const double speed =
        double{known_.forecast.velocity[axis_of(i)]} +
        kGain * known_.codes.velocity[0] * off_m_[i] * per_dt_ +
        kGain * known_.codes.velocity[1] * double{known_.baseline.acceleration[axis_of(i)]} * known_.dt_s;
    return to_forecast(speed / known_.steps.velocity_mps);
  }

  void velocity(std::size_t i, CodeField field, double expected_mps) {
    const std::int64_t forecast = velocity_forecast(i);
    coder_.number(field, state_.velocity[i], forecast, kMostRate, expected_mps / known_.steps.velocity_mps);
    off_mps_[i] = static_cast<double>(state_.velocity[i] - forecast) * known_.steps.velocity_mps;
  }

  [[nodiscard]] std::int64_t acceleration_forecast(std::size_t i) const {
    const auto& gain = i == 2 ? known_.prior.vertical : known_.prior.horizontal;
    const double speed = static_cast<double>(state_.velocity[i]) * known_.steps.velocity_mps;
    const double dv = speed - double{known_.forecast.velocity[axis_of(i)]};
    const double acceleration =
        kGain * (gain[0] * double{known_.baseline.acceleration[axis_of(i)]} +
                 (gain[1] * off_m_[i] * per_dt_ + gain[2] * dv) * per_dt_ + gain[3] * speed);
    return to_forecast(acceleration / known_.steps.acceleration_mps2);
  }

  void acceleration(std::size_t i, CodeField field, double expected_mps2) {
    const std::int64_t forecast = acceleration_forecast(i);
    coder_.number(field, state_.acceleration[i], forecast, kMostRate,
                  expected_mps2 / known_.steps.acceleration_mps2);
    off_mps2_[i] = static_cast<double>(state_.acceleration[i] - forecast) * known_.steps.acceleration_mps2;
  }

  // Where the position was just as expected, the rates often are, too.
  [[nodiscard]] bool foreseen(std::size_t i) const {
    return state_.velocity[i] == velocity_forecast(i) && state_.acceleration[i] == acceleration_forecast(i);
  }
  void take_foreseen(std::size_t i) {
    coder_.assume(state_.velocity[i], velocity_forecast(i), kMostRate);
    coder_.assume(state_.acceleration[i], acceleration_forecast(i), kMostRate);
  }

  Coder& coder_;
  QuantisedState& state_;
  const Known& known_;
  double per_dt_;
  Vector3 off_m_{};
  Vector3 off_mps_{};
  Vector3 off_mps2_{};
};

/// Codes how a motion is turned, and turns, against what was expected.
template <class Coder>
class TurnCoder {
 public:
  TurnCoder(Coder& coder, QuantisedState& state, const Known& known)
      : coder_(coder), state_(state), known_(known) {}

  void code() {
    const glm::quat& q = known_.forecast.orientation;
    const Matrix3 turn = turn_covariance(q, known_.prior);
    code_orientation(q, turn);
    code_rates(q, turn);
  }

 private:
  void code_orientation(const glm::quat& q, const Matrix3& turn) {
    const unsigned bits = known_.steps.orientation_bits;
    const double most = largest_steps(bits);
    const auto three = smallest_three(q, state_.largest, bits);
    Expectation expectation{component_covariance(q, state_.largest, most / kHalfSqrt2, turn)};
    const double prior = known_.twist_rad;
    double scale = prior;
    double witness = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto field = static_cast<CodeField>(static_cast<std::size_t>(CodeField::orientation_1) + i);
      const std::int64_t forecast =
          to_forecast(std::clamp(static_cast<double>(three[i]) + expectation.mean(), -most, most));
      coder_.number(field, state_.orientation[i], forecast, static_cast<std::int64_t>(most),
                    scale * expectation.deviation());
      witness += expectation.met(static_cast<double>(state_.orientation[i] - three[i]));
      scale = i == 0 ? 0.6 * witness + 0.4 * prior : 0.4 * witness + 0.2 * prior;
    }
    still_ = state_.orientation == three;
  }

  void code_rates(const glm::quat& q, const Matrix3& turn) {
    const Vector3 turned = turn_between(q, dequantise_orientation(state_, known_.steps.orientation_bits));
    constexpr std::array<std::size_t, 3> kOrder{2, 0, 1};
    Matrix3 ordered{};
    Vector3 forecast{};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t axis = kOrder[i];
      const auto& gain = axis == 2 ? known_.prior.yaw : known_.prior.tilt;
      const double still_turning = double{known_.baseline.angular_velocity[static_cast<glm::length_t>(axis)]};
      forecast[i] = kGain * (gain[0] * still_turning + gain[1] * turned[axis] * known_.per_dt()) /
                    known_.steps.angular_velocity_rps;
      for (std::size_t k = 0; k < 3; ++k)
        ordered[i][k] = turn[axis][kOrder[k]];
    }
    const auto plain = [&] {
      for (std::size_t i = 0; i < 3; ++i) {
        if (state_.angular_velocity[kOrder[i]] != to_forecast(forecast[i])) return false;
      }
      return true;
    };
    if (coder_.rest_foreseen(still_, plain)) {
      for (std::size_t i = 0; i < 3; ++i)
        coder_.assume(state_.angular_velocity[kOrder[i]], to_forecast(forecast[i]), kMostRate);
      return;
    }
    // What turned about some axis so far goes on to; the horizontal ones belong together.
    const double tilted = std::sqrt(turned[0] * turned[0] + turned[1] * turned[1]);
    const glm::vec3& w = known_.baseline.angular_velocity;
    const double tilting = std::sqrt(double{w.x} * double{w.x} + double{w.y} * double{w.y});
    const double tilt = (0.7 * tilted * known_.per_dt() + 0.2 * tilting) / known_.steps.angular_velocity_rps;
    const double yaw = (0.7 * std::abs(turned[2]) * known_.per_dt() + 0.2 * std::abs(double{w.z})) /
                       known_.steps.angular_velocity_rps;
    Expectation expectation{ordered};
    double witness = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto field = static_cast<CodeField>(static_cast<std::size_t>(CodeField::turn_z) + i);
      const std::size_t axis = kOrder[i];
      const double deviation = expectation.deviation();
      const double expected = i == 0 ? yaw + 0.2 * tilt
                              : i == 1
                                  ? 0.7 * tilt + 0.15 * deviation * (yaw + witness)
                                  : 0.7 * tilt * std::min(1.0, 2.0 * deviation) + 0.3 * deviation * witness;
      coder_.number(field, state_.angular_velocity[axis], to_forecast(forecast[i] + expectation.mean()),
                    kMostRate, expected);
      witness += (i == 0 ? 1.0 : 0.5) *
                 expectation.met(static_cast<double>(state_.angular_velocity[axis]) - forecast[i]);
    }
  }

  Coder& coder_;
  QuantisedState& state_;
  const Known& known_;
  bool still_ = false;
};

inline constexpr unsigned kLinkBits = 2;
static_assert(Motion::kLinks == 1u << kLinkBits);

/// Mostly a motion's coding_mode is its baseline's, and its orientation lacks the component that it is
/// expected to: one bit says so. Behind it there is room for motions in another entity's frame, and of
/// entities that a client owns.
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
  if (!turns) return;
  coder.choice(coding_mode.twist, baseline.twist, 3);
  coder.choice(state.largest, largest, 2);
}

/// A baseline, and where the predictor carries it. It must be a free motion that dequantise() takes.
struct ExpectedMotion {
  State then;
  State forecast;
};
[[maybe_unused]] inline ExpectedMotion carry(const QuantisedState& baseline, double dt_s,
                                             const Quantisation& quantisation) {
  const State then = dequantise(baseline, quantisation).value_or(State{});
  return {then, extrapolate(then, dt_s)};
}

template <class Coder>
void code_residual(Coder& coder, QuantisedState& state, const QuantisedState& baseline,
                   const ExpectedMotion& carried, double dt_s, const Quantisation& quantisation) {
  const bool turns = quantisation.orientation_bits != 0;
  const auto largest = static_cast<std::uint8_t>(turns ? largest_component(carried.forecast.orientation) : 0);
  state.teleports = baseline.teleports;
  state.frame = baseline.frame;
  code_coding_mode(coder, state, baseline.coding_mode, largest, turns);
  if (state.coding_mode.bends) coder.bits(state.link, kLinkBits);
  const double spread = spread_after(dt_s);
  const Known known{quantisation.codes,
                    quantisation.codes.priors[state.coding_mode.prior],
                    steps_at(quantisation, state),
                    carried.then,
                    carried.forecast,
                    dt_s,
                    spread * power_of_two(state.coding_mode.wander) * quantisation.position_step_m,
                    spread * power_of_two(state.coding_mode.twist) * unit_turn_rad(quantisation)};
  PlaceCoder<Coder>{coder, state, known}.code();
  if (turns) TurnCoder<Coder>{coder, state, known}.code();
}

}  // namespace
}  // namespace reckoner
