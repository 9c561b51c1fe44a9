// SPDX-License-Identifier: MIT
#include "harness/replay/client_clock.hpp"

#include "harness/replay/replay.hpp"
#include "harness/sim/link.hpp"
#include "scenario/builtin/builtin.hpp"

#include <string>

#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

ClientClock clock_of(const char* text) {
  auto clock = ClientClock::parse(text);
  EXPECT_TRUE(clock) << text;
  return clock ? *clock : ClientClock{};
}

TEST(ReplayClock, ShowsTheTimesThatTheOptionSays) {
  EXPECT_EQ(ClientClock{}.at(12.5, 10.0), 1012.5);
  const ClientClock slow = clock_of("rate:0.5");
  EXPECT_DOUBLE_EQ(slow.at(10.0, 10.0), 1010.0);
  EXPECT_DOUBLE_EQ(slow.at(14.0, 10.0), 1012.0);
  const ClientClock stops = clock_of("stop:3,2");
  EXPECT_DOUBLE_EQ(stops.at(2.0, 0.0), 1002.0);
  EXPECT_DOUBLE_EQ(stops.at(4.0, 0.0), 1003.0);
  EXPECT_DOUBLE_EQ(stops.at(6.0, 0.0), 1004.0);
  const ClientClock steps = clock_of("step:3,-0.5");
  EXPECT_DOUBLE_EQ(steps.at(2.9, 0.0), 1002.9);
  EXPECT_DOUBLE_EQ(steps.at(3.0, 0.0), 1002.5);
  const ClientClock all = clock_of("rate:2|stop:1,1|step:3,10");
  EXPECT_DOUBLE_EQ(all.at(4.0, 0.0), 1000.0 + 2.0 * 3.0 + 10.0);
}

TEST(ReplayClock, AnErrorNamesThePart) {
  for (const char* text :
       {"", "slow", "rate", "rate:", "rate:0", "rate:-1", "rate:101", "rate:nan", "stop:1", "stop:1,-2",
        "stop:-1,2", "step:x,1", "step:1,1e9", "rate:1|", "rate:1|halt:1,2"}) {
    const auto clock = ClientClock::parse(text);
    EXPECT_FALSE(clock) << text;
  }
  EXPECT_EQ(ClientClock::parse("rate:1|halt:1,2").error(),
            "'halt:1,2': expected rate:R, stop:AT,FOR or step:AT,BY, in seconds");
}

Figures replayed(const char* network, const char* clock, PlayoutMode mode = PlayoutMode::present) {
  const auto source = scenario::make_builtin("orbit", 4);
  EXPECT_TRUE(source);
  ReplayOptions options;
  options.links = {*find_network(network), *find_network(network)};
  options.seconds = 20.0;
  options.playout.mode = mode;
  if (clock != nullptr) options.client_clock = clock_of(clock);
  const auto result = replay(**source, options);
  EXPECT_TRUE(result);
  return result ? result->run : Figures{};
}

TEST(ReplayClock, AReplayWithASlowOrFastClockShowsNearlyTheSame) {
  const Figures plain = replayed("lan", nullptr);
  for (const char* clock : {"rate:0.95", "rate:0.83", "rate:0.75", "rate:0.5", "rate:2", "rate:4"}) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
      const Figures figures = replayed("lan", clock, mode);
      ASSERT_TRUE(figures.clock_error_ms) << clock;
      EXPECT_LT(figures.clock_error_ms->max, 50.0) << clock;
      EXPECT_LT(figures.clock_error_ms->p95, 25.0) << clock;
      EXPECT_EQ(figures.missing_s, 0.0) << clock;
      EXPECT_EQ(figures.frames.counted, plain.frames.counted) << clock;
    }
  }
}

TEST(ReplayClock, AReplayFollowsStopsAndSteps) {
  for (const char* clock : {"stop:6,3", "step:6,5", "step:6,-5", "rate:0.8|step:6,-1|stop:9,2"}) {
    const Figures figures = replayed("lan", clock);
    ASSERT_TRUE(figures.clock_error_ms) << clock;
    // While the clock stands, only arriving datagrams tell the time.
    EXPECT_LT(figures.clock_error_ms->p95, 120.0) << clock;
    EXPECT_LT(figures.clock_error_ms->p50, 20.0) << clock;
    EXPECT_EQ(figures.missing_s, 0.0) << clock;
  }
}

}  // namespace
}  // namespace reckoner::harness
