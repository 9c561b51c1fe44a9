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

TEST(LocalTime, IgnoresNaN) {
  LocalTime time;
  EXPECT_EQ(time.of(1.0), 1.0);
  EXPECT_EQ(time.of(std::numeric_limits<double>::quiet_NaN()), 1.0);
  EXPECT_EQ(time.of(2.0), 2.0);
}

}  // namespace
}  // namespace reckoner
