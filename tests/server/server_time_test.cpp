// SPDX-License-Identifier: MIT
// When ticks are due, and the present that the game gives.
#include "server/src/util/server_time.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

TEST(ServerTime, CountsTicksFromTheEpoch) {
  ServerTime time{100.0, 50.0};
  EXPECT_EQ(time.next_tick(), 0u);
  EXPECT_EQ(time.last_tick(), 0u);
  EXPECT_DOUBLE_EQ(time.at(0), 100.0);
  EXPECT_DOUBLE_EQ(time.at(25), 100.5);
  EXPECT_EQ(time.begin_tick(), 0u);
  EXPECT_EQ(time.begin_tick(), 1u);
  EXPECT_EQ(time.next_tick(), 2u);
  EXPECT_EQ(time.last_tick(), 1u);
  EXPECT_DOUBLE_EQ(time.tick_s(), 0.02);
}

TEST(ServerTime, KeepsThePresentWhileTheGameGivesATimeThatCannotBeRight) {
  constexpr double kYearS = 365.0 * 86'400.0;
  ServerTime time{0.0, 60.0};
  ASSERT_TRUE(time.set_present(5.0));
  EXPECT_FALSE(time.set_present(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(time.set_present(kYearS));
  EXPECT_DOUBLE_EQ(time.present_s(), 5.0);
  EXPECT_TRUE(time.set_present(kYearS + 1.0));  // the second call confirms it
  EXPECT_DOUBLE_EQ(time.present_s(), kYearS + 1.0);
}

}  // namespace
}  // namespace reckoner::test
