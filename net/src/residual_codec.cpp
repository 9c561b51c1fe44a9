// SPDX-License-Identifier: MIT
#include "motion_steps.hpp"
#include "prefix_code.hpp"

#include <cassert>

#include <reckoner/net/motion_codec.hpp>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

namespace reckoner {
namespace {

// Of quantised numbers and of forecasts alike, so that no difference overflows what a prefix code takes.
constexpr double kMostForecast = 7e13;

// An unforeseen acceleration that wanders (Brownian velocity) leaves errors of position and velocity whose
// best linear forecast of the one from the other is dv = 3/2 dp / dt.
constexpr double kVelocityOfOffset = 1.5;

std::int64_t to_forecast(double steps) {
  if (!(steps > -kMostForecast)) return -static_cast<std::int64_t>(kMostForecast);  // NaN, too
  return std::llround(std::min(steps, kMostForecast));
}

class ResidualWriter {
 public:
  explicit ResidualWriter(BitWriter& writer, const CodeParameters& codes) : writer_(writer), codes_(codes) {}

  void flag(bool& value) { writer_.write(value ? 1 : 0, 1); }
  void bits(std::uint8_t& value, unsigned count) { writer_.write(value, count); }
  void expect(bool holds) {
    assert(holds);
    (void)holds;
  }

  template <class T>
  void number(CodeField field, T& value, std::int64_t forecast, std::int64_t) {
    wire::write_prefixed(writer_, wire::fold(std::int64_t{value} - forecast),
                         codes_.order[static_cast<std::size_t>(field)]);
  }

 private:
  BitWriter& writer_;
  const CodeParameters& codes_;
};

class ResidualReader {
 public:
  explicit ResidualReader(BitReader& reader, const CodeParameters& codes) : reader_(reader), codes_(codes) {}

  void flag(bool& value) { value = reader_.read(1) != 0; }
  void bits(std::uint8_t& value, unsigned count) { value = static_cast<std::uint8_t>(reader_.read(count)); }
  void expect(bool holds) {
    if (!holds) reader_.fail();
  }

  // Fails beyond +-most.
  template <class T>
  void number(CodeField field, T& value, std::int64_t forecast, std::int64_t most) {
    const std::int64_t number =
        forecast + wire::unfold(wire::read_prefixed(reader_, codes_.order[static_cast<std::size_t>(field)]));
    if (number < -most || number > most) reader_.fail();
    value = reader_.failed() ? T{} : static_cast<T>(number);
  }

 private:
  BitReader& reader_;
  const CodeParameters& codes_;
};

constexpr std::int64_t kMostPosition = std::int64_t{1} << (kMostStateBits - 1);
constexpr std::int64_t kMostRate = INT32_MAX;

CodeField field_of(std::size_t axis, CodeField horizontal, CodeField vertical) {
  constexpr std::size_t kUpAxis = 2;
  return axis == kUpAxis ? vertical : horizontal;
}

template <class Coder>
void code_place(Coder& coder, QuantisedState& state, const State& forecast, double dt_s, const Steps& steps) {
  std::array<double, 3> off_m{};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto axis = static_cast<glm::length_t>(i);
    const std::int64_t expected = to_forecast(forecast.position[axis] / steps.position_m);
    coder.number(field_of(i, CodeField::position, CodeField::height), state.position[i], expected,
                 kMostPosition);
    off_m[i] = static_cast<double>(state.position[i] - expected) * steps.position_m;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const auto axis = static_cast<glm::length_t>(i);
    const double unforeseen = dt_s > 0.0 ? kVelocityOfOffset * off_m[i] / dt_s : 0.0;
    coder.number(field_of(i, CodeField::velocity, CodeField::climb), state.velocity[i],
                 to_forecast((double{forecast.velocity[axis]} + unforeseen) / steps.velocity_mps), kMostRate);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const auto axis = static_cast<glm::length_t>(i);
    coder.number(field_of(i, CodeField::acceleration, CodeField::lift), state.acceleration[i],
                 to_forecast(double{forecast.acceleration[axis]} / steps.acceleration_mps2), kMostRate);
  }
}

template <class Coder>
void code_turn(Coder& coder, QuantisedState& state, const State& forecast, const Steps& steps) {
  const auto expected = static_cast<std::uint8_t>(largest_component(forecast.orientation));
  bool same = state.largest == expected;
  coder.flag(same);
  if (same) {
    state.largest = expected;
  } else {
    coder.bits(state.largest, 2);
  }
  const auto three = smallest_three(forecast.orientation, state.largest, steps.orientation_bits);
  const std::int64_t most = (std::int64_t{1} << (steps.orientation_bits - 1)) - 1;
  for (std::size_t i = 0; i < 3; ++i)
    coder.number(CodeField::orientation, state.orientation[i], three[i], most);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto axis = static_cast<glm::length_t>(i);
    coder.number(CodeField::turn, state.angular_velocity[i],
                 to_forecast(double{forecast.angular_velocity[axis]} / steps.angular_velocity_rps),
                 kMostRate);
  }
}

template <class Coder>
void code_residual(Coder& coder, QuantisedState& state, const QuantisedState& baseline, double dt_s,
                   const Quantisation& quantisation) {
  bool extended = false;
  coder.flag(extended);
  coder.expect(!extended);
  bool same_precision = state.precision == baseline.precision;
  coder.flag(same_precision);
  state.teleports = baseline.teleports;
  if (same_precision) {
    state.precision = baseline.precision;
  } else {
    coder.bits(state.precision, 3);
  }
  const Steps steps = steps_at(quantisation, state.precision);
  const State forecast = extrapolate(dequantise(baseline, quantisation).value_or(State{}), dt_s);
  code_place(coder, state, forecast, dt_s, steps);
  if (steps.orientation_bits != 0) code_turn(coder, state, forecast, steps);
}

}  // namespace

bool can_refer(const QuantisedState& state, const QuantisedState& baseline) {
  return !state.along.route && !baseline.along.route && state.teleports == baseline.teleports;
}

void write_residual(BitWriter& writer, const QuantisedState& state, const QuantisedState& baseline,
                    double dt_s, const Quantisation& quantisation) {
  assert(can_refer(state, baseline));
  ResidualWriter coder{writer, quantisation.codes};
  QuantisedState copy = state;
  code_residual(coder, copy, baseline, dt_s, quantisation);
}

QuantisedState read_residual(BitReader& reader, const QuantisedState& baseline, double dt_s,
                             const Quantisation& quantisation) {
  if (baseline.along.route) reader.fail();
  ResidualReader coder{reader, quantisation.codes};
  QuantisedState state;
  code_residual(coder, state, baseline, dt_s, quantisation);
  return state;
}

}  // namespace reckoner
