// SPDX-License-Identifier: MIT
#include "client/src/connection/local_time.hpp"

#include <gtest/gtest.h>

namespace reckoner {
namespace {

// Calls the watch `looks` times, every `every_s` from `from_s` on. Returns how many calls reported a sleep.
int sleeps(SleepWatch& watch, double from_s, double every_s, int looks) {
  int count = 0;
  for (int i = 0; i < looks; ++i)
    count += watch.slept(from_s + every_s * i) ? 1 : 0;
  return count;
}

TEST(SleepWatch, ReportsASleepOnce) {
  SleepWatch watch;
  EXPECT_EQ(sleeps(watch, 1e6, 1.0 / 60.0, 600), 0);
  EXPECT_TRUE(watch.slept(1e6 + 14.0));
  EXPECT_EQ(sleeps(watch, 1e6 + 14.02, 1.0 / 60.0, 600), 0);
  EXPECT_TRUE(watch.slept(1e6 + 26.0));
}

TEST(SleepWatch, LongFrameIsNotASleep) {
  SleepWatch watch;
  EXPECT_EQ(sleeps(watch, 0.0, 1.0 / 60.0, 60), 0);
  EXPECT_FALSE(watch.slept(1.4));
}

TEST(SleepWatch, RareCallsAreNotASleep) {
  SleepWatch watch;
  EXPECT_LE(sleeps(watch, 0.0, 1.0, 100), 3) << "until the watch has learned the interval";
  EXPECT_EQ(sleeps(watch, 100.0, 1.0, 100), 0);
}

}  // namespace
}  // namespace reckoner
