// SPDX-License-Identifier: MIT
// Games that change the playout mode during a session.
#include "reckoning/src/motion/rotation.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using Mode = PlayoutMode;

constexpr double kSwitchFrameHz = 240.0;
constexpr double kFromS = 3.0;  // before this time, clocks settle

PlayoutConfig playout(Mode mode, double delay_s = 0.2) {
  return {.mode = mode, .delay_s = delay_s, .blend_s = frames_to_seconds(6.5, kSwitchFrameHz)};
}

// Moves on a closed curve and turns to and fro, with exact derivatives.
struct Tumble {
  double rate_rps = 2.0;
  double phase = 0.0;

  State operator()(double t) const {
    const double p = rate_rps * t + phase;
    State s;
    s.position = {4.0 * std::sin(p), 3.0 * std::sin(1.6 * p), 0.5 * std::cos(p)};
    s.velocity =
        glm::vec3{rate_rps * glm::dvec3{4.0 * std::cos(p), 4.8 * std::cos(1.6 * p), -0.5 * std::sin(p)}};
    const glm::dvec3 axis = glm::normalize(glm::dvec3{1.0, 2.0, 3.0});
    s.orientation = glm::quat{rotation_exp(axis * (1.2 * std::sin(1.3 * p)))};
    s.angular_velocity = glm::vec3{axis * (1.2 * 1.3 * rate_rps * std::cos(1.3 * p))};
    return s;
  }
};

struct Switch {
  double time_s;
  PlayoutConfig to;
};

// Every change from one mode to another. Some begin before the previous transition has ended.
std::vector<Switch> all_switches() {
  return {{4.0, playout(Mode::adaptive)},      {7.0, playout(Mode::delayed, 0.35)},
          {10.0, playout(Mode::present)},      {13.0, playout(Mode::delayed, 0.1)},
          {15.0, playout(Mode::adaptive)},     {17.0, playout(Mode::present)},
          {17.4, playout(Mode::adaptive)},     {17.9, playout(Mode::present)},
          {20.0, playout(Mode::delayed, 0.6)}, {21.0, playout(Mode::present)}};
}

// The largest steps between two pictures.
struct Steps {
  double corner_m = 0.0;      // displacement minus what the velocities imply
  double velocity_mps = 0.0;  // change of velocity
  double corner_rad = 0.0;
  double turn_rps = 0.0;

  void add(const State& before, const State& now) {
    const double dt_s = 1.0 / kSwitchFrameHz;
    const glm::dvec3 v0{before.velocity}, v1{now.velocity};
    const glm::dvec3 w0{before.angular_velocity}, w1{now.angular_velocity};
    corner_m = std::max(corner_m, glm::distance(now.position - before.position, 0.5 * dt_s * (v0 + v1)));
    velocity_mps = std::max(velocity_mps, glm::distance(v0, v1));
    const glm::dvec3 turned = rotation_log(
        glm::normalize(glm::dquat{now.orientation} * glm::conjugate(glm::dquat{before.orientation})));
    corner_rad = std::max(corner_rad, glm::distance(turned, 0.5 * dt_s * (w0 + w1)));
    turn_rps = std::max(turn_rps, glm::distance(w0, w1));
  }
  void add(const Steps& other) {
    corner_m = std::max(corner_m, other.corner_m);
    velocity_mps = std::max(velocity_mps, other.velocity_mps);
    corner_rad = std::max(corner_rad, other.corner_rad);
    turn_rps = std::max(turn_rps, other.turn_rps);
  }
};

// Shows one body to a client until 25 s, with the switches at their times.
Steps watch(const Truth& path, std::uint64_t seed, const PlayoutConfig& first,
            const std::vector<Switch>& switches) {
  World world({.links = network("intercity"), .seed = seed, .frame_rate_hz = kSwitchFrameHz});
  (void)world.add_body(path);
  ClientConfig config;
  config.playout = first;
  world.add_client(config);
  Steps steps;
  std::optional<State> before;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < kFromS) return;
    ASSERT_EQ(shown.size(), 1u);
    if (before) steps.add(*before, shown[0].shown);
    before = shown[0].shown;
  };
  for (const Switch& change : switches) {
    world.run_to(change.time_s);
    EXPECT_TRUE(world.updated(0).set_playout(change.to));
  }
  world.run_to(25.0);
  return steps;
}

// From one picture to the next, a switch causes no larger steps of position, velocity or turn than the modes
// themselves. A jump of a hundredth of the displacement between two modes would be ten times larger.
TEST(PlayoutSwitch, CausesNoJumpInPositionVelocityOrRotation) {
  const std::vector<std::pair<Truth, double>> paths{{Circle{.radius_m = 5.0, .turn_rps = 1.0}, 5.0},
                                                    {Swing{.width_m = 3.0, .rate_rps = 2.0}, 6.0},
                                                    {Tumble{}, 12.6},
                                                    {Tumble{.rate_rps = 0.9, .phase = 2.0}, 5.7}};
  constexpr std::uint64_t kSeeds = 3;
  constexpr std::uint64_t kSeedsAlone = 12;  // the largest steps follow single losses, which are few in 25 s
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto& [path, fastest_mps] = paths[i];
    Steps alone;
    for (std::uint64_t seed = 1; seed <= kSeedsAlone; ++seed) {
      for (const Mode mode : {Mode::present, Mode::adaptive, Mode::delayed})
        alone.add(watch(path, seed, playout(mode), {}));
    }
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      SCOPED_TRACE("path " + std::to_string(i) + ", seed " + std::to_string(seed));
      const Steps steps = watch(path, seed, playout(Mode::present), all_switches());
      // The rate of time changes, by at most 0.5 per second.
      const double slower_mps = fastest_mps * 0.5 / kSwitchFrameHz;
      EXPECT_LT(steps.velocity_mps, 1.3 * alone.velocity_mps + slower_mps);
      EXPECT_LT(steps.corner_m, 1.3 * alone.corner_m + slower_mps / kSwitchFrameHz);
      EXPECT_LT(steps.turn_rps, 1.3 * alone.turn_rps + slower_mps);
      EXPECT_LT(steps.corner_rad, 1.3 * alone.corner_rad + slower_mps / kSwitchFrameHz);
    }
  }
}

// A client that shows one body. It measures the shown poses and the number of publishes over an interval.
struct SwitchWatch {
  explicit SwitchWatch(const PlayoutConfig& first, const std::string& script = {})
      : world({.links = both_ways({.latency_ms = 40.0, .jitter_ms = 5.0}),
               .script = script,
               .silence_timeout_s = 3.0}) {
    (void)world.add_body(path);
    ClientConfig config;
    config.playout = first;
    world.add_dialing_client(config);
    world.on_frame = [this](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      if (shown.empty()) return;
      const double off_m = glm::distance(shown[0].shown.position, path(shown[0].shown_time_s).position);
      error_m = std::max(error_m, off_m);
      least_delay_s = std::min(least_delay_s, time_s - shown[0].shown_time_s);
      most_delay_s = std::max(most_delay_s, time_s - shown[0].shown_time_s);
    };
  }

  void switch_to(const PlayoutConfig& to) {
    EXPECT_TRUE(world.updated(0).set_playout(to));
    EXPECT_EQ(world.client(0).playout().mode, to.mode);
  }
  void look(double from_s, double to_s) {
    world.run_to(from_s);
    error_m = most_delay_s = 0.0;
    least_delay_s = 1e9;
    const std::uint64_t before = world.server().stats().publishes;
    world.run_to(to_s);
    publishes = static_cast<double>(world.server().stats().publishes - before);
  }

  Tumble path{.rate_rps = 2.5};
  World world;
  double error_m = 0.0, least_delay_s = 0.0, most_delay_s = 0.0;  // of the shown poses
  double publishes = 0.0;
};

// Shortly after a switch, each mode behaves as if no other mode had been used, in the shown poses and in the
// server's publishes. In buffered mode the server chooses publishes for the interpolation between motions,
// not for prediction.
TEST(PlayoutSwitch, NewModeDoesNotDependOnEarlierModes) {
  SwitchWatch watch{playout(Mode::present)};
  double from_s = 5.0;
  for (const PlayoutConfig& to : {playout(Mode::adaptive), playout(Mode::delayed, 0.3),
                                  playout(Mode::present), playout(Mode::adaptive), playout(Mode::present)}) {
    SCOPED_TRACE("mode " + std::to_string(static_cast<int>(to.mode)) + " at " + std::to_string(from_s));
    watch.look(from_s - 1.0, from_s);
    watch.switch_to(to);
    watch.look(from_s + 3.0, from_s + 9.0);
    SwitchWatch other{to};
    other.look(from_s + 3.0, from_s + 9.0);
    EXPECT_LT(watch.error_m, 1.2 * other.error_m + 0.01);
    // The adaptive mode remembers earlier arrivals for a while: over eight seeds, 0.05 s at most.
    const double room_s = to.mode == Mode::adaptive ? 0.06 : 0.005;
    EXPECT_NEAR(watch.least_delay_s, other.least_delay_s, room_s);
    EXPECT_NEAR(watch.most_delay_s, other.most_delay_s, room_s);
    EXPECT_NEAR(watch.publishes, other.publishes, 0.1 * other.publishes);
    from_s += 10.0;
  }
  EXPECT_EQ(watch.world.server().stats().malformed, 0u);
}

// A switch before the join or during a reconnect takes effect, too.
TEST(PlayoutSwitch, ServerLearnsOfASwitchMadeWithoutAConnection) {
  for (const bool in_time : {true, false}) {  // before the join message is sent
    SwitchWatch watch{playout(Mode::present), "9 loss=100\n15 loss=0\n"};
    SwitchWatch past{playout(Mode::adaptive)};
    SwitchWatch present{playout(Mode::present)};
    if (!in_time) watch.world.run_to(0.1);
    ASSERT_NE(watch.world.client(0).status(), ClientStatus::joined);
    watch.switch_to(playout(Mode::adaptive));
    watch.look(3.0, 8.0);
    past.look(3.0, 8.0);
    present.look(3.0, 8.0);
    EXPECT_NEAR(watch.publishes, past.publishes, 0.1 * past.publishes);
    EXPECT_GT(present.publishes, 1.3 * past.publishes);
    watch.world.run_to(12.0);
    watch.switch_to(playout(Mode::present));
    watch.look(25.0, 30.0);
    ASSERT_EQ(watch.world.count(0, ClientEvent::Kind::resumed), 1u);
    present.look(25.0, 30.0);
    EXPECT_NEAR(watch.publishes, present.publishes, 0.1 * present.publishes);
  }
}

TEST(PlayoutSwitch, ShownPosesAgreeWithShown) {
  World world({.links = network("intercity")});
  for (int i = 0; i < 5; ++i)
    (void)world.add_body(Tumble{.phase = 1.0 * i});
  world.add_client();
  std::size_t compared = 0;
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity> shown) {
    const std::vector<ShownEntity> all{shown.begin(), shown.end()};
    const ShownPoses poses = world.client(0).shown_poses();
    ASSERT_EQ(poses.ids.size(), all.size());
    for (std::size_t i = 0; i < poses.ids.size(); ++i) {
      const auto same =
          std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.id == poses.ids[i]; });
      ASSERT_NE(same, all.end());
      EXPECT_LT(glm::distance(same->shown.position, poses.positions[i]), 1e-8);
      EXPECT_EQ(poses.shown_time_s, same->shown_time_s);
      ++compared;
    }
  };
  for (const Mode mode : {Mode::adaptive, Mode::present, Mode::delayed, Mode::present}) {
    world.run_to(world.now_s() + 3.0);
    EXPECT_TRUE(world.updated(0).set_playout(playout(mode)));
  }
  world.run_to(world.now_s() + 3.0);
  EXPECT_GT(compared, 3000u);
}

TEST(PlayoutSwitch, InvalidConfigurationIsRefused) {
  World world({.links = network("lan")});
  world.add_client();
  world.run_to(1.0);
  Client& client = world.client(0);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0}) {
    for (double PlayoutConfig::*member :
         {&PlayoutConfig::delay_s, &PlayoutConfig::max_delay_s, &PlayoutConfig::blend_s}) {
      PlayoutConfig to = playout(Mode::delayed);
      to.*member = bad;
      EXPECT_FALSE(client.set_playout(to));
    }
  }
  EXPECT_EQ(client.playout().mode, Mode::present);
}

}  // namespace
}  // namespace reckoner::test
