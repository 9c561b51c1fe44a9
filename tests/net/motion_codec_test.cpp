// SPDX-License-Identifier: MIT
#include "../reckoning/random_states.hpp"

#include <array>
#include <cmath>
#include <limits>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/net/motion_codec.hpp>
#include <reckoner/reckoning/rotation.hpp>

namespace reckoner {
namespace {

Archetype archetype_with(double threshold_m, double threshold_rad, bool has_orientation = true) {
  Archetype a;
  a.threshold_m = threshold_m;
  a.threshold_rad = threshold_rad;
  a.has_orientation = has_orientation;
  return a;
}

TEST(MotionCodec, WhatIsReadIsWhatWasWritten) {
  test::RandomStates random{21};
  for (const double threshold : {0.001, 0.05, 1.0}) {
    const Quantisation q = quantisation_for(archetype_with(threshold, threshold));
    for (int i = 0; i < 300; ++i) {
      const QuantisedState state =
          quantise(random.state(), static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i % 8), q);
      std::array<std::byte, 128> buffer;
      BitWriter writer{buffer};
      write_full(writer, state, q);
      ASSERT_FALSE(writer.overflowed());
      BitReader reader{writer.finish()};
      EXPECT_EQ(read_full(reader, q), state);
      EXPECT_TRUE(reader.finished());
    }
  }
}

// Bits are spent where they can be seen: rounding costs less than a tenth of the threshold at the time that
// an update is replaced, in the root mean square.
TEST(MotionCodec, RoundingStaysBelowATenthOfTheThreshold) {
  test::RandomStates random{22};
  for (const double threshold : {0.001, 0.05, 1.0}) {
    const Quantisation q = quantisation_for(archetype_with(threshold, threshold));
    double squares = 0.0;
    double angle_squares = 0.0;
    constexpr int kCount = 2000;
    for (int i = 0; i < kCount; ++i) {
      const State state = random.state();
      const auto back = dequantise(quantise(state, 0, kUnitPrecision, q), q);
      ASSERT_TRUE(back);
      constexpr double kHorizonS = 0.25;
      const State exact = extrapolate(state, kHorizonS);
      const State shown = extrapolate(*back, kHorizonS);
      const glm::dvec3 error = exact.position - shown.position;
      squares += glm::dot(error, error);
      angle_squares += std::pow(angle_between(back->orientation, state.orientation), 2);
    }
    EXPECT_LT(std::sqrt(squares / kCount), 0.1 * threshold);
    EXPECT_TRUE(q.orientation_bits == 13 || std::sqrt(angle_squares / kCount) < 0.1 * threshold);
  }
}

TEST(MotionCodec, EachPrecisionHalvesTheRounding) {
  test::RandomStates random{25};
  const Quantisation q = quantisation_for(archetype_with(0.05, 0.05));
  const State state = random.state();
  for (std::uint8_t precision = 0; precision <= kMostPrecision; ++precision) {
    const auto back = dequantise(quantise(state, 0, precision, q), q);
    ASSERT_TRUE(back);
    const double step = q.position_step_m * std::ldexp(1.0, kUnitPrecision - precision);
    for (int i = 0; i < 3; ++i)
      EXPECT_LE(std::abs(back->position[i] - state.position[i]), 0.5001 * step);
  }
}

TEST(MotionCodec, PrecisionFollowsTheThresholdInForce) {
  EXPECT_EQ(precision_for(1.0), kUnitPrecision);
  EXPECT_EQ(precision_for(1.9), kUnitPrecision);
  EXPECT_EQ(precision_for(2.0), kUnitPrecision - 1);
  EXPECT_EQ(precision_for(0.9), kUnitPrecision + 1);
  EXPECT_EQ(precision_for(1e9), 0);
  EXPECT_EQ(precision_for(0.0), kMostPrecision);
}

TEST(MotionCodec, QuantisingTwiceChangesNothing) {
  test::RandomStates random{23};
  const Quantisation q = quantisation_for(archetype_with(0.05, 0.05));
  for (int i = 0; i < 500; ++i) {
    const QuantisedState once = quantise(random.state(), 3, 5, q);
    const auto state = dequantise(once, q);
    ASSERT_TRUE(state);
    QuantisedState twice = quantise(*state, 3, 5, q);
    const auto again = dequantise(twice, q);
    EXPECT_EQ(again->position, state->position);
    EXPECT_EQ(again->velocity, state->velocity);
    EXPECT_LT(angle_between(again->orientation, state->orientation), 1e-3);
  }
}

TEST(MotionCodec, OrientationTakesEveryOctant) {
  const Quantisation q = quantisation_for(archetype_with(0.05, 0.05));
  for (int octant = 0; octant < 16; ++octant) {
    State s;
    const auto sign = [octant](int bit) { return (octant >> bit) & 1 ? -1.0f : 1.0f; };
    s.orientation = glm::normalize(glm::quat{sign(0) * 0.5f, sign(1) * 0.5f, sign(2) * 0.5f, sign(3) * 0.5f});
    EXPECT_LT(angle_between(dequantise(quantise(s, 0, kUnitPrecision, q), q)->orientation, s.orientation),
              0.006);
  }
}

TEST(MotionCodec, WithoutOrientationItCostsNothing) {
  const Quantisation with = quantisation_for(archetype_with(0.05, 0.05, true));
  const Quantisation without = quantisation_for(archetype_with(0.05, 0.05, false));
  std::array<std::byte, 128> buffer;
  BitWriter a{buffer};
  write_full(a, quantise(State{}, 0, kUnitPrecision, with), with);
  BitWriter b{buffer};
  write_full(b, quantise(State{}, 0, kUnitPrecision, without), without);
  EXPECT_GE(a.bits_written(), b.bits_written() + 29);
  EXPECT_EQ(b.bits_written(),
            2u + 3u + 3u + 3u * 6u);  // free, not extended, teleports, precision, three widths of zero
}

TEST(MotionCodec, RefusesWhatCannotBe) {
  Archetype archetype = archetype_with(0.05, 0.05);
  archetype.max_speed_mps = 50.0;
  archetype.world_size_m = 1000.0;
  const Quantisation q = quantisation_for(archetype);
  State s;
  s.velocity = {51.0f, 0.0f, 0.0f};
  EXPECT_FALSE(can_travel(s, q));
  s = {};
  s.position = {0.0, -1001.0, 0.0};
  EXPECT_FALSE(can_travel(s, q));
  s = {};
  s.position.x = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(can_travel(s, q));

  QuantisedState raw;
  raw.velocity[2] = static_cast<std::int32_t>(51.0 / q.velocity_step_mps);
  EXPECT_FALSE(dequantise(raw, q));
  raw = {};
  raw.position[0] = std::int64_t{1} << 46;
  EXPECT_FALSE(dequantise(raw, q));
  raw = {};
  raw.angular_velocity[0] = std::numeric_limits<std::int32_t>::min();
  EXPECT_FALSE(dequantise(raw, q));
}

TEST(MotionCodec, WhatCanTravelArrives) {
  test::RandomStates random{24};
  Archetype archetype = archetype_with(0.5, 0.05);
  archetype.max_speed_mps = 40.0;
  archetype.world_size_m = 1000.0;
  const Quantisation q = quantisation_for(archetype);
  int travelled = 0;
  for (int i = 0; i < 5000; ++i) {
    State s = random.state();
    s.velocity *= 1.5f;
    if (!can_travel(s, q)) continue;
    ++travelled;
    EXPECT_TRUE(dequantise(quantise(s, 0, kUnitPrecision, q), q));
  }
  EXPECT_GT(travelled, 1000);
  EXPECT_LT(travelled, 5000);
}

}  // namespace
}  // namespace reckoner
