// SPDX-License-Identifier: MIT
#include "client/src/world/field_timeline.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

FieldValue number(std::int64_t n) {
  return n;
}

FieldTimeline of_numbers(std::size_t count, double time_s = 0.0) {
  return {std::vector<FieldValue>(count, number(0)), time_s};
}

TEST(FieldTimeline, ChangeTakesEffectAtItsTime) {
  FieldTimeline timeline = of_numbers(2);
  EXPECT_TRUE(timeline.add(1, 2.0, number(7)));
  EXPECT_EQ(timeline.advance(1.99), 0u);
  EXPECT_EQ(timeline.value(1), number(0));
  EXPECT_EQ(timeline.advance(2.0), 2u);
  EXPECT_EQ(timeline.value(1), number(7));
  EXPECT_EQ(timeline.value(0), number(0));
  EXPECT_EQ(timeline.advance(3.0), 0u);
}

TEST(FieldTimeline, LateChangesArePlayedInOrderOrDropped) {
  FieldTimeline timeline = of_numbers(1);
  EXPECT_TRUE(timeline.add(0, 2.0, number(2)));
  EXPECT_TRUE(timeline.add(0, 1.0, number(1)));  // overtaken, but still in time
  EXPECT_EQ(timeline.advance(1.5), 1u);
  EXPECT_EQ(timeline.value(0), number(1));
  timeline.advance(2.5);
  EXPECT_EQ(timeline.value(0), number(2));
  EXPECT_FALSE(timeline.add(0, 1.7, number(99)));
  EXPECT_FALSE(timeline.add(0, 2.0, number(99)));  // repeated
  timeline.advance(9.0);
  EXPECT_EQ(timeline.value(0), number(2));
}

TEST(FieldTimeline, ChangesInTheInitialValuesAreNotPlayedAgain) {
  FieldTimeline timeline = of_numbers(1, 5.0);
  EXPECT_FALSE(timeline.add(0, 4.0, number(4)));
  EXPECT_FALSE(timeline.add(0, 5.0, number(5)));
  EXPECT_TRUE(timeline.add(0, 5.1, number(6)));
}

TEST(FieldTimeline, RepeatedPendingChangeHasNoEffect) {
  FieldTimeline timeline = of_numbers(1);
  EXPECT_TRUE(timeline.add(0, 1.0, number(1)));
  EXPECT_FALSE(timeline.add(0, 1.0, number(2)));
  timeline.advance(1.0);
  EXPECT_EQ(timeline.value(0), number(1));
}

// For any number of pending changes, the last value of every field appears at its time, and no value appears
// early.
TEST(FieldTimeline, DropsOnlyIntermediateValuesWhenFull) {
  std::mt19937_64 random(1);
  for (const std::size_t fields : {1u, 3u, 32u}) {
    FieldTimeline timeline = of_numbers(fields);
    std::map<std::size_t, double> last;
    std::vector<std::pair<std::size_t, double>> changes;
    for (int i = 1; i <= 500; ++i) {
      changes.emplace_back(random() % fields, i);
      last[changes.back().first] = i;
    }
    std::shuffle(changes.begin(), changes.end(), random);
    for (const auto& [field, time_s] : changes)
      timeline.add(field, time_s, number(static_cast<std::int64_t>(time_s)));
    std::vector<std::int64_t> shown(fields, 0);
    for (int now = 0; now <= 500; ++now) {
      timeline.advance(now);
      for (std::size_t field = 0; field < fields; ++field) {
        const auto value = std::get<std::int64_t>(timeline.value(field));
        EXPECT_LE(value, now);  // each value equals the time at which it was set
        EXPECT_GE(value, shown[field]);
        shown[field] = value;
      }
    }
    for (const auto& [field, time_s] : last)
      EXPECT_EQ(static_cast<double>(shown[field]), time_s);
  }
}

// More changes arrive than fit. The shown value still advances, and its age stays between the delay and twice
// the delay.
TEST(FieldTimeline, AdvancesUnderASteadyOverload) {
  FieldTimeline timeline = of_numbers(2);
  constexpr double kDelayS = 1.0;
  for (int tick = 1; tick < 1200; ++tick) {
    const double now_s = tick / 60.0;
    timeline.add(1, now_s, number(tick));
    timeline.advance(now_s - kDelayS);
    if (now_s < 2.0 * kDelayS) continue;
    const double shown_s = static_cast<double>(std::get<std::int64_t>(timeline.value(1))) / 60.0;
    EXPECT_LE(shown_s, now_s - kDelayS + 1e-9);
    EXPECT_GE(shown_s, now_s - 2.0 * kDelayS);
  }
}

TEST(FieldTimeline, DropsNothingWhileNotFull) {
  FieldTimeline timeline = of_numbers(1);
  for (int i = 16; i >= 1; --i)
    EXPECT_TRUE(timeline.add(0, i, number(i)));
  for (int i = 1; i <= 16; ++i) {
    EXPECT_EQ(timeline.advance(i), 1u);
    EXPECT_EQ(timeline.value(0), number(i));
  }
}

TEST(FieldTimeline, WithoutATimeChangesAreShownAtOnce) {
  FieldTimeline timeline = of_numbers(1);
  constexpr double kNow = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(timeline.add(0, 8.0, number(8)));
  timeline.advance(kNow);
  EXPECT_FALSE(timeline.add(0, 7.0, number(7)));
  timeline.advance(kNow);
  EXPECT_EQ(timeline.value(0), number(8));
}

}  // namespace
}  // namespace reckoner
