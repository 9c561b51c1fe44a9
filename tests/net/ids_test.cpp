// SPDX-License-Identifier: MIT
#include <limits>

#include <gtest/gtest.h>

#include <reckoner/net/ids.hpp>

namespace reckoner {
namespace {

TEST(WholeTicks, RoundsDown) {
  EXPECT_EQ(whole_ticks(0.0), 0u);
  EXPECT_EQ(whole_ticks(0.99), 0u);
  EXPECT_EQ(whole_ticks(7.0), 7u);
  EXPECT_EQ(whole_ticks(7.99), 7u);
  EXPECT_EQ(whole_ticks(4294967294.5), 4294967294u);
}

TEST(WholeTicks, ClampsValuesOutOfRange) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double ticks : {-0.5, -1e300, -kInfinity, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(whole_ticks(ticks), 0u) << ticks;
  for (const double ticks : {4294967295.0, 4294967296.0, 1e300, kInfinity})
    EXPECT_EQ(whole_ticks(ticks), 4294967295u) << ticks;
}

}  // namespace
}  // namespace reckoner
