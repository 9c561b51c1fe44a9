// SPDX-License-Identifier: MIT
#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <reckoner/reckoning/scaled_clock.hpp>

namespace reckoner {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfiniteTime = std::numeric_limits<double>::infinity();

TEST(ScaledClock, IsRealTimeWithoutAScale) {
  const ScaledClock clock{.real_s = 100.0, .game_s = 7.0};
  EXPECT_EQ(clock.at(100.0), 7.0);
  EXPECT_EQ(clock.at(103.5), 10.5);
  EXPECT_EQ(clock.at(99.0), 6.0);
  EXPECT_EQ(clock.scale_at(200.0), 1.0);
  EXPECT_EQ(clock.real_time_of(10.5), 103.5);
}

TEST(ScaledClock, ChangesTheScaleLinearly) {
  ScaledClock clock;
  ASSERT_TRUE(clock.set_scale(0.5, 10.0, 1.0));
  EXPECT_EQ(clock.at(10.0), 10.0);
  EXPECT_DOUBLE_EQ(clock.scale_at(10.5), 0.75);
  EXPECT_DOUBLE_EQ(clock.at(10.5), 10.4375);  // 0.5 s at 0.875 on average
  EXPECT_DOUBLE_EQ(clock.at(11.0), 10.75);
  EXPECT_DOUBLE_EQ(clock.at(13.0), 11.75);
  ASSERT_TRUE(clock.set_scale(2.0, 13.0, 0.0));
  EXPECT_DOUBLE_EQ(clock.at(14.0), 13.75);
}

// For any requests at any time, also during a change: game time never goes back or jumps, the scale never
// jumps, and real_time_of() is the inverse.
TEST(ScaledClock, IsContinuousInTimeAndScale) {
  scenario::Random random(3);
  ScaledClock clock;
  double now_s = 0.0, before_s = clock.at(0.0), pace = 1.0;
  double steepest = 0.0;  // steepest requested change of scale per second
  constexpr double kStepS = 1e-3;
  for (int i = 0; i < 200'000; ++i) {
    if (random.below(300) == 0) {
      const double to = random.below(4) == 0 ? 0.0 : random.uniform(0.0, 4.0);
      const double over_s = random.uniform(0.1, 1.0);
      steepest = std::abs(to - clock.scale_at(now_s)) / over_s;
      ASSERT_TRUE(clock.set_scale(to, now_s, over_s));
      ASSERT_NEAR(clock.at(now_s), before_s, 1e-9);
    }
    now_s += kStepS;
    const double game_s = clock.at(now_s);
    const double next_pace = clock.scale_at(now_s);
    ASSERT_GE(game_s, before_s);
    ASSERT_NEAR(game_s - before_s, kStepS * 0.5 * (pace + next_pace), 1e-5);
    ASSERT_LE(std::abs(next_pace - pace), steepest * kStepS + 1e-12);
    if (next_pace > 1e-3) {
      ASSERT_NEAR(clock.real_time_of(game_s), now_s, 1e-6);
    }
    before_s = game_s;
    pace = next_pace;
  }
}

TEST(ScaledClock, LaterTimesAreNeverReachedWhileStopped) {
  ScaledClock clock;
  ASSERT_TRUE(clock.set_scale(0.0, 5.0, 0.5));
  EXPECT_DOUBLE_EQ(clock.at(1e6), 5.25);
  EXPECT_EQ(clock.real_time_of(5.3), kInfiniteTime);
  EXPECT_NEAR(clock.real_time_of(5.25), 5.5, 1e-6);
  EXPECT_EQ(clock.real_time_of(4.0), 5.0);
}

TEST(ScaledClock, RefusesInvalidScales) {
  ScaledClock clock;
  for (const double bad : {-0.1, 100.1, kNotANumber, kInfiniteTime})
    EXPECT_FALSE(clock.set_scale(bad, 1.0));
  EXPECT_FALSE(clock.set_scale(1.0, kNotANumber));
  EXPECT_FALSE(clock.set_scale(1.0, 1.0, kNotANumber));
  EXPECT_FALSE(clock.set_scale(1.0, 1.0, -1.0));
  EXPECT_FALSE(clock.set_scale(1.0, 1.0, kInfiniteTime));
  EXPECT_EQ(clock.at(3.0), 3.0);
}

}  // namespace
}  // namespace reckoner
