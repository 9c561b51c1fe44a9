// SPDX-License-Identifier: MIT
// Games whose clock is slow, fast, stands still or is set: clamped frame times, a time scale, a debugger.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

const Circle kTrack{.radius_m = 10.0, .turn_rps = 1.0};

// The errors of a client's view against real time, which is the server's.
struct RateView {
  double late_s = 0.0;  // of the shown instant, beyond the delay
  double early_s = 0.0;
  double position_m = 0.0;    // against the truth at the instant that should be shown
  double largest_rate = 0.0;  // shown seconds per second, the largest and the smallest
  double smallest_rate = 1e9;
  int frames = 0;
  int missing = 0;  // frames without the entity
  int steps = 0;    // log lines "clock stepped"
};

struct RateCase {
  std::string network = "lan";
  LocalClock clock{};
  PlayoutConfig playout{};
  WorldConfig world{};
  ClientConfig client{};
};

// Watches a body on a circle. Frames within `settle_s` after the time 1 s, or after any of `changes_s`, do
// not count.
RateView watch_clock(RateCase c, double until_s, const std::vector<double>& changes_s = {},
                     double settle_s = 1.0) {
  RateView view;
  if (!c.network.empty()) c.world.links = network(c.network);
  World world(c.world);
  const EntityId body = world.add_body(kTrack);
  c.client.playout = c.playout;
  c.client.log = [&](const LogRecord& record) { view.steps += record.event == "clock stepped" ? 1 : 0; };
  world.add_client(c.client, c.clock);
  std::optional<double> last_s, last_shown_s;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    bool counts = time_s > 1.0 + settle_s;
    for (const double change_s : changes_s)
      counts = counts && (time_s < change_s || time_s > change_s + settle_s);
    if (!counts) {
      last_s.reset();
      return;
    }
    ++view.frames;
    if (shown.size() != 1 || shown[0].id != body) {
      ++view.missing;
      return;
    }
    const double shown_s = shown[0].shown_time_s;
    const double wanted_s = time_s - world.client(0).stats().delay_s;
    view.late_s = std::max(view.late_s, wanted_s - shown_s);
    view.early_s = std::max(view.early_s, shown_s - wanted_s);
    view.position_m =
        std::max(view.position_m, glm::distance(shown[0].shown.position, kTrack(wanted_s).position));
    if (last_s) {
      const double rate = (shown_s - *last_shown_s) / (time_s - *last_s);
      view.largest_rate = std::max(view.largest_rate, rate);
      view.smallest_rate = std::min(view.smallest_rate, rate);
    }
    last_s = time_s;
    last_shown_s = shown_s;
  };
  world.run_to(until_s);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.client(0).stats().malformed, 0u);
  return view;
}

constexpr double kMostLateS = 0.05;

void expect_followed(const RateView& view, const std::string& what, double most_s = kMostLateS) {
  EXPECT_GT(view.frames, 100) << what;
  EXPECT_EQ(view.missing, 0) << what;
  EXPECT_LT(view.late_s, most_s) << what;
  EXPECT_LT(view.early_s, most_s) << what;
}

std::vector<std::pair<std::string, PlayoutConfig>> modes() {
  return {{"present", {}},
          {"adaptive", {.mode = PlayoutMode::adaptive}},
          {"delayed", {.mode = PlayoutMode::delayed, .delay_s = 0.15}}};
}

TEST(ClientRate, AnyConstantRateIsFollowedWithinASecond) {
  for (const auto& [name, playout] : modes()) {
    for (const double rate : {0.25, 0.4, 0.5, 0.75, 0.83, 0.9, 0.95, 1.05, 1.1, 1.3, 2.0, 4.0}) {
      const RateView view = watch_clock({.clock = {.rate = rate}, .playout = playout}, 12.0);
      expect_followed(view, name + ", rate " + std::to_string(rate));
    }
  }
}

TEST(ClientRate, ARateThatChangesIsFollowedWithinASecond) {
  for (const auto& [name, playout] : modes()) {
    for (const double rate : {0.25, 0.5, 0.75, 0.83, 0.95, 1.05, 1.5, 2.0, 4.0}) {
      LocalClock clock;
      clock.other = [rate](double time_s) {
        const double changed_s = std::clamp(time_s - 6.0, 0.0, 6.0);
        return 1000.0 + time_s + (rate - 1.0) * changed_s;
      };
      const RateView view = watch_clock({.clock = clock, .playout = playout}, 18.0, {6.0, 12.0});
      expect_followed(view, name + ", rate " + std::to_string(rate));
    }
  }
}

TEST(ClientRate, AnyStepIsFollowedWithinASecond) {
  for (const auto& [name, playout] : modes()) {
    for (const double by_s : {-3600.0, -5.0, -0.3, -0.2, -0.1, 0.06, 0.1, 0.3, 3.0, 1000.0}) {
      LocalClock clock;
      clock.other = [by_s](double time_s) { return 5000.0 + time_s + (time_s >= 6.0 ? by_s : 0.0); };
      const RateView view = watch_clock({.clock = clock, .playout = playout}, 12.0, {6.0});
      expect_followed(view, name + ", step by " + std::to_string(by_s));
    }
  }
}

// While it was set, the client kept an acknowledgement. By its clock, that took seconds, so the round trip
// seemed to be 0 s, and every later one a queue.
TEST(ClientRate, AClientWhoseClockIsSetKeepsItsBytesAndItsTime) {
  for (const std::string name : {"wifi", "intercity", "mobile", "stress"}) {
    for (std::uint32_t seed = 1; seed <= 4; ++seed) {
      WorldConfig config{.seed = seed};
      config.links = network(name);
      World world(config);
      for (int i = 0; i < 12; ++i)
        world.add_body(Circle{.radius_m = 5.0 + i, .turn_rps = 1.0 + 0.1 * i});
      LocalClock clock;
      clock.other = [](double time_s) { return 1000.0 + time_s + (time_s >= 10.0 ? 30.0 : 0.0); };
      world.add_client({}, clock);
      const auto updates_until = [&](double time_s) {
        const auto before = world.client(0).stats().updates_applied;
        world.run_to(time_s);
        return static_cast<double>(world.client(0).stats().updates_applied - before);
      };
      double late_s = 0.0;
      world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
        if (time_s < 11.5 || shown.empty()) return;
        late_s = std::max(late_s, std::abs(time_s - shown[0].shown_time_s));
      };
      world.run_to(5.0);
      const double usual = updates_until(10.0);
      world.run_to(10.5);
      EXPECT_GT(updates_until(15.5), 0.7 * usual) << name << ", seed " << seed;
      EXPECT_LT(late_s, 0.03) << name << ", seed " << seed;
    }
  }
}

// A corrected clock is kept near the newest time stamp. After a silence, this must end at once.
TEST(ClientRate, ASlowClockSurvivesASilence) {
  for (const auto& [name, playout] : modes()) {
    for (const double rate : {0.25, 0.3, 0.5}) {
      RateCase slow{.clock = {.rate = rate}, .playout = playout};
      slow.world.script = "5 loss=100 burst=1\n9 network=lan\n";
      const RateView view = watch_clock(slow, 18.0, {5.0}, 4.0 + 1.5);
      expect_followed(view, name + ", rate " + std::to_string(rate));
    }
  }
}

// A debugger: frames are drawn while the clock stands, or the whole program stands.
TEST(ClientRate, AClockThatStandsIsFollowed) {
  for (const auto& [name, playout] : modes()) {
    for (const double for_s : {0.2, 1.0, 8.0, 20.0}) {
      LocalClock clock;
      clock.other = [for_s](double time_s) { return 1000.0 + time_s - std::clamp(time_s - 6.0, 0.0, for_s); };
      const std::string what = name + ", stands " + std::to_string(for_s);
      // Meanwhile, only arriving datagrams tell the time.
      constexpr double kMostWhileStandingS = 0.18;
      const RateView view =
          watch_clock({.clock = clock, .playout = playout}, 12.0 + for_s, {6.0, 6.0 + for_s});
      expect_followed(view, what, kMostWhileStandingS);
      const RateView after =
          watch_clock({.clock = clock, .playout = playout}, 12.0 + for_s, {6.0}, for_s + 1.0);
      expect_followed(after, what);
    }
  }
}

TEST(ClientRate, ClampedFrameTimesAreFollowed) {
  for (const auto& [name, playout] : modes()) {
    // 60 frames per second, then 15 for 20 s. The game limits the time of a frame to 50 ms.
    LocalClock clock;
    clock.other = [](double time_s) {
      const double slow_s = std::clamp(time_s - 5.0, 0.0, 20.0);
      return 1000.0 + time_s - slow_s + slow_s * 15.0 * 0.05;
    };
    RateCase c{.clock = clock, .playout = playout};
    c.world.frame_rate_hz = 15.0;
    c.world.updates_per_frame = true;
    // The client reads its datagrams, 7 a second, at most 15 times a second.
    const RateView view = watch_clock(c, 30.0, {5.0, 25.0}, 1.2);
    expect_followed(view, name, 0.06);
  }
}

// The shown instant runs at most a few percent slow or fast. It hardly ever steps: in 1 of 100 runs over wifi
// or mobile, a burst of delays at the wrong moment looks like another clock.
TEST(ClientRate, SmallDeviationsAreSlewed) {
  int with_steps = 0;
  for (const char* name : {"lan", "broadband", "wifi", "intercity", "mobile"}) {
    for (const double rate : {0.98, 0.985, 0.99, 0.995, 1.005, 1.01, 1.015, 1.02}) {
      RateCase c{.network = name, .clock = {.rate = rate}};
      const RateView view = watch_clock(c, 20.0);
      const std::string what = std::string(name) + ", rate " + std::to_string(rate);
      expect_followed(view, what, c.network == "lan" || c.network == "broadband" ? kMostLateS : 0.09);
      const bool may_step = c.network == "wifi" || c.network == "mobile";
      if (view.steps > 0 && may_step && ++with_steps <= 2) continue;
      EXPECT_EQ(view.steps, 0) << what;
      EXPECT_LT(view.largest_rate, 1.06) << what;
      EXPECT_GT(view.smallest_rate, 0.94) << what;
    }
  }
}

TEST(ClientRate, RatesAreFollowedOverOrdinaryNetworks) {
  for (const char* name : {"broadband", "wifi", "intercity", "mobile"}) {
    for (const double rate : {0.25, 0.5, 0.75, 0.83, 0.95, 1.05, 1.5, 2.0, 4.0}) {
      RateCase c{.network = name, .clock = {.rate = rate}};
      // Over a long delay, a change is known only after a round trip.
      const RateView view = watch_clock(c, 20.0, {}, 2.0);
      const std::string what = std::string(name) + ", rate " + std::to_string(rate);
      EXPECT_LT(view.late_s, 0.1) << what;
      EXPECT_LT(view.early_s, 0.1) << what;
      EXPECT_EQ(view.missing, 0) << what;
    }
  }
}

// Jitter, loss and changes of the route must not be mistaken for a clock.
TEST(ClientRate, NoNetworkIsMistakenForAClock) {
  for (const char* name : {"lan", "broadband", "wifi", "intercity", "mobile", "stress"}) {
    for (const char* script :
         {"", "8 network=mobile\n14 network=lan\n", "8 down latency-ms=140\n14 down latency-ms=80\n",
          "8 loss=100\n10 loss=1\n", "8 down rate-kbps=24\n12 down rate-kbps=0\n"}) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        RateCase c{.network = name};
        c.world.links = network(name);
        c.world.script = script;
        c.world.seed = seed;
        World world(c.world);
        world.add_body(kTrack);
        std::vector<std::string> events;
        ClientConfig client;
        client.log = [&](const LogRecord& record) { events.emplace_back(record.event); };
        world.add_client(client);
        double lowest = 1.0, highest = 1.0;
        world.on_frame = [&](std::size_t, double, std::span<const ShownEntity>) {
          lowest = std::min(lowest, world.client(0).stats().clock_rate);
          highest = std::max(highest, world.client(0).stats().clock_rate);
        };
        world.run_to(20.0);
        const std::string what = std::string(name) + ", " + script + ", seed " + std::to_string(seed);
        EXPECT_EQ(lowest, 1.0) << what;
        EXPECT_EQ(highest, 1.0) << what;
        EXPECT_EQ(std::ranges::count(events, "clock stepped"), 0) << what;
      }
    }
  }
}

// A wrong rate must not look like a queue or losses to the server.
TEST(ClientRate, TheServerMeasuresTheLinkAllTheSame) {
  for (const double rate : {0.25, 0.5, 2.0, 4.0}) {
    World world({.links = network("broadband")});
    world.add_body(kTrack);
    world.add_client({}, {.rate = rate});
    world.run_to(10.0);
    const auto clients = world.server().clients();
    ASSERT_EQ(clients.size(), 1u);
    const auto stats = world.server().session_stats(clients[0]);
    ASSERT_TRUE(stats);
    EXPECT_NEAR(stats->round_trip_s, 0.07, 0.03) << rate;
    EXPECT_NEAR(world.client(0).stats().round_trip_s, 0.06, 0.02) << rate;
    EXPECT_LT(stats->loss, 0.05) << rate;
    EXPECT_NEAR(world.client(0).stats().clock_rate, 1.0 / rate, 0.01 / rate) << rate;
  }
}

// What is shown may be ahead of the time of update().
TEST(ClientRate, ShownTimeMayBeAhead) {
  for (const double lead_s : {0.005, 0.05, 0.1, 0.2}) {
    WorldConfig config{.links = network("lan")};
    config.updates_per_frame = true;
    World world(config);
    world.add_body(kTrack);
    ClientConfig client_config;
    client_config.show_ahead_s = lead_s;
    const std::size_t client = world.add_client(client_config);
    double worst_s = 0.0, worst_estimate_s = 0.0, last_shown_s = -1.0;
    world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      if (time_s < 2.0) return;
      ASSERT_EQ(shown.size(), 1u);
      worst_s = std::max(worst_s, std::abs(shown[0].shown_time_s - (time_s + lead_s)));
      const auto estimate = world.client(client).server_time_s();
      ASSERT_TRUE(estimate);
      worst_estimate_s = std::max(worst_estimate_s, std::abs(*estimate - time_s));
      EXPECT_GE(shown[0].shown_time_s, last_shown_s);
      last_shown_s = shown[0].shown_time_s;
    };
    world.run_to(10.0);
    EXPECT_LT(worst_s, 0.02) << lead_s;
    EXPECT_LT(worst_estimate_s, 0.02) << lead_s;
    EXPECT_EQ(world.client(client).stats().clock_rate, 1.0) << lead_s;
    EXPECT_EQ(world.client(client).stats().delay_s, -lead_s);
  }
}

}  // namespace
}  // namespace reckoner::test
