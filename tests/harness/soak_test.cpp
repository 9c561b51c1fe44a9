// SPDX-License-Identifier: MIT
#include "soak/soak.hpp"

#include "soak/numbered.hpp"

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

}  // namespace
}  // namespace reckoner::harness
