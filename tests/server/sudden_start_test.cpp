// SPDX-License-Identifier: MIT
// Entities that stand still and start in an instant, as shown by clients in adaptive mode. The curve between
// the motion of the long rest and the first motion of the walk must not begin long before the start.
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kWalkMps = 5.0;
constexpr double kPeriodS = 4.0;

// Stands for two seconds and walks for two, without acceleration phases.
State stop_and_go(double t) {
  State s;
  const double period = std::floor(t / kPeriodS);
  const double walked_s = std::max(0.0, t - period * kPeriodS - 0.5 * kPeriodS);
  s.position.x = kWalkMps * (0.5 * kPeriodS * period + walked_s);
  if (walked_s > 0.0) s.velocity.x = static_cast<float>(kWalkMps);
  return s;
}

State platform(double t) {
  State s;
  s.position.y = 3.0 * std::sin(t);
  s.velocity.y = static_cast<float>(3.0 * std::cos(t));
  return s;
}

// The largest error of each start, along the path in adaptive mode, from 0.2 s before it to 1.5 s after it,
// m. `rides`: the entity stands on a moving platform, in its frame.
std::vector<double> largest_errors_m(const harness::LinkPair& links, bool rides, std::uint64_t seed) {
  WorldConfig config;
  config.links = links;
  config.seed = seed;
  World world(config);
  ClientConfig client;
  client.playout.mode = PlayoutMode::adaptive;
  world.add_client(client);
  const EntityId frame = rides ? world.add_body(platform) : EntityId{};
  EntityId id;
  // Others keep the delay at that of a usual game.
  for (int i = 0; i < 10; ++i)
    world.add_body([i](double t) { return platform(1.7 * t + i); });
  world.before_tick = [&](double t) {
    if (id) {
      EXPECT_TRUE(world.server().move(id, stop_and_go(t)));
    } else if (t > 1.0) {
      id = *world.server().spawn(0, "rider", stop_and_go(t), frame);
    }
  };
  std::vector<double> worst_m;
  world.on_frame = [&](std::size_t, double t, std::span<const ShownEntity> shown) {
    const auto found = std::ranges::find(shown, id, &ShownEntity::id);
    if (t < 6.0 || found == shown.end()) return;
    const double since_start_s = std::fmod(found->shown_time_s, kPeriodS) - 0.5 * kPeriodS;
    if (since_start_s < -0.2 || since_start_s > 1.5) return;
    const State& drawn = rides ? found->local : found->shown;
    const auto start = static_cast<std::size_t>(found->shown_time_s / kPeriodS);
    if (worst_m.size() <= start) worst_m.resize(start + 1);
    worst_m[start] =
        std::max(worst_m[start], std::abs(drawn.position.x - stop_and_go(found->shown_time_s).position.x));
  };
  world.run_to(60.0);
  return worst_m;
}

constexpr double kLimitM = 0.05;
constexpr std::uint64_t kSeeds = 5;

TEST(SuddenStart, IsNotSpreadOverTheRestBeforeIt) {
  for (const char* link : {"lan", "intercity"}) {
    harness::LinkPair links = network(link);
    links.up.loss_percent = links.down.loss_percent = 0.0;
    for (const bool rides : {false, true}) {
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        for (const double error_m : largest_errors_m(links, rides, seed))
          EXPECT_LT(error_m, kLimitM) << link << (rides ? " riding, seed " : ", seed ") << seed;
      }
    }
  }
}

// If the first motion of a start is lost, clients learn of it too late.
TEST(SuddenStart, IsMostlyShownInTimeOverALinkThatLosesDatagrams) {
  std::size_t starts = 0, late = 0;
  for (const bool rides : {false, true}) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      for (const double error_m : largest_errors_m(network("intercity"), rides, seed)) {
        ++starts;
        late += error_m > kLimitM ? 1 : 0;
      }
    }
  }
  EXPECT_GT(starts, 100u);
  EXPECT_LT(static_cast<double>(late) / static_cast<double>(starts), 0.08);
}

}  // namespace
}  // namespace reckoner::test
