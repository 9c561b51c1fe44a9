// SPDX-License-Identifier: MIT
// One wrong time, for example after a division by zero or with milliseconds for seconds, must not do any
// harm.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();
const std::vector<double> kWrongTimes{std::nan(""), kEndless, -kEndless, 1e305, -1e305, 1e300, 1e18,
                                      -1e18,        1e13,     -1e13,     1e12,  -1e12,  1e9,   -1e9};
const Circle kRing{.radius_m = 10.0, .turn_rps = 1.0};

struct Twins {
  explicit Twins(PlayoutMode mode) : world({.links = network("lan")}) {
    body = world.add_body(kRing);
    for (int i = 0; i < 2; ++i) {
      ClientConfig config;
      config.playout.mode = mode;
      world.add_client(config);
    }
  }
  // The view of the client that received wrong times, compared with that of its twin.
  void expect_equal(const std::string& what) {
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_EQ(world.client(i).status(), ClientStatus::joined) << what;
      ASSERT_EQ(world.shown(i).size(), 1u) << what;
    }
    const ShownEntity &one = world.shown(0).front(), &other = world.shown(1).front();
    EXPECT_NEAR(one.shown_time_s, other.shown_time_s, 0.01) << what;
    EXPECT_LT(glm::distance(one.shown.position, other.shown.position), 0.1) << what;
    EXPECT_EQ(world.client(0).stats().connections_lost, 0u) << what;
    EXPECT_EQ(world.client(0).stats().clock_rate, 1.0) << what;
  }

  World world;
  EntityId body;
};

// The client after update() with this time.
Client& updated(Twins& pair, double time_s) {
  pair.world.client(0).update(time_s);
  return pair.world.client(0);
}

using TimedCall = std::function<void(Twins&, double)>;
const std::vector<std::pair<std::string, TimedCall>> kTimedCalls{
    {"update", [](Twins& p, double t) { p.world.client(0).update(t); }},
    {"shown", [](Twins& p, double t) { (void)updated(p, t).shown(); }},
    {"shown_poses", [](Twins& p, double t) { (void)updated(p, t).shown_poses(); }},
    {"server_time_s", [](Twins& p, double t) { (void)updated(p, t).server_time_s(); }},
    {"lost_for_s", [](Twins& p, double t) { (void)updated(p, t).lost_for_s(); }},
    {"flush", [](Twins& p, double t) { updated(p, t).flush(); }},
    {"owned", [](Twins& p, double t) { (void)updated(p, t).owned(p.body); }},
    {"move", [](Twins& p, double t) { (void)updated(p, t).move(p.body, kRing(0.0)); }},
    {"teleport", [](Twins& p, double t) { (void)updated(p, t).teleport(p.body, kRing(0.0)); }},
    {"correct",
     [](Twins& p, double t) {
       const State shown = p.world.shown(0).empty() ? kRing(0.0) : p.world.shown(0).front().shown;
       (void)updated(p, t).correct(p.body, shown);
     }},
    {"pause",
     [](Twins& p, double t) {
       updated(p, t).set_paused(true);
       p.world.client(0).set_paused(false);
     }},
    {"set_playout", [](Twins& p, double t) { (void)updated(p, t).set_playout(p.world.client(0).playout()); }},
    {"predict_spawn",
     [](Twins& p, double t) {
       const SpawnResult id = updated(p, t).predict_spawn(0, kRing(0.0), 7);
       if (id) (void)p.world.client(0).drop_prediction(*id);
     }},
    {"server receive", [](Twins& p, double t) { p.world.server().receive(t); }},
    {"rewind",
     [](Twins& p, double t) {
       for (const ClientId client : p.world.server().clients()) {
         (void)p.world.server().pose_seen_by(client, p.body, t);
         (void)p.world.server().rewind(client, t);
         (void)p.world.server().rewind_status(client, t);
       }
     }},
};

TEST(InvalidTime, OneWrongTimeDoesNoHarm) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
    for (const auto& [name, call] : kTimedCalls) {
      Twins pair(mode);
      pair.world.run_to(3.0);
      for (const double wrong : kWrongTimes) {
        call(pair, wrong);
        pair.world.run_to(pair.world.now_s() + 0.3);
        pair.expect_equal(name + " " + std::to_string(wrong));
      }
    }
  }
}

TEST(InvalidTime, AWrongTimeBeforeTheFirstDoesNoHarm) {
  for (const auto& [name, call] : kTimedCalls) {
    for (const double wrong : {std::nan(""), kEndless, -kEndless, 1e300, 1e18, -1e18}) {
      Twins pair(PlayoutMode::present);
      call(pair, wrong);
      pair.world.run_to(2.0);
      pair.expect_equal(name + " " + std::to_string(wrong));
    }
  }
}

TEST(InvalidTime, IsCounted) {
  Twins pair(PlayoutMode::present);
  pair.world.run_to(2.0);
  EXPECT_EQ(pair.world.client(0).stats().times_refused, 0u);
  pair.world.client(0).update(kEndless);
  pair.world.client(0).update(1e300);
  pair.world.client(0).update(std::nan(""));
  EXPECT_EQ(pair.world.client(0).stats().times_refused, 3u);
  pair.world.server().receive(kEndless);
  pair.world.server().receive(1e10);
  EXPECT_EQ(pair.world.server().stats().times_refused, 2u);
}

// The byte budget must not stop for ever because of one time in the far future.
TEST(InvalidTime, AServersBudgetsSurviveAWrongTick) {
  WorldConfig config{.links = network("broadband")};
  World world(config);
  const EntityId body = world.add_body(kRing);
  world.add_client();
  world.run_to(2.0);
  for (const double wrong : kWrongTimes) {
    world.server().tick(wrong);
    world.run_to(world.now_s() + 1.0);
    const ShownEntity* shown = world.shown(0, body);
    ASSERT_NE(shown, nullptr) << wrong;
    EXPECT_LT(glm::distance(shown->shown.position, kRing(shown->shown_time_s).position), 0.3) << wrong;
  }
}

}  // namespace
}  // namespace reckoner::test
