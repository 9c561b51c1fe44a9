// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/portable_math.hpp"

#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

namespace reckoner::portable {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Compares with the C library, whose error is below one unit in the last place.
void expect_close(double ours, double theirs, double relative = 1e-15) {
  EXPECT_NEAR(ours, theirs, relative * std::max(std::abs(theirs), 1e-300));
}

TEST(PortableMath, SineAndCosineMatchTheCLibrary) {
  scenario::Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const double x = random.uniform(-1e5, 1e5) * (i % 2 == 0 ? 1.0 : 1e-5);
    EXPECT_NEAR(sin(x), std::sin(x), 1e-15) << x;
    EXPECT_NEAR(cos(x), std::cos(x), 1e-15) << x;
  }
  EXPECT_EQ(sin(0.0), 0.0);
  EXPECT_EQ(cos(0.0), 1.0);
  EXPECT_TRUE(std::isnan(sin(kInfinity)));
}

TEST(PortableMath, ArcTangentMatchesTheCLibrary) {
  scenario::Random random(2);
  for (int i = 0; i < 20'000; ++i) {
    const double y = random.uniform(-1.0, 1.0);
    const double x = random.uniform(-1.0, 1.0) * (i % 2 == 0 ? 1.0 : 1e6);
    expect_close(atan2(y, x), std::atan2(y, x));
    expect_close(atan2(x, y), std::atan2(x, y));
  }
  for (const double y : {0.0, -0.0, 1.0, -1.0}) {
    for (const double x : {0.0, -0.0, 1.0, -1.0}) {
      EXPECT_EQ(atan2(y, x), std::atan2(y, x)) << y << ' ' << x;
      EXPECT_EQ(std::signbit(atan2(y, x)), std::signbit(std::atan2(y, x))) << y << ' ' << x;
    }
  }
}

TEST(PortableMath, ExponentialAndLogarithmMatchTheCLibrary) {
  scenario::Random random(3);
  for (int i = 0; i < 20'000; ++i) {
    const double x = random.uniform(-700.0, 700.0) * (i % 2 == 0 ? 1.0 : 1e-3);
    expect_close(exp(x), std::exp(x));
    const double y = i % 2 == 0 ? std::exp(x) : random.uniform(0.5, 2.0);
    EXPECT_NEAR(log(y), std::log(y), 1e-15 * std::max(std::abs(std::log(y)), 1e-2)) << y;
    EXPECT_NEAR(log2(y), std::log2(y), 1e-15 * std::max(std::abs(std::log2(y)), 1e-2)) << y;
    expect_close(pow(y, 0.1), std::pow(y, 0.1), 3e-14);
  }
  EXPECT_EQ(exp(0.0), 1.0);
  EXPECT_EQ(exp(800.0), kInfinity);
  EXPECT_EQ(exp(-800.0), 0.0);
  EXPECT_EQ(log(1.0), 0.0);
  EXPECT_EQ(log(0.0), -kInfinity);
  EXPECT_EQ(log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(log(-1.0)));
}

TEST(PortableMath, LogarithmOfAPowerOfTwoIsExact) {
  for (int k = -1074; k < 1024; ++k)
    EXPECT_EQ(log2(std::ldexp(1.0, k)), k);
}

// These bits must not change: recorded figures and the WebAssembly build depend on them.
TEST(PortableMath, GivesTheSameBitsEverywhere) {
  scenario::Random random(4);
  std::uint64_t hash = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double x = random.uniform(-50.0, 50.0);
    for (const double value : {sin(x), cos(x), atan2(x, random.uniform(-50.0, 50.0)), exp(x),
                               log(std::abs(x)), log2(std::abs(x)), pow(std::abs(x), 0.3), hypot(x, 3.0)})
      hash = scenario::mix_bits(hash ^ std::bit_cast<std::uint64_t>(value));
  }
  EXPECT_EQ(hash, 0x46bec587f5da0426u);
}

}  // namespace
}  // namespace reckoner::portable
