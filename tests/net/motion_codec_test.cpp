// SPDX-License-Identifier: MIT
#include "net/src/codec/motion_codec.hpp"

#include "reckoning/src/motion/rotation.hpp"
#include "tests/reckoning/random_states.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner {
namespace {

Archetype archetype_with(double threshold_m, double threshold_rad, bool has_orientation = true) {
  Archetype a;
  a.threshold_m = threshold_m;
  a.threshold_rad = threshold_rad;
  a.has_orientation = has_orientation;
  return a;
}

TEST(MotionCodec, RoundTrips) {
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

std::size_t full_bits(const QuantisedState& state, const Quantisation& q) {
  std::array<std::byte, 128> buffer;
  BitWriter writer{buffer};
  write_full(writer, state, q);
  return writer.bits_written();
}

TEST(MotionCodec, FrameCostsBitsOnlyForEntitiesInAFrame) {
  test::RandomStates random{23};
  const Quantisation q = quantisation_for(archetype_with(0.05, 0.05));
  QuantisedState state = quantise(random.state(), 1, kUnitPrecision, q);
  const std::size_t bits = full_bits(state, q);
  for (const EntityId frame : {EntityId{1, 0}, EntityId{kMaxEntities, 65535}, EntityId{77, 12}}) {
    state.frame = frame;
    EXPECT_EQ(full_bits(state, q), bits + 2 + 20 + 16);
    std::array<std::byte, 128> buffer;
    BitWriter writer{buffer};
    write_full(writer, state, q);
    BitReader reader{writer.finish()};
    EXPECT_EQ(read_full(reader, q), state);
    EXPECT_TRUE(reader.finished());
  }
}

TEST(MotionCodec, ResidualKeepsTheFrameOfItsBaseline) {
  test::RandomStates random{24};
  const Quantisation q = quantisation_for(archetype_with(0.05, 0.05));
  const QuantisedState free = quantise(random.state(), 1, kUnitPrecision, q);
  QuantisedState aboard = free;
  aboard.frame = {7, 3};
  QuantisedState elsewhere = free;
  elsewhere.frame = {7, 4};
  EXPECT_TRUE(can_refer(aboard, aboard));
  EXPECT_FALSE(can_refer(aboard, free));
  EXPECT_FALSE(can_refer(free, aboard));
  EXPECT_FALSE(can_refer(aboard, elsewhere));
  QuantisedState next = quantise(extrapolate(*dequantise(free, q), 0.1), 1, kUnitPrecision, q);
  next.frame = aboard.frame;
  std::array<std::byte, 256> buffer;
  BitWriter writer{buffer};
  write_residual(writer, next, aboard, 0.1, q);
  BitReader reader{writer.finish()};
  EXPECT_EQ(read_residual(reader, aboard, 0.1, q), next);
  EXPECT_TRUE(reader.finished());
}

TEST(MotionCodec, InvalidFramesAreMalformed) {
  const Quantisation q = quantisation_for(archetype_with(0.05, 0.05));
  const auto reads = [&](bool framed, bool owned, std::uint64_t index) {
    std::array<std::byte, 128> buffer{};
    BitWriter writer{buffer};
    for (const bool flag : {true, framed, owned})
      writer.write(flag ? 1 : 0, 1);
    writer.write(index, 20);
    writer.write(1, 16);
    QuantisedState rest = quantise(State{}, 0, kUnitPrecision, q);
    std::array<std::byte, 128> plain;
    BitWriter plain_writer{plain};
    write_full(plain_writer, rest, q);
    const std::size_t bits = plain_writer.bits_written();
    BitReader plain_reader{plain_writer.finish()};
    (void)plain_reader.read(1);  // not extended
    for (std::size_t i = 1; i < bits; ++i)
      writer.write(plain_reader.read(1), 1);
    BitReader reader{writer.finish()};
    (void)read_full(reader, q);
    return reader.finished();
  };
  EXPECT_TRUE(reads(true, false, 5));
  EXPECT_FALSE(reads(false, false, 5));
  EXPECT_FALSE(reads(true, true, 5));
  EXPECT_FALSE(reads(false, true, 5));
}

// Checks that the error from rounding is less than a tenth of the threshold. The error is the root mean
// square over the time in which a motion is shown. That time lasts from shortly after its time stamp until
// the next motion.
TEST(MotionCodec, RoundingStaysBelowATenthOfTheThreshold) {
  test::RandomStates random{22};
  for (const double threshold : {0.001, 0.05, 1.0}) {
    const Quantisation q = quantisation_for(archetype_with(threshold, threshold));
    for (std::uint8_t reach = 0; reach <= kMaxReach; ++reach) {
      double squares = 0.0;
      double angle_squares = 0.0;
      constexpr int kCount = 2000;
      for (int i = 0; i < kCount; ++i) {
        const State state = random.state();
        const auto back = dequantise(quantise(state, 0, CodingMode{.reach = reach}, q), q);
        ASSERT_TRUE(back);
        const double age_s = kShortestReachS * std::ldexp(random.number(0.0, 0.9), reach);
        const State exact = extrapolate(state, age_s);
        const State shown = extrapolate(*back, age_s);
        const glm::dvec3 error = exact.position - shown.position;
        squares += glm::dot(error, error);
        angle_squares += std::pow(angle_between(shown.orientation, exact.orientation), 2);
      }
      EXPECT_LT(std::sqrt(squares / kCount), 0.1 * threshold) << int{reach};
      EXPECT_TRUE(q.orientation_bits == 13 || std::sqrt(angle_squares / kCount) < 0.1 * threshold);
    }
  }
}

// The quantised velocity compensates the rounding of the position, and the acceleration compensates the
// rounding of both. The error at the reach is then only the error of the last rounding.
TEST(MotionCodec, EachRoundingCompensatesTheEarlierOnes) {
  test::RandomStates random{26};
  const Quantisation q = quantisation_for(archetype_with(0.05, 0.05));
  for (std::uint8_t reach = 0; reach <= kMaxReach; ++reach) {
    const double reach_s = std::ldexp(kShortestReachS, reach);
    const double step_m = 0.5 * std::ldexp(q.acceleration_step_mps2, -2 * reach) * reach_s * reach_s;
    for (int i = 0; i < 500; ++i) {
      const State state = random.state();
      const auto back = dequantise(quantise(state, 0, CodingMode{.reach = reach}, q), q);
      ASSERT_TRUE(back);
      const glm::dvec3 off = extrapolate(*back, reach_s).position - extrapolate(state, reach_s).position;
      for (int axis = 0; axis < 3; ++axis)
        EXPECT_LE(std::abs(off[axis]), 0.501 * step_m);
    }
  }
}

TEST(MotionCodec, RestStaysExact) {
  const Quantisation q = quantisation_for(archetype_with(0.05, 0.05));
  State state;
  state.position = {1.23456, -7.65432, 0.000321};
  state.orientation = glm::normalize(glm::quat{0.7f, 0.1f, -0.3f, 0.2f});
  const auto back = dequantise(quantise(state, 0, CodingMode{}, q), q);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->velocity, glm::vec3{0.0f});
  EXPECT_EQ(back->acceleration, glm::vec3{0.0f});
  EXPECT_EQ(back->angular_velocity, glm::vec3{0.0f});
}

TEST(MotionCodec, ReachIsTheShortestThatCoversTheTime) {
  EXPECT_EQ(reach_for(0.0), 0);
  EXPECT_EQ(reach_for(0.15), 0);
  EXPECT_EQ(reach_for(0.16), 1);
  EXPECT_EQ(reach_for(0.6), 2);
  EXPECT_EQ(reach_for(1e9), kMaxReach);
}

TEST(MotionCodec, EachPrecisionHalvesTheRounding) {
  test::RandomStates random{25};
  const Quantisation q = quantisation_for(archetype_with(0.05, 0.05));
  const State state = random.state();
  for (std::uint8_t precision = 0; precision <= kMaxPrecision; ++precision) {
    const auto back = dequantise(quantise(state, 0, precision, q), q);
    ASSERT_TRUE(back);
    const double step = q.position_step_m * std::ldexp(1.0, kUnitPrecision - precision);
    for (int i = 0; i < 3; ++i)
      EXPECT_LE(std::abs(back->position[i] - state.position[i]), 0.5001 * step);
  }
}

TEST(MotionCodec, PrecisionFollowsTheCurrentThreshold) {
  EXPECT_EQ(precision_for(1.0), kUnitPrecision);
  EXPECT_EQ(precision_for(1.9), kUnitPrecision);
  EXPECT_EQ(precision_for(2.0), kUnitPrecision - 1);
  EXPECT_EQ(precision_for(0.9), kUnitPrecision + 1);
  EXPECT_EQ(precision_for(1e9), 0);
  EXPECT_EQ(precision_for(0.0), kMaxPrecision);
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

TEST(MotionCodec, OrientationsOfEveryOctantRoundTrip) {
  const Quantisation q = quantisation_for(archetype_with(0.05, 0.05));
  for (int octant = 0; octant < 16; ++octant) {
    State s;
    const auto sign = [octant](int bit) { return (octant >> bit) & 1 ? -1.0f : 1.0f; };
    s.orientation = glm::normalize(glm::quat{sign(0) * 0.5f, sign(1) * 0.5f, sign(2) * 0.5f, sign(3) * 0.5f});
    EXPECT_LT(angle_between(dequantise(quantise(s, 0, kUnitPrecision, q), q)->orientation, s.orientation),
              0.006);
  }
}

TEST(MotionCodec, OrientationCostsNoBitsWithoutOne) {
  const Quantisation with = quantisation_for(archetype_with(0.05, 0.05, true));
  const Quantisation without = quantisation_for(archetype_with(0.05, 0.05, false));
  const unsigned q_bits = with.orientation_bits;
  std::array<std::byte, 128> buffer;
  BitWriter a{buffer};
  write_full(a, quantise(State{}, 0, kUnitPrecision, with), with);
  BitWriter b{buffer};
  write_full(b, quantise(State{}, 0, kUnitPrecision, without), without);
  EXPECT_EQ(a.bits_written(), b.bits_written() + 3 + 2 + 3 * q_bits);
  EXPECT_EQ(b.bits_written(),
            2u + 3u + 4u + 2u + 2u + 3u + 2u + 6u + 1u);  // head, coding mode, width of zero, at rest
}

TEST(MotionCodec, RefusesInvalidStates) {
  Archetype archetype = archetype_with(0.05, 0.05);
  archetype.max_speed_mps = 50.0;
  archetype.world_size_m = 1000.0;
  const Quantisation q = quantisation_for(archetype);
  State s;
  s.velocity = {51.0f, 0.0f, 0.0f};
  EXPECT_FALSE(is_encodable(s, q));
  s = {};
  s.position = {0.0, -1001.0, 0.0};
  EXPECT_FALSE(is_encodable(s, q));
  s = {};
  s.position.x = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(is_encodable(s, q));

  QuantisedState raw;
  raw.coding_mode.reach = 0;
  raw.velocity[2] = static_cast<std::int32_t>(51.0 / q.velocity_step_mps);
  EXPECT_FALSE(dequantise(raw, q));
  raw = {};
  raw.position[0] = std::int64_t{1} << 46;
  EXPECT_FALSE(dequantise(raw, q));
  raw = {};
  raw.angular_velocity[0] = std::numeric_limits<std::int32_t>::min();
  EXPECT_FALSE(dequantise(raw, q));
}

TEST(MotionCodec, EncodableStatesArrive) {
  test::RandomStates random{24};
  Archetype archetype = archetype_with(0.5, 0.05);
  archetype.max_speed_mps = 40.0;
  archetype.world_size_m = 1000.0;
  const Quantisation q = quantisation_for(archetype);
  int travelled = 0;
  for (int i = 0; i < 5000; ++i) {
    State s = random.state();
    s.velocity *= 1.5f;
    if (!is_encodable(s, q)) continue;
    ++travelled;
    EXPECT_TRUE(dequantise(quantise(s, 0, kUnitPrecision, q), q));
  }
  EXPECT_GT(travelled, 1000);
  EXPECT_LT(travelled, 5000);
}

TEST(MotionCodec, NearestStateIsAlwaysEncodable) {
  std::mt19937 random(5);
  const Quantisation q = quantisation_for(Archetype{});
  std::uniform_real_distribution<double> exponent(-3.0, 12.0);
  const auto any = [&] {
    const double size = std::pow(10.0, exponent(random));
    return random() % 30 == 0 ? std::nan("") : random() % 2 == 0 ? size : -size;
  };
  int changed = 0;
  for (int i = 0; i < 20'000; ++i) {
    State state;
    for (glm::length_t axis = 0; axis < 3; ++axis) {
      state.position[axis] = any();
      state.velocity[axis] = static_cast<float>(any());
      state.acceleration[axis] = static_cast<float>(any());
      state.angular_velocity[axis] = static_cast<float>(any());
    }
    if (i % 10 == 0) state.orientation.x = static_cast<float>(any());
    const State nearest = nearest_encodable(state, q);
    ASSERT_TRUE(is_encodable(nearest, q));
    const bool can = is_encodable(state, q);
    if (can) {
      EXPECT_EQ(nearest.position, state.position);
      EXPECT_EQ(nearest.velocity, state.velocity);
      EXPECT_EQ(nearest.acceleration, state.acceleration);
    }
    changed += can ? 0 : 1;
  }
  EXPECT_GT(changed, 1000);
}

}  // namespace
}  // namespace reckoner
