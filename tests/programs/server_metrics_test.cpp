// SPDX-License-Identifier: MIT
// The parts of the server's metrics.
#include "programs/common/log.hpp"
#include "programs/server/exposition.hpp"
#include "programs/server/metrics.hpp"

#include <string>

#include <gtest/gtest.h>

namespace reckoner::program {
namespace {

TEST(DurationHistogram, CountsUpToEachBound) {
  DurationHistogram histogram;
  for (const double seconds : {0.0, 1e-4, 0.0015, 0.3, 7.0, -1.0})
    histogram.add(seconds);
  const auto cumulative = histogram.cumulative();
  EXPECT_EQ(cumulative[0], 3u) << "bounds are inclusive";
  EXPECT_EQ(cumulative[3], 3u);
  EXPECT_EQ(cumulative[4], 4u);
  EXPECT_EQ(cumulative[11], 5u);
  EXPECT_EQ(cumulative[12], 6u);
  EXPECT_NEAR(histogram.sum_s(), 7.3016, 1e-9);
}

TEST(RecentValues, QuantilesOfTheNewest) {
  RecentValues values;
  EXPECT_TRUE(values.empty());
  values.add(3.0);
  EXPECT_EQ(values.quantile(0.5), 3.0);
  for (int i = 0; i < 10'000; ++i)
    values.add(i);
  EXPECT_EQ(values.quantile(0.0), 10'000 - 2048);
  EXPECT_EQ(values.quantile(1.0), 9'999);
  EXPECT_NEAR(values.quantile(0.5), 10'000 - 1024, 1.0);
}

TEST(ServerHealth, RequiresTicks) {
  ServerMetrics metrics{60.0, 100.0, 10};
  EXPECT_TRUE(metrics.health(101.0).well) << "it has just begun";
  const auto hanging = metrics.health(105.0);
  EXPECT_FALSE(hanging.well);
  EXPECT_EQ(hanging.text, "no tick for 5.0 s");
  metrics.note_stopping();
  EXPECT_FALSE(metrics.health(100.1).well);
  ServerMetrics slow{1.0, 100.0, 10};
  EXPECT_TRUE(slow.health(103.5).well) << "one tick per second is healthy";
}

TEST(Exposition, NamesLabelsAndValues) {
  Exposition page;
  page.counters("a_total", "Help.", "why", {{"x", 1}, {"y", 9'007'199'254'740'991}});
  page.gauge("b", "Help.", 0.25, {{"path", "a\"b\\c\nd"}});
  page.quantiles("none", "Of nothing.", RecentValues{});
  const std::string text = page.text();
  EXPECT_NE(text.find("# TYPE a_total counter\n"), std::string::npos) << text;
  EXPECT_NE(text.find("a_total{why=\"x\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("b{path=\"a\\\"b\\\\c\\nd\"} 0.25\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("none"), std::string::npos) << text;
}

TEST(LogLimit, LimitsLinesPerSecondAndCountsTheRest) {
  LogLimit limit{3};
  int said = 0;
  for (int i = 0; i < 10; ++i)
    said += limit.allows(5.0 + 0.01 * i) ? 1 : 0;
  EXPECT_EQ(said, 3);
  EXPECT_EQ(limit.take_suppressed(5.5), 0u) << "the second is not over";
  EXPECT_EQ(limit.take_suppressed(6.1), 7u);
  EXPECT_EQ(limit.take_suppressed(6.2), 0u);
  EXPECT_TRUE(limit.allows(6.3));
}

}  // namespace
}  // namespace reckoner::program
