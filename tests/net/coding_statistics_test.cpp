// SPDX-License-Identifier: MIT
#include "net/src/codec/residual/coding_statistics.hpp"

#include "tests/reckoning/random_states.hpp"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

constexpr double kAgeS = 0.2;
constexpr std::size_t kHeadBits = 9;

std::size_t bits_of(const QuantisedState& state, const QuantisedState* baseline, const Quantisation& q) {
  std::array<std::byte, 256> buffer;
  BitWriter writer{buffer};
  if (baseline != nullptr) {
    write_residual(writer, state, *baseline, kAgeS, q);
  } else {
    write_full(writer, state, q);
  }
  return writer.bits_written();
}

struct Pair {
  QuantisedState then;
  QuantisedState now;
};

Pair pair_of(test::RandomStates& random, const Quantisation& q) {
  const State then = random.state();
  State now = extrapolate(then, kAgeS);
  now.position += random.vector(0.2);
  now.velocity += glm::vec3{random.vector(1.0)};
  now.angular_velocity += glm::vec3{random.vector(0.5)};
  return {quantise(then, 0, CodingMode{}, q), quantise(now, 0, CodingMode{}, q)};
}

// Every bit is counted: head, coding mode and fields add up to the written size.
TEST(CodingStatistics, PartsAddUpToTheWrittenBits) {
  test::RandomStates random{51};
  const Quantisation q = quantisation_for(Archetype{});
  CodingStatistics statistics;
  double bits = 0.0;
  double full_bits = 0.0;
  for (int i = 0; i < 300; ++i) {
    const Pair pair = pair_of(random, q);
    const bool full = i % 10 == 0;
    const std::size_t motion = bits_of(pair.now, full ? nullptr : &pair.then, q);
    statistics.add(pair.now, full ? nullptr : &pair.then, kAgeS, q, motion + kHeadBits);
    bits += static_cast<double>(motion);
    if (full) full_bits += static_cast<double>(motion);
  }
  const CodingFigures f = statistics.figures();
  EXPECT_EQ(f.full_updates, 30u);
  EXPECT_EQ(f.residual_updates, 270u);
  EXPECT_NEAR(f.head_bits, kHeadBits, 1e-9);
  EXPECT_NEAR(f.full_bits, full_bits / 30, 1e-9);
  EXPECT_NEAR(f.bytes_with_orientation, (bits / 300 + kHeadBits) / 8, 1e-9);
  EXPECT_LT(f.bytes_without_orientation, f.bytes_with_orientation - 3.0);
  double fields = f.coding_mode_bits;
  for (const FieldFigures& field : f.fields)
    fields += field.bits_per_update;
  EXPECT_NEAR(fields, f.residual_bits, 1e-9);
}

// The entropy of four equally frequent values is two bits.
TEST(CodingStatistics, EntropyIsComputedOverThePooledResiduals) {
  const Quantisation q = quantisation_for(Archetype{});
  CodingStatistics statistics;
  for (int i = 0; i < 400; ++i) {
    const QuantisedState then = quantise(State{}, 0, CodingMode{}, q);
    QuantisedState now = then;
    now.position[2] = 1 + i % 4;
    statistics.add(now, &then, kAgeS, q, 50);
  }
  const CodingFigures f = statistics.figures();
  const FieldFigures& height = f.fields[static_cast<std::size_t>(CodeField::position_z)];
  EXPECT_EQ(height.name, "position_z");
  EXPECT_NEAR(height.entropy_per_update, 2.0, 1e-9);
  EXPECT_GE(height.bits_per_update, 2.0);
  EXPECT_EQ(f.fields[0].entropy_per_update, 0.0);
}

TEST(CodingStatistics, IgnoresMotionsOnRoutes) {
  const Quantisation q = quantisation_for(Archetype{});
  CodingStatistics statistics;
  QuantisedState state = quantise(State{}, 0, CodingMode{}, q);
  state.along.route = {1};
  statistics.add(state, nullptr, 0.0, q, 40);
  EXPECT_EQ(statistics.figures().full_updates, 0u);
}

}  // namespace
}  // namespace reckoner
