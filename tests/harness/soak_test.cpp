// SPDX-License-Identifier: MIT
#include "harness/stress/soak/soak.hpp"

#include "harness/stress/soak/numbered.hpp"
#include "harness/stress/soak/wrap_watch.hpp"

#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

TEST(Soak, AFewMinutesInVirtualTimeLeaveNothingBehind) {
  const SoakReport report = soak_virtually({.clients = 24, .entities = 12, .seconds = 420.0}, [](double) {});
  for (const std::string& wrong : report.wrong)
    ADD_FAILURE() << wrong;
  EXPECT_GT(report.figures["resumed"].get<int>(), 10);
  EXPECT_GT(report.figures["restarted"].get<int>(), 5);
  EXPECT_GT(report.figures["sessions"].get<int>(), 30);
  EXPECT_GT(report.figures["messages"].get<int>(), 1000);
  EXPECT_GT(report.figures["clients_there_mean"].get<double>(), 8.0);
}

// It can fail.
TEST(Soak, TellsWhatGrows) {
  SoakSeries series{"leak", {}};
  for (int i = 0; i < 100; ++i)
    series.values.push_back(1000.0 + i);
  EXPECT_EQ(growth(series, 0.0, 0.0), "leak grew from 1050 to 1090");
  EXPECT_EQ(growth(series, 0.05, 0.0), "");
  EXPECT_EQ(growth(series, 0.0, 50.0), "");
  series.values.assign(100, 7.0);
  EXPECT_EQ(growth(series, 0.0, 0.0), "");
}

TEST(Numbered, KnowsTheNextOfItsSession) {
  Numbered heard;
  EXPECT_TRUE(heard.take(Numbered::bytes(5, 1)));
  EXPECT_TRUE(heard.take(Numbered::bytes(5, 2)));
  EXPECT_FALSE(heard.take(Numbered::bytes(5, 4))) << "one is missing";
  EXPECT_TRUE(heard.take(Numbered::bytes(6, 1))) << "another session";
  EXPECT_FALSE(heard.take(Numbered::bytes(6, 1))) << "repeated";
  EXPECT_FALSE(heard.take({}));
}

TEST(WrapCount, CountsTheRoundsOfASession) {
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
