// SPDX-License-Identifier: MIT
#include "client/src/playout/showing_reporter.hpp"

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(ShowingReporter, ReportsTheClockAndTheDelay) {
  ShowingReporter reporter;
  reporter.begin(true);
  const ShowingReport report = reporter.report({2.50005, 2.25005});
  EXPECT_EQ(report.clock, 25'000u);
  EXPECT_EQ(report.delay, 2500u);
  EXPECT_EQ(report.count, 0u);
  EXPECT_EQ(reporter.report({2.0, 3.0}).delay, 0u);  // shown ahead of the clock
  EXPECT_EQ(reporter.report({20.0, 3.0}).delay, ShowingReport::kMaxDelay);
}

TEST(ShowingReporter, NamesArrivalsOnlyToAServerThatWantsThem) {
  for (const bool wanted : {false, true}) {
    ShowingReporter reporter;
    reporter.begin(wanted);
    reporter.note_applied(7, 1.0);
    const ShowingReport report = reporter.report({1.2, 1.1}, 1, true);
    EXPECT_EQ(report.count, wanted ? 1u : 0u);
    EXPECT_EQ(report.arrivals[0] == (ShowingReport::Arrival{7, 1000}), wanted);
  }
}

TEST(ShowingReporter, RepeatsArrivalsUntilTheyAreAcknowledged) {
  ShowingReporter reporter;
  reporter.begin(true);
  reporter.note_applied(7, 1.0);
  EXPECT_EQ(reporter.report({1.2, 1.1}, 1, true).count, 1u);
  EXPECT_EQ(reporter.report({1.2, 1.1}, 2, true).count, 1u);
  reporter.note_acknowledged({1});
  EXPECT_EQ(reporter.report({1.2, 1.1}, 3, true).count, 0u);
}

TEST(ShowingReporter, BeginsAnEraAfterJumps) {
  ShowingReporter reporter;
  reporter.begin(true);
  reporter.note_applied(7, 1.0);
  EXPECT_EQ(reporter.report({1.2, 1.1}).era, 0u);
  reporter.note_jump();
  reporter.note_jump();  // no report in between
  const ShowingReport report = reporter.report({1.2, 1.1}, 1, true);
  EXPECT_EQ(report.era, 1u);
  EXPECT_EQ(report.count, 0u);  // earlier arrivals mean nothing any more
  EXPECT_EQ(reporter.report({1.2, 1.1}).era, 1u);
  for (unsigned era : {2u, 3u, 0u}) {
    reporter.note_jump();
    EXPECT_EQ(reporter.report({1.2, 1.1}).era, era);
  }
}

}  // namespace
}  // namespace reckoner
