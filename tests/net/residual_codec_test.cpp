// SPDX-License-Identifier: MIT
#include "net/src/codec/motion_codec.hpp"
#include "tests/reckoning/random_states.hpp"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

Quantisation quantisation_at(double threshold, bool has_orientation = true) {
  Archetype archetype;
  archetype.threshold_m = threshold;
  archetype.threshold_rad = threshold;
  archetype.has_orientation = has_orientation;
  return quantisation_for(archetype);
}

CodingMode coding_mode_of(test::RandomStates& random) {
  const auto up_to = [&random](unsigned most) {
    return static_cast<std::uint8_t>(random.number(0.0, most + 0.999));
  };
  return {up_to(kMaxPrecision), up_to(kMaxReach), up_to(kPriorCount - 1),
          up_to(kMaxWander),    up_to(kMaxTwist), up_to(1) == 1};
}

// The state some time after `baseline`, with a deviation from the prediction.
State surprised(const State& baseline, double dt_s, test::RandomStates& random) {
  State s = extrapolate(baseline, dt_s);
  s.position += random.vector(0.5);
  s.velocity += glm::vec3{random.vector(2.0)};
  s.acceleration += glm::vec3{random.vector(10.0)};
  s.angular_velocity += glm::vec3{random.vector(1.0)};
  s.orientation = glm::normalize(s.orientation + glm::quat{0.0f, glm::vec3{random.vector(0.1)}});
  return s;
}

std::span<const std::byte> written(std::span<std::byte> buffer, const QuantisedState& state,
                                   const QuantisedState& baseline, double dt_s, const Quantisation& q) {
  BitWriter writer{buffer};
  write_residual(writer, state, baseline, dt_s, q);
  EXPECT_FALSE(writer.overflowed());
  return writer.finish();
}

void expect_round_trip(const QuantisedState& state, const QuantisedState& baseline, double dt_s,
                       const Quantisation& q) {
  std::array<std::byte, 256> buffer;
  BitReader reader{written(buffer, state, baseline, dt_s, q)};
  ASSERT_EQ(read_residual(reader, baseline, dt_s, q), state);
  EXPECT_TRUE(reader.finished());
}

TEST(ResidualCodec, IsExactForAnyBaseline) {
  test::RandomStates random{31};
  for (const double threshold : {0.001, 0.05, 1.0}) {
    for (const bool has_orientation : {true, false}) {
      const Quantisation q = quantisation_at(threshold, has_orientation);
      for (int i = 0; i < 1000; ++i) {
        const CodingMode coding_mode = coding_mode_of(random);
        const CodingMode other = i % 3 == 0 ? coding_mode : coding_mode_of(random);
        const double dt_s = random.number(0.0, i % 10 == 0 ? 1000.0 : 0.5);
        State then = random.state();
        State now = i % 2 == 0 ? random.state() : surprised(then, dt_s, random);
        if (!has_orientation) then.orientation = now.orientation = State{}.orientation;
        if (!has_orientation) then.angular_velocity = now.angular_velocity = glm::vec3{0.0f};
        if (!is_encodable(now, q)) continue;
        expect_round_trip(quantise(now, 3, coding_mode, q), quantise(then, 3, other, q), dt_s, q);
      }
    }
  }
}

// The largest numbers and unusual time differences.
TEST(ResidualCodec, IsExactAtTheLimits) {
  const Quantisation q = quantisation_at(0.001);
  State distant;
  distant.position = {99'999.0, -99'999.0, 99'999.0};
  distant.velocity = {-999.0f, 999.0f, -999.0f};
  distant.acceleration = {5e3f, -5e3f, 5e3f};
  distant.angular_velocity = {9e3f, -9e3f, 9e3f};
  State opposite = distant;
  opposite.position *= -1.0;
  opposite.velocity *= -1.0f;
  opposite.acceleration *= -1.0f;
  opposite.angular_velocity *= -1.0f;
  ASSERT_TRUE(is_encodable(distant, q));
  for (const double dt_s : {0.0, 1e-3, -1.0, 1e9, 1e300}) {
    const CodingMode coarse{.precision = 0, .reach = 0};
    const CodingMode fine{.precision = kMaxPrecision, .reach = kMaxReach};
    expect_round_trip(quantise(distant, 0, fine, q), quantise(opposite, 0, coarse, q), dt_s, q);
    expect_round_trip(quantise(opposite, 0, coarse, q), quantise(distant, 0, fine, q), dt_s, q);
  }
}

// For steady motion the prediction is right, and the coding mode expects small residuals.
TEST(ResidualCodec, PredictedMotionTakesFewBits) {
  test::RandomStates random{32};
  const Quantisation q = quantisation_at(0.05);
  const CodingMode calm{.reach = 3, .prior = 1, .wander = 0, .twist = 0};
  double full = 0.0;
  double residual = 0.0;
  for (int i = 0; i < 500; ++i) {
    State state = random.state();
    state.acceleration = glm::vec3{0.0f};
    const QuantisedState then = quantise(state, 0, calm, q);
    const State now = extrapolate(*dequantise(then, q), 0.2);
    std::array<std::byte, 256> buffer;
    BitWriter a{buffer};
    write_full(a, quantise(now, 0, calm, q), q);
    full += static_cast<double>(a.bits_written());
    BitWriter b{buffer};
    write_residual(b, quantise(now, 0, calm, q), then, 0.2, q);
    residual += static_cast<double>(b.bits_written());
  }
  EXPECT_LT(residual, 0.35 * full);
}

TEST(ResidualCodec, RestAgainstRestTakesAFewBits) {
  const Quantisation q = quantisation_at(0.05);
  State state;
  state.position = {12.3, 4.5, 6.7};
  const QuantisedState rest = quantise(state, 0, CodingMode{.wander = 0, .twist = 0}, q);
  std::array<std::byte, 64> buffer;
  BitWriter writer{buffer};
  write_residual(writer, rest, rest, 0.25, q);
  EXPECT_LE(writer.bits_written(), 12u);
}

TEST(ResidualCodec, CannotReferAcrossATeleportOrRouteChange) {
  const Quantisation q = quantisation_at(0.05);
  const QuantisedState here = quantise(State{}, 1, kUnitPrecision, q);
  const QuantisedState there = quantise(State{}, 2, kUnitPrecision, q);
  QuantisedState on_route = here;
  on_route.along.route = {1};
  EXPECT_TRUE(can_refer(here, here));
  EXPECT_FALSE(can_refer(here, there));
  EXPECT_FALSE(can_refer(here, on_route));
  EXPECT_FALSE(can_refer(on_route, here));
}

// A bit string may start at any bit of a datagram, next to others.
TEST(ResidualCodec, IsSelfTerminatingAtAnyBitOffset) {
  test::RandomStates random{33};
  const Quantisation q = quantisation_at(0.05);
  for (unsigned shift = 0; shift < 17; ++shift) {
    const QuantisedState then = quantise(random.state(), 0, kUnitPrecision, q);
    const QuantisedState now = quantise(surprised(*dequantise(then, q), 0.2, random), 0, kUnitPrecision, q);
    std::array<std::byte, 256> ready;
    BitWriter one{ready};
    write_residual(one, now, then, 0.2, q);
    const std::size_t bits = one.bits_written();

    std::array<std::byte, 256> datagram;
    BitWriter writer{datagram};
    writer.write(0, shift);
    writer.append(one.finish(), bits);
    writer.append(ready, bits);
    writer.write(0x155, 9);
    BitReader reader{writer.finish()};
    EXPECT_EQ(reader.read(shift), 0u);
    EXPECT_EQ(read_residual(reader, then, 0.2, q), now);
    EXPECT_EQ(read_residual(reader, then, 0.2, q), now);
    EXPECT_EQ(reader.read(9), 0x155u);
    EXPECT_TRUE(reader.finished());
  }
}

TEST(ResidualCodec, RandomBitsAreReadSafely) {
  test::RandomStates random{34};
  for (const double threshold : {1e-6, 0.05, 10.0}) {
    const Quantisation q = quantisation_at(threshold);
    for (int i = 0; i < 20'000; ++i) {
      std::vector<std::byte> noise(static_cast<std::size_t>(random.number(0, 60)));
      const double ones = random.number(0.0, 1.0);  // includes long runs of ones
      for (std::byte& byte : noise) {
        for (int bit = 0; bit < 8; ++bit)
          byte |= static_cast<std::byte>((random.number(0.0, 1.0) < ones ? 1 : 0) << bit);
      }
      State then = random.state();
      if (!is_encodable(then, q)) then = State{};
      const QuantisedState baseline = quantise(then, 0, static_cast<std::uint8_t>(i % 8), q);
      const double dt_s = random.number(-10.0, 1e4);
      BitReader reader{noise};
      const QuantisedState state = read_residual(reader, baseline, dt_s, q);
      if (reader.failed()) continue;
      (void)dequantise(state, q);                   // may refuse, must not crash
      expect_round_trip(state, baseline, dt_s, q);  // every readable state can be written
      BitReader again{noise};
      (void)dequantise(read_full(again, q), q);
    }
  }
}

}  // namespace
}  // namespace reckoner
