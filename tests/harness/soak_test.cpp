// SPDX-License-Identifier: MIT
#include "harness/stress/soak/soak.hpp"

#include "harness/stress/soak/numbered.hpp"
#include "harness/stress/soak/wrap_watch.hpp"
#include "tests/support/sanitizer.hpp"

#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

TEST(Soak, FewMinutesInVirtualTimeLeakNothing) {
  const double seconds = test::kSanitized ? 180.0 : 420.0;
  const SoakReport report =
      soak_in_virtual_time({.clients = 24, .entities = 12, .seconds = seconds}, [](double) {});
  for (const std::string& wrong : report.wrong)
    ADD_FAILURE() << wrong;
  if (test::kSanitized) return;  // too short for these numbers
  EXPECT_GT(report.figures["resumed"].get<int>(), 10);
  EXPECT_GT(report.figures["restarted"].get<int>(), 5);
  EXPECT_GT(report.figures["sessions"].get<int>(), 30);
  EXPECT_GT(report.figures["messages"].get<int>(), 1000);
  EXPECT_GT(report.figures["clients_there_mean"].get<double>(), 8.0);
}

// Checks that the soak test can fail.
TEST(Soak, ReportsGrowth) {
  SoakSeries series{"leak", {}};
  for (int i = 0; i < 100; ++i)
    series.values.push_back(1000.0 + i);
  EXPECT_EQ(growth(series, 0.0, 0.0), "leak grew from 1050 to 1090");
  EXPECT_EQ(growth(series, 0.05, 0.0), "");
  EXPECT_EQ(growth(series, 0.0, 50.0), "");
  series.values.assign(100, 7.0);
  EXPECT_EQ(growth(series, 0.0, 0.0), "");
}

TEST(NumberedMessages, AcceptsTheNextNumberOfASession) {
  NumberedMessages heard;
  EXPECT_TRUE(heard.accept(NumberedMessages::bytes(5, 1)));
  EXPECT_TRUE(heard.accept(NumberedMessages::bytes(5, 2)));
  EXPECT_FALSE(heard.accept(NumberedMessages::bytes(5, 4))) << "one is missing";
  EXPECT_TRUE(heard.accept(NumberedMessages::bytes(6, 1))) << "another session";
  EXPECT_FALSE(heard.accept(NumberedMessages::bytes(6, 1))) << "repeated";
  EXPECT_FALSE(heard.accept({}));
}

TEST(WrapCount, CountsTheWrapsOfASession) {
  WrapCount count;
  EXPECT_EQ(count.wraps(), 0);
  for (std::uint32_t i = 65'000; i < 65'000 + 3 * 65'536; i += 1 + i % 100)  // some are lost
    count.note(static_cast<std::uint16_t>(i));
  EXPECT_EQ(count.wraps(), 2);
  count.note(static_cast<std::uint16_t>(65'000));
  EXPECT_EQ(count.wraps(), 3);
  count.note(64'999);  // overtaken
  EXPECT_EQ(count.wraps(), 3);
  count.restart();
  for (std::uint32_t i = 0; i < 2 * 65'536; i += 7)
    count.note(static_cast<std::uint16_t>(i));
  EXPECT_EQ(count.wraps(), 3) << "the longest session counts";
}

}  // namespace
}  // namespace reckoner::harness
