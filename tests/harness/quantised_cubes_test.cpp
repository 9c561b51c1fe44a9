// SPDX-License-Identifier: MIT
#include "harness/commands/motion/quantised_cubes.hpp"

#include "scenario/trace/csv.hpp"

#include <cmath>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

TEST(QuantisedCubes, RoundToTheStepsOfTheChallenge) {
  const QuantisedCube still = quantise({1.0, -0.5, 0.2}, {1.0, 0.0, 0.0, 0.0}, false);
  EXPECT_EQ(still,
            (QuantisedCube{.largest = 3, .a = 256, .b = 256, .c = 256, .x = 512, .y = -256, .z = 102}));
  // w and x are 1/sqrt(2), and the first of two equal components is the largest.
  const double half = std::sqrt(0.5);
  const QuantisedCube turned = quantise({}, {half, half, 0.0, 0.0}, true);
  EXPECT_EQ(turned, (QuantisedCube{.largest = 0, .a = 256, .b = 256, .c = 511, .interacting = 1}));
}

TEST(QuantisedCubes, OppositeQuaternionsAreOneRotation) {
  const glm::dquat q{-0.1, 0.7, -0.5, 0.5};
  EXPECT_EQ(quantise({}, q, false), quantise({}, -q, false));
}

// Two cubes: one rests, and the other moves by 10 steps a frame along x and by 1 along z.
TEST(QuantisedCubes, CountChangesWithinSixFrames) {
  std::vector<QuantisedCube> frames;
  for (std::int32_t k = 0; k < 8; ++k) {
    frames.push_back({.interacting = k});
    frames.push_back({.largest = k < 7 ? 0 : 1, .x = 10 * k, .z = k});
  }
  const CubeChanges changes = changes_of(frames, 2);
  EXPECT_EQ(changes.changed, 2u);  // in the seventh and in the eighth picture
  EXPECT_EQ(changes.within_xy_percent, (std::array{50.0, 100.0, 100.0})) << "x changes by 60, y by 0";
  EXPECT_EQ(changes.within_z_percent, (std::array{100.0, 100.0, 100.0}));
  EXPECT_EQ(changes.same_largest_percent, 50.0);
  EXPECT_EQ(changes_of(std::span(frames).first(12), 2).changed, 0u) << "too few frames";
}

TEST(QuantisedCubes, AreWrittenAsEightLittleEndianIntegers) {
  const std::string path = testing::TempDir() + "reckoner_quantised_cubes.bin";
  const QuantisedCube cube{.largest = 1, .a = 2, .b = 3, .c = 4, .x = -1, .y = 256, .z = 7, .interacting = 1};
  ASSERT_FALSE(write_quantised_cubes(path, std::array{cube}));
  const auto bytes = scenario::read_text_file(path);
  std::remove(path.c_str());
  ASSERT_TRUE(bytes);
  using namespace std::string_literals;
  EXPECT_EQ(*bytes,
            "\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0"s
            "\xff\xff\xff\xff\0\1\0\0\7\0\0\0\1\0\0\0"s);
  EXPECT_TRUE(write_quantised_cubes(testing::TempDir() + "no/such/folder.bin", {}));
}

}  // namespace
}  // namespace reckoner::harness
