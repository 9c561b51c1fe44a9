// SPDX-License-Identifier: MIT
#include "client/src/connection/local_time.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(LocalTime, IsMonotonicWhenTheClockIsSet) {
  LocalTime time;
  EXPECT_EQ(time.of(100.0), 100.0);
  EXPECT_EQ(time.of(101.0), 101.0);
  EXPECT_EQ(time.of(100.99), 101.0) << "a small step back is not a clock change";
  EXPECT_EQ(time.of(102.0), 102.0);
  EXPECT_EQ(time.of(5.0), 102.0) << "set back";
  EXPECT_DOUBLE_EQ(time.of(6.5), 103.5);
  EXPECT_DOUBLE_EQ(time.of(3600.0), 3697.0) << "a sleep and a forward set look alike";
  EXPECT_DOUBLE_EQ(time.of(-1e9), 3697.0);
  EXPECT_DOUBLE_EQ(time.of(-1e9 + 1.0), 3698.0);
}

// Times are converted to integers later. No clock shows such times, so the program has a fault.
TEST(LocalTime, IgnoresTimesThatNoClockHas) {
  LocalTime time;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double first : {-1e305, 1e305, -kInfinity, kInfinity})
    EXPECT_GE(time.of(first), -1e12);
  EXPECT_EQ(time.of(1.0), 1.0);
  for (const double wrong : {1e305, 1e13, -1e13, -1e305, kInfinity, -kInfinity}) {
    EXPECT_EQ(time.of(wrong), 1.0) << wrong;
  }
  EXPECT_EQ(time.of(2.0), 2.0);
  for (int i = 0; i < 10'000; ++i)
    EXPECT_LE(time.of(i % 2 == 0 ? 1e12 : -1e12), 1e14);
}

TEST(LocalTime, IgnoresNaN) {
  LocalTime time;
  EXPECT_EQ(time.of(1.0), 1.0);
  EXPECT_EQ(time.of(std::numeric_limits<double>::quiet_NaN()), 1.0);
  EXPECT_EQ(time.of(2.0), 2.0);
}

TEST(LocalTime, ALoneTimeFarFromTheOthersChangesNothing) {
  LocalTime time;
  EXPECT_EQ(time.of(50'000.0), 50'000.0);
  for (const double wrong : {0.0, 1e9, -1e9, 49'000.0, 60'000.0}) {
    EXPECT_EQ(time.of(wrong), 50'000.0) << wrong;
    EXPECT_EQ(time.of(50'000.0), 50'000.0) << wrong;
  }
  EXPECT_EQ(time.refused(), 5u);
  EXPECT_EQ(time.of(50'001.0), 50'001.0);
  // A clock that was set stays where it is.
  EXPECT_EQ(time.of(1e9), 50'001.0);
  EXPECT_EQ(time.of(1e9 + 0.5), 50'001.5);
}

TEST(LocalTime, TheRateChangesWithoutAJump) {
  LocalTime time;
  (void)time.of(1000.0);
  time.change_rate(2.0);
  EXPECT_DOUBLE_EQ(time.of(1000.0), 1000.0);
  EXPECT_DOUBLE_EQ(time.of(1001.0), 1002.0);
  time.change_rate(0.5);
  EXPECT_EQ(time.rate(), 1.0);
  EXPECT_DOUBLE_EQ(time.of(1002.0), 1003.0);
}

}  // namespace
}  // namespace reckoner
