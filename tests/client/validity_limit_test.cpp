// SPDX-License-Identifier: MIT
#include "client/src/playout/validity_limit.hpp"

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(ValidityLimit, NeverPassesBeforeTheFirstArrival) {
  const ValidityLimit limit(1.0, 5.0);
  EXPECT_FALSE(limit.passed(1e9));
}

TEST(ValidityLimit, SilentConnectionEndsAllMotions) {
  ValidityLimit limit(1.0, 5.0);
  limit.note_arrival(10.0);
  limit.note_complete(10.0);
  EXPECT_FALSE(limit.passed(11.0));
  EXPECT_TRUE(limit.passed(11.001));
  EXPECT_EQ(limit.of(2.0), 11.0);
  EXPECT_EQ(limit.of(10.9), 11.0);
}

// A motion from before a silence does not become valid again just because something arrives.
TEST(ValidityLimit, ASilenceIsNotForgotten) {
  ValidityLimit limit(1.0, 5.0);
  limit.note_arrival(10.0);
  limit.note_complete(9.9);
  EXPECT_EQ(limit.of(9.8), 11.0);
  limit.note_arrival(13.0);
  EXPECT_EQ(limit.of(9.8), 11.0);
  EXPECT_TRUE(limit.passed(13.0));
  EXPECT_FALSE(limit.is_valid_again(9.8, 11.0, 13.0));
  EXPECT_EQ(limit.of(12.9), 14.0);  // a motion from the time of the silence
  limit.note_complete(12.9);  // what was published later is missing, and it may have replaced other motions
  EXPECT_FALSE(limit.is_valid_again(9.8, 11.0, 13.0));
  EXPECT_EQ(limit.of(9.8), 11.0);
  limit.note_complete(13.1);
  EXPECT_TRUE(limit.is_valid_again(9.8, 11.0, 13.0));
  EXPECT_EQ(limit.of(9.8), 14.0);
}

TEST(ValidityLimit, CompletenessClaimsExtendAllMotions) {
  ValidityLimit limit(1.0, 5.0);
  for (double now_s = 10.0; now_s < 1000.0; now_s += 0.25) {
    limit.note_arrival(now_s);
    limit.note_complete(now_s - 0.1);
    EXPECT_FALSE(limit.passed(now_s + 0.25));
    EXPECT_GT(limit.of(10.0), now_s + 0.25);
  }
}

TEST(ValidityLimit, UnconfirmedMotionEnds) {
  ValidityLimit limit(1.0, 5.0);
  limit.note_arrival(10.0);
  for (double now_s = 10.0; now_s < 20.0; now_s += 0.1)
    limit.note_arrival(now_s);
  EXPECT_TRUE(limit.passed(15.1));
  EXPECT_DOUBLE_EQ(limit.of(8.0), 15.0);   // counts from the first arrival, which counts as complete
  EXPECT_DOUBLE_EQ(limit.of(12.0), 17.0);  // the entity's own motion confirms it
}

TEST(ValidityLimit, MotionIsValidAgainAfterANewConfirmation) {
  ValidityLimit limit(1.0, 5.0);
  limit.note_arrival(9.0);
  limit.note_arrival(10.0);
  limit.note_complete(9.9);
  const double until_s = limit.of(9.0);
  ASSERT_EQ(until_s, 11.0);
  EXPECT_FALSE(limit.is_valid_again(9.0, until_s, 12.0));
  limit.note_arrival(12.0);  // a datagram arrives, but it claims nothing about the time before
  EXPECT_FALSE(limit.is_valid_again(9.0, until_s, 12.0));
  EXPECT_TRUE(limit.is_valid_again(11.9, until_s, 12.0));  // an entity that has a newer motion
  limit.note_complete(11.9);
  EXPECT_FALSE(limit.is_valid_again(9.0, until_s, 12.0));
  limit.note_complete(12.1);
  EXPECT_TRUE(limit.is_valid_again(9.0, until_s, 12.0));
}

TEST(ValidityLimit, SettingTheClockIsNotSilence) {
  ValidityLimit limit(1.0, 5.0);
  limit.note_arrival(10.0);
  limit.note_complete(10.0);
  limit.clock_stepped(3.0);
  EXPECT_FALSE(limit.passed(14.0));
  EXPECT_TRUE(limit.passed(14.1));
}

}  // namespace
}  // namespace reckoner
