// SPDX-License-Identifier: MIT
#include "client/src/prediction/input_clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr double kTickS = 1.0 / 60.0;
constexpr double kGuessS = 0.08;

// Whatever the server reports and however the pictures come, the clock runs within 2 % of the local one.
TEST(InputClock, NeverRunsMoreThan2PercentOffAndNeverBack) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    InputClock clock;
    double local_s = 7.0, server_s = 300.0;
    EXPECT_TRUE(clock.advance(local_s, server_s, kGuessS, kTickS));
    EXPECT_DOUBLE_EQ(clock.time_s(), server_s + kGuessS);
    int jumps = 0;
    for (int i = 0; i < 5000; ++i) {
      const double rate = clock.rate();
      const double elapsed_s = 0.03 * unit(random);
      local_s += elapsed_s;
      server_s += elapsed_s * (0.99 + 0.02 * unit(random));  // the estimate drifts
      if (unit(random) < 0.8)
        clock.note_early(clock.lead_s(), kTickS * unit(random), 0.1 * unit(random) - 0.05);
      const double before_s = clock.time_s();
      clock.note_picture();
      if (clock.advance(local_s, server_s, kGuessS, kTickS)) {
        ++jumps;
        continue;
      }
      const double advanced_s = clock.time_s() - before_s;
      ASSERT_GE(advanced_s, (1.0 - InputClock::kMostRate) * elapsed_s - 1e-9);
      ASSERT_LE(advanced_s, (1.0 + InputClock::kMostRate) * elapsed_s + 1e-9);
      ASSERT_LE(std::abs(clock.rate() - rate), InputClock::kMostRateChange * elapsed_s + 1e-12);
    }
    EXPECT_EQ(jumps, 0);
  }
}

// A link that takes between 40 and 70 ms, in steady pictures.
struct Link {
  std::mt19937 random{3};
  InputClock clock;
  double local_s = 0.0;
  double least_s = 0.04, most_s = 0.07;
  std::size_t inputs = 0, late = 0;

  // Every picture steps an input; what the server sees of it comes at once.
  void run(double seconds, bool counts) {
    for (double left_s = seconds; left_s > 0.0; left_s -= kTickS) {
      local_s += kTickS;
      clock.advance(local_s, local_s + 100.0, kGuessS, kTickS);
      clock.note_picture();
      const double trip_s = std::uniform_real_distribution(least_s, most_s)(random);
      const double early_s = clock.lead_s() - trip_s;
      clock.note_early(clock.lead_s(), 0.0, std::floor(early_s / kTickS * 8.0) / 8.0 * kTickS);
      if (!counts) continue;
      ++inputs;
      late += early_s < 0.0 ? 1 : 0;
    }
  }
};

TEST(InputClock, LeadIsJustLongEnough) {
  Link link;
  link.run(15.0, false);
  link.run(60.0, true);
  EXPECT_LE(static_cast<double>(link.late), 0.003 * static_cast<double>(link.inputs));
  // A picture is added, because it is not known how long the next input waits.
  EXPECT_LT(link.clock.lead_s(), link.most_s + 1.5 * kTickS);
}

TEST(InputClock, LeadFollowsTheLink) {
  Link link;
  link.run(15.0, false);
  const double before_s = link.clock.lead_s();
  link.least_s += 0.05;
  link.most_s += 0.05;
  link.run(5.0, false);  // 2 % of 3 s are 0.06 s
  EXPECT_GT(link.clock.lead_s(), before_s + 0.045);
  link.run(10.0, true);
  EXPECT_LE(static_cast<double>(link.late), 0.003 * static_cast<double>(link.inputs));
  link.least_s -= 0.05;
  link.most_s -= 0.05;
  link.run(25.0, false);  // the old reports are forgotten after 10 s
  EXPECT_LT(link.clock.lead_s(), before_s + 0.01);
}

// Datagrams arrive between pictures, and the client advances with each. A tick waits for the next picture all
// the same. On a link without much jitter, no input is late, however the pictures drift against the ticks.
TEST(InputClock, NoInputIsLateOnAQuietLinkWithUpdatesBetweenPictures) {
  for (const double picture_s : {1.0 / 30.0, 1.0 / 59.9, 1.0 / 60.0, 1.0 / 60.1, 1.0 / 144.0}) {
    std::mt19937 random(5);
    std::normal_distribution<double> jitter_s(0.0, 0.0005);
    InputClock clock;
    double local_s = 0.0, most_lead_s = -1.0;
    std::int64_t stepped = -1;
    std::size_t late = 0, inputs = 0;
    while (local_s < 120.0) {
      for (int part = 0; part < 3; ++part) {
        local_s += picture_s / 3.0;
        clock.advance(local_s, local_s, 0.035, kTickS);
      }
      clock.note_picture();
      clock.note_picture();  // the game asks until no tick is due
      const auto due = static_cast<std::int64_t>(std::floor(clock.time_s() / kTickS)) + 1;
      if (stepped < 0) stepped = due - 1;
      for (; stepped < due; ++stepped) {
        const double tick_s = static_cast<double>(stepped + 1) * kTickS;
        const double early_s = tick_s - (local_s + 0.002 + std::abs(jitter_s(random)));
        const double waited_s = clock.time_s() - static_cast<double>(stepped) * kTickS;
        clock.note_early(clock.lead_s(), waited_s, std::floor(early_s / kTickS * 8.0) / 8.0 * kTickS);
        if (local_s < 8.0) continue;
        ++inputs;
        late += early_s < 0.0 ? 1 : 0;
        most_lead_s = std::max(most_lead_s, clock.lead_s());
      }
    }
    EXPECT_GT(inputs, 6000u);
    EXPECT_EQ(late, 0u) << picture_s;
    // From a tick's beginning: the picture's wait, the trip, and a third of a tick.
    EXPECT_LT(most_lead_s + kTickS, picture_s + 0.004 + kTickS / 3.0) << picture_s;
  }
}

TEST(InputClock, JumpsOnlyAfterAStall) {
  InputClock clock;
  EXPECT_FALSE(clock.started());
  (void)clock.advance(1.0, 10.0, kGuessS, kTickS);
  EXPECT_TRUE(clock.started());
  EXPECT_FALSE(clock.advance(1.5, 10.5, kGuessS, kTickS));  // a long picture is no stall of the clock
  EXPECT_FALSE(clock.advance(1.6, 10.8, kGuessS, kTickS));  // 0.2 s apart
  EXPECT_TRUE(clock.advance(1.7, 11.4, kGuessS, kTickS));
  EXPECT_DOUBLE_EQ(clock.time_s(), 11.4 + kGuessS);
  EXPECT_NEAR(clock.lead_s(), kGuessS, 1e-9);
  clock.stop();
  EXPECT_FALSE(clock.started());
  EXPECT_TRUE(clock.advance(1.8, 11.5, kGuessS, kTickS));
}

// A local clock that goes back does not take the inputs back.
TEST(InputClock, LocalTimeThatGoesBackAddsNothing) {
  InputClock clock;
  (void)clock.advance(1.0, 10.0, kGuessS, kTickS);
  const double before_s = clock.time_s();
  EXPECT_FALSE(clock.advance(0.9, 10.0, kGuessS, kTickS));
  EXPECT_EQ(clock.time_s(), before_s);
}

TEST(InputClock, ForgetsTheReportsOfAnotherPath) {
  InputClock clock;
  (void)clock.advance(0.0, 10.0, kGuessS, kTickS);
  for (int i = 0; i < 100; ++i)
    clock.note_early(0.2, 0.0, 0.0);
  clock.stop();
  (void)clock.advance(1.0, 11.0, kGuessS, kTickS);
  EXPECT_GT(clock.lead_s(), 0.19);
  clock.forget_reports();
  clock.stop();
  (void)clock.advance(2.0, 12.0, kGuessS, kTickS);
  EXPECT_NEAR(clock.lead_s(), kGuessS, 1e-9);
}

}  // namespace
}  // namespace reckoner
