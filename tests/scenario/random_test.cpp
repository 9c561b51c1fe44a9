// SPDX-License-Identifier: MIT
#include "scenario/builtin/random.hpp"

#include <array>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace reckoner::scenario {
namespace {

TEST(Random, SeedDeterminesTheNumbers) {
  Random a(7);
  Random b(7);
  Random c(8);
  Random d(7, 1);
  int same_seed = 0;
  int same_stream = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t x = a.next();
    EXPECT_EQ(x, b.next());
    same_seed += x == c.next() ? 1 : 0;
    same_stream += x == d.next() ? 1 : 0;
  }
  EXPECT_EQ(same_seed, 0);
  EXPECT_EQ(same_stream, 0);
}

TEST(Random, IsSplitMix64) {
  // The reference implementation's first outputs for state 0 are mix_bits(k * golden gamma).
  EXPECT_EQ(mix_bits(0x9e3779b97f4a7c15u), 0xe220a8397b1dcdafu);
  EXPECT_EQ(mix_bits(2 * 0x9e3779b97f4a7c15u), 0x6e789e6aa1b965f4u);
}

TEST(Random, UniformFillsTheUnitIntervalEvenly) {
  Random random(1);
  std::array<int, 10> bins{};
  for (int i = 0; i < 100'000; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++bins[static_cast<std::size_t>(u * 10.0)];
  }
  for (const int count : bins)
    EXPECT_NEAR(count, 10'000, 500);  // 5 sigma
  EXPECT_LT(to_unit_interval(~std::uint64_t{0}), 1.0);
}

TEST(Random, NormalHasTheRightMoments) {
  Random random(2);
  constexpr int kCount = 200'000;
  double sum = 0.0;
  double sum2 = 0.0;
  double sum4 = 0.0;
  int beyond = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    sum2 += x * x;
    sum4 += x * x * x * x;
    beyond += std::abs(x) > 1.959964 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kCount, 0.0, 0.01);
  EXPECT_NEAR(sum2 / kCount, 1.0, 0.015);
  EXPECT_NEAR(sum4 / kCount, 3.0, 0.1);
  EXPECT_NEAR(static_cast<double>(beyond) / kCount, 0.05, 0.003);
}

TEST(Random, ChanceAndBelowKeepTheirBounds) {
  Random random(3);
  std::set<std::uint64_t> seen;
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_FALSE(random.chance(0.0));
    EXPECT_TRUE(random.chance(1.0));
    hits += random.chance(0.25) ? 1 : 0;
    seen.insert(random.below(6));
  }
  EXPECT_NEAR(hits, 2500, 220);
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(Hash, DependsOnEveryArgumentAndItsPosition) {
  static_assert(hash(1, 2, 3) == hash(1, 2, 3));
  static_assert(hash(1, 2, 3) == hash(1u, std::int64_t{2}, std::size_t{3}));
  EXPECT_NE(hash(1, 2, 3), hash(3, 2, 1));
  EXPECT_NE(hash(1, 2), hash(1, 2, 0));
  EXPECT_NE(hash(0), hash(0, 0));
  std::set<std::uint64_t> seen;
  for (int a = -20; a < 20; ++a) {
    for (int b = -20; b < 20; ++b)
      seen.insert(hash(a, b));
  }
  EXPECT_EQ(seen.size(), 1600u);
}

}  // namespace
}  // namespace reckoner::scenario
