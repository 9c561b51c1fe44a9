// SPDX-License-Identifier: MIT
// The game's clock in the C API. tests/reckoning/scaled_clock_test.cpp covers the properties of the C++
// class.
#include "pair.hpp"

#include <cmath>

namespace reckoner::test {
namespace {

TEST(CClock, FollowsItsScale) {
  reckoner_clock clock;
  reckoner_clock_init(&clock, 100.0, 7.0);
  EXPECT_EQ(reckoner_clock_at(&clock, 101.5), 8.5);
  EXPECT_EQ(reckoner_clock_scale_at(&clock, 101.5), 1.0);
  ASSERT_EQ(reckoner_clock_set_scale(&clock, 0.5, 102.0, 1.0), RECKONER_OK);
  EXPECT_DOUBLE_EQ(reckoner_clock_at(&clock, 102.0), 9.0);
  EXPECT_DOUBLE_EQ(reckoner_clock_scale_at(&clock, 102.5), 0.75);
  EXPECT_DOUBLE_EQ(reckoner_clock_at(&clock, 105.0), 9.75 + 1.0);
  EXPECT_DOUBLE_EQ(reckoner_clock_real_time_of(&clock, 10.75), 105.0);
  const reckoner_clock before = clock;
  EXPECT_EQ(reckoner_clock_set_scale(&clock, -1.0, 106.0, 0.0), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_clock_set_scale(&clock, std::nan(""), 106.0, 0.0), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(clock.real_s, before.real_s);
  ASSERT_EQ(reckoner_clock_set_scale(&clock, 0.0, 106.0, 0.0), RECKONER_OK);
  EXPECT_EQ(reckoner_clock_real_time_of(&clock, 100.0), HUGE_VAL);
}

}  // namespace
}  // namespace reckoner::test
