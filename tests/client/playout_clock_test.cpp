// SPDX-License-Identifier: MIT
#include "client/src/playout/playout_clock.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr double kClockFrameS = 1.0 / 60.0;

/// Runs a clock frame by frame and keeps the smallest and the largest rate.
struct Runner {
  PlayoutClock clock;
  double now_s = 100.0;
  double least_rate = 10.0;
  double most_rate = 0.0;
  double most_change = 0.0;  // largest change of the rate from one picture to the next

  double last_rate = 1.0;

  explicit Runner(const PlayoutConfig& config) : clock(config) { clock.advance(now_s, false); }

  void run(double seconds) {
    for (double left_s = seconds; left_s > 1e-9; left_s -= kClockFrameS) {
      const double before_s = clock.shown_s();
      now_s += kClockFrameS;
      EXPECT_FALSE(clock.advance(now_s, false));
      const double rate = (clock.shown_s() - before_s) / kClockFrameS;
      most_change = std::max(most_change, std::abs(rate - last_rate));
      last_rate = rate;
      least_rate = std::min(least_rate, rate);
      most_rate = std::max(most_rate, rate);
    }
  }
  void measure(double lateness_s, double gap_s) {
    for (int i = 0; i < 64; ++i)
      clock.note_update(lateness_s, gap_s);
  }
};

TEST(PlayoutClock, FirstCallJumpsToTheWantedInstant) {
  PlayoutClock present({});
  EXPECT_TRUE(present.advance(50.0, false));
  EXPECT_EQ(present.shown_s(), 50.0);
  EXPECT_EQ(present.rate(), 1.0);
  PlayoutClock delayed({.mode = PlayoutMode::delayed, .delay_s = 0.2});
  EXPECT_TRUE(delayed.advance(50.0, false));
  EXPECT_DOUBLE_EQ(delayed.shown_s(), 49.8);
  EXPECT_FALSE(delayed.advance(50.1, false));
  EXPECT_DOUBLE_EQ(delayed.shown_s(), 49.9);
}

TEST(PlayoutClock, DelaysOutOfRangeAreClamped) {
  PlayoutClock far({.mode = PlayoutMode::delayed, .delay_s = 60.0});
  far.advance(100.0, false);
  EXPECT_EQ(far.delay_s(), 2.0);
  PlayoutClock ahead({.mode = PlayoutMode::delayed, .delay_s = -1.0});
  ahead.advance(100.0, false);
  EXPECT_EQ(ahead.delay_s(), 0.0);
}

TEST(PlayoutClock, TheFirstDelayIsTheExpectedGapAndALittle) {
  PlayoutClock unknown({.mode = PlayoutMode::adaptive});
  unknown.advance(100.0, false);
  EXPECT_DOUBLE_EQ(unknown.delay_s(), 0.2);
  PlayoutClock expects({.mode = PlayoutMode::adaptive});
  expects.expect_gaps(0.033, 0.016);
  expects.advance(100.0, false);
  EXPECT_DOUBLE_EQ(expects.delay_s(), 0.083);
}

TEST(PlayoutClock, ALongerGapWithAValidMotionNeedsNoDelayIfUpdatesComeOften) {
  for (const double expected_s : {0.05, 0.1}) {
    Runner runner({.mode = PlayoutMode::adaptive});
    runner.clock.expect_gaps(expected_s, 0.016);
    const double longer_s = expected_s + 0.016;
    EXPECT_EQ(runner.clock.is_quiet(longer_s), expected_s < 0.1);
    for (int i = 0; i < 64; ++i)
      runner.clock.note_update(0.003, i % 2 == 0 ? expected_s : longer_s, true);
    runner.run(10.0);
    const double bridged_s = expected_s < 0.1 ? expected_s : longer_s;
    EXPECT_NEAR(runner.clock.delay_s(), bridged_s + 0.0035, 0.001) << expected_s;
  }
}

TEST(PlayoutClock, LossesInFrequentUpdatesLengthenTheDelay) {
  Runner runner({.mode = PlayoutMode::adaptive});
  runner.clock.expect_gaps(0.033, 0.016);
  // Every fourth update is lost, and the motion before it was not valid for so long.
  for (int i = 0; i < 256; ++i)
    runner.clock.note_update(0.003, i % 4 == 0 ? 0.066 : 0.033, i % 4 != 0);
  runner.run(10.0);
  EXPECT_NEAR(runner.clock.delay_s(), 0.066 + 0.0035, 0.001);
}

TEST(PlayoutClock, AdaptiveDelayGrowsAndShrinksAtBoundedRates) {
  Runner runner({.mode = PlayoutMode::adaptive});
  runner.measure(0.3, 0.1);
  runner.run(5.0);
  EXPECT_NEAR(runner.clock.delay_s(), 0.4, 1e-3);
  EXPECT_GE(runner.least_rate, 0.9 - 1e-9);
  EXPECT_LE(runner.most_rate, 1.0 + 1e-9);
  EXPECT_LT(runner.least_rate, 0.91);   // a larger delay is urgent
  EXPECT_LT(runner.most_change, 0.01);  // but the shown velocity must not jump
  runner.least_rate = 10.0;
  runner.measure(0.05, 0.05);
  runner.run(5.0);
  EXPECT_GE(runner.least_rate, 1.0 - 1e-9);
  EXPECT_LE(runner.most_rate, 1.02 + 1e-9);
  EXPECT_NEAR(runner.clock.delay_s(), 0.3, 0.005);  // 5 s at 2 %
  runner.run(30.0);
  EXPECT_NEAR(runner.clock.delay_s(), 0.1, 1e-3);
}

TEST(PlayoutClock, AdaptiveDelayStaysBelowItsMaximum) {
  Runner runner({.mode = PlayoutMode::adaptive, .max_delay_s = 0.5});
  runner.measure(5.0, 5.0);
  runner.run(20.0);
  EXPECT_NEAR(runner.clock.delay_s(), 0.5, 1e-3);
}

TEST(PlayoutClock, SingleLateUpdateHardlyChangesTheDelay) {
  Runner runner({.mode = PlayoutMode::adaptive});
  runner.measure(0.1, 0.1);
  runner.clock.note_update(1.0, 0.1);
  runner.run(5.0);
  EXPECT_LT(runner.clock.delay_s(), 0.21);
}

TEST(PlayoutClock, WaitsForExpectedGapsOnly) {
  for (const double expected_s : {0.0, 0.4}) {
    PlayoutClock clock({.mode = PlayoutMode::adaptive});
    clock.expect_gaps(expected_s, 1.0 / 60.0);
    double now_s = 10.0;
    clock.advance(now_s, false);
    for (int i = 0; i < 1200; ++i) {
      now_s += 1.0 / 60.0;
      clock.advance(now_s, false);
      if (i % 24 == 0) clock.note_update(0.1, 0.4);
      if (i % 240 == 0) clock.note_update(0.1, 3.0);  // 3 s without updates: the motion was valid
    }
    EXPECT_NEAR(clock.delay_s(), expected_s > 0.0 ? 0.5 : 0.1, 0.02);
  }
}

TEST(PlayoutClock, LateFrameIsNotAJump) {
  Runner runner({});
  for (const double hitch_s : {0.3, 0.9}) {
    runner.now_s += hitch_s;
    EXPECT_FALSE(runner.clock.advance(runner.now_s, false));
    EXPECT_DOUBLE_EQ(runner.clock.shown_s(), runner.now_s);
  }
}

TEST(PlayoutClock, FollowsAClockStepAtOnce) {
  for (const double step_s : {-0.26, 0.26, -5.0, 5.0}) {
    Runner runner({});
    runner.run(1.0);
    runner.now_s += kClockFrameS + step_s;
    EXPECT_TRUE(runner.clock.advance(runner.now_s, true)) << step_s;
    EXPECT_DOUBLE_EQ(runner.clock.shown_s(), runner.now_s);
    runner.run(1.0);
    EXPECT_DOUBLE_EQ(runner.clock.shown_s(), runner.now_s);
    EXPECT_NEAR(runner.least_rate, 1.0, 1e-9);
  }
}

TEST(PlayoutClock, CallWithTheSameTimeChangesNothing) {
  Runner runner({.mode = PlayoutMode::adaptive});
  runner.measure(0.3, 0.1);
  runner.run(0.5);
  const double shown_s = runner.clock.shown_s();
  const double rate = runner.clock.rate();
  EXPECT_FALSE(runner.clock.advance(runner.now_s, false));
  EXPECT_EQ(runner.clock.shown_s(), shown_s);
  EXPECT_EQ(runner.clock.rate(), rate);
}

// Between any two delays, also when the target changes during the transition: the rate stays near 1, changes
// gradually, and the new delay is reached exactly.
TEST(PlayoutClock, ReachesANewConfigurationWithoutAJump) {
  constexpr double kFineS = 1.0 / 240.0;
  const auto delayed = [](double delay_s) {
    return PlayoutConfig{.mode = delay_s > 0.0 ? PlayoutMode::delayed : PlayoutMode::present,
                         .delay_s = delay_s};
  };
  for (const double again_s : {10.0, 0.1, 0.7}) {  // when the target changes again
    for (const double from_s : {0.0, 0.05, 0.3}) {
      for (const double to_s : {0.0, 0.02, 0.3, 1.0}) {
        PlayoutClock clock{delayed(from_s)};
        double now_s = 100.0;
        clock.advance(now_s, false);
        double shown_s = clock.shown_s();
        double rate = clock.rate();
        double wanted_s = to_s;
        clock.change(delayed(to_s));
        double settled_s = 0.0;
        for (int i = 0; i < 20 * 240; ++i) {
          if (std::abs(i * kFineS - again_s) < 0.5 * kFineS) clock.change(delayed(wanted_s = 0.15));
          now_s += kFineS;
          EXPECT_FALSE(clock.advance(now_s, false));
          const double step = (clock.shown_s() - shown_s) / kFineS;
          EXPECT_GE(step, 0.74);
          EXPECT_LE(step, 1.26);
          EXPECT_NEAR(clock.rate(), rate, 0.5 * kFineS + 0.005);
          shown_s = clock.shown_s();
          rate = clock.rate();
          if (!clock.settled()) settled_s = i * kFineS;
        }
        EXPECT_TRUE(clock.settled());
        EXPECT_DOUBLE_EQ(clock.delay_s(), wanted_s);
        EXPECT_EQ(clock.rate(), 1.0);
        EXPECT_LT(settled_s, again_s + 1.6 + 4.0);
      }
    }
  }
}

TEST(PlayoutClock, ReachesANewDelayAtALowFrameRate) {
  for (const double rate_hz : {10.0, 5.0, 2.0, 1.0, 0.3}) {
    PlayoutClock clock{{.mode = PlayoutMode::present}};
    double now_s = 100.0;
    clock.advance(now_s, false);
    clock.change({.mode = PlayoutMode::delayed, .delay_s = 0.3});
    while (now_s < 115.0)
      (void)clock.advance(now_s += 1.0 / rate_hz, false);
    EXPECT_TRUE(clock.settled()) << rate_hz;
    EXPECT_DOUBLE_EQ(clock.delay_s(), 0.3) << rate_hz;
  }
}

// A clock of inputs whose rate changes, as InputClock changes it.
struct PlayoutInputs {
  double time_s = 0.0;
  double rate = 1.0;
  bool jumped = true;

  void run(double elapsed_s, double wanted_rate) {
    rate += std::clamp(wanted_rate - rate, -0.1 * elapsed_s, 0.1 * elapsed_s);
    time_s += rate * elapsed_s;
    jumped = false;
  }
  [[nodiscard]] PlayoutClock::InputTime now() const { return {time_s, rate, jumped}; }
};

TEST(PlayoutClock, AheadModeIsPresentModeWithoutInputs) {
  PlayoutClock clock{{.mode = PlayoutMode::ahead}};
  EXPECT_TRUE(clock.advance(10.0, false));
  for (double now_s = 10.0; now_s < 12.0; now_s += 0.01) {
    (void)clock.advance(now_s, false);
    EXPECT_EQ(clock.shown_s(), now_s);
    EXPECT_EQ(clock.rate(), 1.0);
    EXPECT_FALSE(clock.follows_inputs());
  }
  EXPECT_EQ(clock.path(), MotionPath::predict);
}

// The shown time approaches that of the inputs, and then is the same, whatever its rate is. It never jumps,
// also when the inputs' time does, or the server's.
TEST(PlayoutClock, AheadModeFollowsTheInputs) {
  constexpr double kFineS = 1.0 / 240.0;
  for (const PlayoutMode other : {PlayoutMode::present, PlayoutMode::delayed}) {
    PlayoutClock clock{{.mode = other, .delay_s = 0.2}};
    double now_s = 10.0;
    (void)clock.advance(now_s, false);
    PlayoutInputs inputs{.time_s = now_s + 0.12};
    const auto run = [&](double seconds, double rate, double step_s = 0.0) {
      for (int i = 0; i < static_cast<int>(seconds / kFineS); ++i) {
        const double shown_s = clock.shown_s(), shown_rate = clock.rate();
        const bool steps = i == 0 && step_s != 0.0;
        now_s += kFineS + (steps ? step_s : 0.0);
        inputs.run(kFineS, rate);
        EXPECT_FALSE(clock.advance(now_s, steps, inputs.now()));
        (void)clock.review_path();
        EXPECT_NEAR(clock.shown_s() - shown_s, shown_rate * kFineS, 0.6 * kFineS * kFineS + 3e-5);
        EXPECT_NEAR(clock.rate(), shown_rate, 0.61 * kFineS + 0.005);
      }
    };
    run(1.0, 1.0);
    clock.change({.mode = PlayoutMode::ahead});
    run(4.0, 1.0);
    EXPECT_EQ(clock.shown_s(), inputs.time_s);
    EXPECT_EQ(clock.path(), MotionPath::predict);
    EXPECT_EQ(clock.seen_s(), clock.shown_s());
    for (const double rate : {1.02, 0.98, 1.0}) {
      run(1.0, rate);
      EXPECT_EQ(clock.shown_s(), inputs.time_s);
      EXPECT_EQ(clock.rate(), inputs.rate);
    }
    run(1.0, 1.0, 0.05);  // the estimate of the server's time steps
    EXPECT_EQ(clock.shown_s(), inputs.time_s);
    inputs.time_s += 0.3;
    inputs.jumped = true;
    EXPECT_FALSE(clock.advance(now_s, false, inputs.now()));
    inputs.jumped = false;
    run(4.0, 1.0);
    EXPECT_EQ(clock.shown_s(), inputs.time_s);
    clock.change({.mode = other, .delay_s = 0.2});
    run(6.0, 1.0);
    EXPECT_NEAR(clock.shown_s(), now_s - (other == PlayoutMode::delayed ? 0.2 : 0.0), 1e-9);
    EXPECT_TRUE(clock.settled());
    EXPECT_EQ(clock.seen_s(), now_s);
  }
}

}  // namespace
}  // namespace reckoner
