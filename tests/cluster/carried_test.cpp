// SPDX-License-Identifier: MIT
// What goes with an entity from one simulator to the next: its route, its frame, its teleports, and what was
// learned about its motion.
#include "cluster/src/wire/bus_messages.hpp"
#include "cluster/src/wire/subjects.hpp"
#include "cluster_world.hpp"
#include "harness/sim/sim_transport.hpp"
#include "server/src/world_access.hpp"

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/cluster/gateway.hpp>

namespace reckoner::test {
namespace {

using cluster::SimBus;
using cluster::SimHub;

constexpr double kPassS = 0.002;

// Two simulators with half of the world each, and a gateway.
class CarriedTest : public ::testing::Test {
 protected:
  /// What a simulator's game does with an entity that it holds, `time_s` after the start.
  using Game = std::function<void(Simulator&, double time_s)>;

  struct Process {
    Process(SimHub& hub, const ClusterConfig& config, const std::string& name, std::uint32_t number)
        : bus(hub), entry(std::make_unique<WorldEntry>(config, name, ProcessId{number}, bus)) {}
    SimBus bus;
    std::unique_ptr<WorldEntry> entry;
    std::optional<Simulator> simulator;
    std::optional<Gateway> gateway;
  };

  void start() {
    for (std::uint32_t i = 0; i < 3; ++i)
      processes.push_back(std::make_unique<Process>(hub, config, "p" + std::to_string(i), i + 1));
    for (int i = 0; i < 3000; ++i)
      step();
    ASSERT_TRUE(one().simulator && two().simulator && gate().gateway);
    // Strips: the first simulator holds the west, the second one the east.
    ASSERT_TRUE(one().simulator->holds_cell(1) && two().simulator->holds_cell(2));
    began_s = now_s;
  }

  void enter(Process& p, bool is_gateway) {
    const auto entered = p.entry->service(now_s);
    if (!entered) return;
    ASSERT_TRUE(*entered) << entered->error();
    const WorldMember member = **entered;
    epoch_s = member.epoch_s;
    p.entry.reset();
    if (is_gateway) {
      auto created = Gateway::create(config, {}, member, p.bus, network.server(), now_s);
      ASSERT_TRUE(created) << created.error();
      p.gateway.emplace(std::move(*created));
    } else {
      auto created = Simulator::create(config, member, p.bus, now_s);
      ASSERT_TRUE(created) << created.error();
      p.simulator.emplace(std::move(*created));
    }
  }

  void step() {
    hub.advance(now_s);
    network.advance(now_s);
    for (auto& p : processes) {
      if (p->entry) enter(*p, p == processes.back());
      if (p->simulator) {
        p->simulator->receive(now_s);
        while (p->simulator->tick_time_s(p->simulator->next_tick()) <= now_s) {
          while (p->simulator->poll_event()) {
          }
          const double time_s =
              epoch_s + p->simulator->server().tick_time_s(p->simulator->next_tick()) - began_s;
          if (began_s > 0.0 && game) game(*p->simulator, time_s);
          p->simulator->tick(now_s);
        }
      }
      if (p->gateway) {
        p->gateway->receive(now_s);
        while (p->gateway->tick_time_s(p->gateway->next_tick()) <= now_s)
          p->gateway->tick(now_s);
      }
    }
    now_s += kPassS;
  }
  void run(
      double seconds, const std::function<void()>& each = [] {}) {
    for (const double until_s = now_s + seconds; now_s < until_s;) {
      step();
      each();
    }
  }

  [[nodiscard]] Process& one() { return *processes[0]; }
  [[nodiscard]] Process& two() { return *processes[1]; }
  [[nodiscard]] Process& gate() { return *processes[2]; }
  [[nodiscard]] const Server& shown() { return gate().gateway->server(); }
  [[nodiscard]] double time_s() const { return now_s - began_s; }
  // Only to read.
  [[nodiscard]] static WorldAccess access(const Simulator& s) {
    return WorldAccess{const_cast<Server&>(s.server())};
  }

  ClusterConfig config = small_world();
  SimHub hub{{}, 3};
  harness::SimNetwork network{{.start_s = 1000.0}};
  double now_s = 1000.0;
  double began_s = 0.0;
  double epoch_s = 0.0;
  std::vector<std::unique_ptr<Process>> processes;
  Game game;
};

TEST_F(CarriedTest, ARouteGoesWithItsEntity) {
  const CatmullRomRoute curve{{{-90.0, 5.0, 0.0}, {-30.0, 12.0, 0.0}, {30.0, -12.0, 0.0}, {90.0, 5.0, 0.0}}};
  const RouteDefinition road{.curve = curve};
  config.routes = {road};
  start();
  const Result<Route> route = Route::make(road);
  ASSERT_TRUE(route);
  const auto along = [](double t_s) { return RouteState{.distance = 10.0 * t_s, .speed = 10.0}; };
  const EntityId bus = *one().simulator->spawn(0, "bus", {.position = curve.points[0]});
  ASSERT_TRUE(bus);
  ASSERT_TRUE(one().simulator->follow(bus, RouteId{1}));
  int refused = 0;
  game = [&](Simulator& s, double t_s) {
    if (s.holds(bus)) refused += s.move_along(bus, along(t_s)) ? 0 : 1;
  };
  double worst_m = 0.0;
  int off_route = 0;
  run(15.0, [&] {
    const auto state = shown().state(bus);
    if (!state || time_s() < 1.0) return;
    worst_m = std::max(worst_m, glm::distance(state->position, route->position(10.0 * time_s())));
    off_route += shown().debug(bus)->on_route ? 0 : 1;
  });
  EXPECT_TRUE(two().simulator->holds(bus));
  EXPECT_EQ(two().simulator->stats().handovers_in, 1u);
  EXPECT_EQ(access(*two().simulator).route(bus), RouteId{1});
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(off_route, 0);  // the gateway got motions along the route all the time
  EXPECT_LT(worst_m, 0.5);  // a tick of motion is 0.17 m
}

TEST_F(CarriedTest, APassengerGoesWithItsFrame) {
  start();
  const auto ferry_at = [](double t_s) {
    return State{.position = {-20.0 + 6.0 * t_s, -20.0, 0.0}, .velocity = {6.0f, 0.0f, 0.0f}};
  };
  // The passenger walks up and down on the ferry. It is across the border long before the ferry, and back.
  const auto passenger_at = [](double t_s) {
    return State{.position = {8.0 * std::sin(t_s), 0.0, 1.0},
                 .velocity = {static_cast<float>(8.0 * std::cos(t_s)), 0.0f, 0.0f}};
  };
  const EntityId ferry = *one().simulator->spawn(0, "ferry", ferry_at(0.0));
  ASSERT_TRUE(ferry);
  const EntityId passenger = *one().simulator->spawn(0, "passenger", passenger_at(0.0), ferry);
  ASSERT_TRUE(passenger);
  int apart = 0, refused = 0;
  bool together_in_the_east = false;
  game = [&](Simulator& s, double t_s) {
    if (s.holds(ferry)) refused += s.move(ferry, ferry_at(t_s)) ? 0 : 1;
    if (s.holds(passenger)) refused += s.move(passenger, passenger_at(t_s)) ? 0 : 1;
  };
  double worst_m = 0.0;
  run(8.0, [&] {
    apart += one().simulator->holds(ferry) != one().simulator->holds(passenger) ? 1 : 0;
    together_in_the_east =
        together_in_the_east || (two().simulator->holds(ferry) && two().simulator->holds(passenger) &&
                                 two().simulator->server().frame_of(passenger) == ferry);
    const auto state = shown().in_world(passenger);
    if (!state || time_s() < 1.0) return;
    const glm::dvec3 truth = ferry_at(time_s()).position + passenger_at(time_s()).position;
    worst_m = std::max(worst_m, glm::distance(state->position, truth));
    EXPECT_EQ(shown().frame_of(passenger), ferry);
  });
  // Each once: the passenger did not go back and forth. Later both may return together with their cell, when
  // the simulators balance their loads.
  EXPECT_TRUE(together_in_the_east);
  EXPECT_EQ(two().simulator->stats().handovers_in, 2u);
  EXPECT_EQ(one().simulator->holds(ferry), one().simulator->holds(passenger));
  EXPECT_LT(apart * kPassS, 0.2);  // it follows at once
  EXPECT_EQ(refused, 0);
  EXPECT_LT(worst_m, 0.7);
}

TEST_F(CarriedTest, ATeleportAcrossTheBorderIsOneTeleport) {
  start();
  const auto at = [](double t_s) {
    const double x = t_s < 3.0 ? -80.0 + 5.0 * t_s : 60.0 + 5.0 * (t_s - 3.0);
    return State{.position = {x, 10.0, 0.0}, .velocity = {5.0f, 0.0f, 0.0f}};
  };
  const EntityId mage = *one().simulator->spawn(0, "mage", at(0.0));
  ASSERT_TRUE(mage);
  bool jumped = false;
  game = [&](Simulator& s, double t_s) {
    if (!s.holds(mage)) return;
    if (t_s >= 3.0 && !jumped) {
      jumped = true;
      EXPECT_TRUE(s.teleport(mage, at(t_s)));
    } else {
      EXPECT_TRUE(s.move(mage, at(t_s)));
    }
  };
  run(2.0);
  WorldAccess seen{gate().gateway->server()};
  const auto before = seen.teleports(mage);
  int between = 0;
  run(5.0, [&] {
    const auto state = shown().state(mage);
    ASSERT_TRUE(state);
    between += state->position.x > -60.0 && state->position.x < 58.0 ? 1 : 0;
  });
  EXPECT_TRUE(two().simulator->holds(mage));
  EXPECT_EQ(between, 0);  // nobody saw it fly across the world
  EXPECT_EQ(static_cast<int>(seen.teleports(mage)), static_cast<int>(before) + 1);
  EXPECT_EQ(access(*two().simulator).teleports(mage), seen.teleports(mage));
  EXPECT_LT(glm::distance(shown().state(mage)->position, at(time_s()).position), 0.5);
}

// Reads the commits that simulators send each other.
TEST_F(CarriedTest, WhatWasLearnedGoesWithTheEntity) {
  start();
  SimBus tap{hub};
  for (const std::uint32_t number : {1u, 2u})
    tap.subscribe(cluster::inbox_subject(config.world, ProcessId{number}, cluster::Role::simulator));
  const cluster::WorldCodec codec{config.archetypes};
  std::vector<MotionFit::Priors> given;
  // A body that weaves. The east sends it back at once, before it can have learned anything itself.
  const auto at = [](double x, double t_s) {
    return State{.position = {x, 2.0 * std::sin(3.0 * t_s), 0.0},
                 .velocity = {4.0f, static_cast<float>(6.0 * std::cos(3.0 * t_s)), 0.0f}};
  };
  const EntityId body = *one().simulator->spawn(0, "body", at(-40.0, 0.0));
  ASSERT_TRUE(body);
  MotionFit::Priors learned;
  game = [&](Simulator& s, double t_s) {
    if (!s.holds(body)) return;
    if (&s == &*two().simulator) {
      EXPECT_TRUE(s.teleport(body, at(-40.0, t_s)));
    } else if (two().simulator->stats().handovers_in == 0) {
      EXPECT_TRUE(s.move(body, at(-40.0 + 4.0 * t_s, t_s)));
      learned = access(s).priors(body);
    }
  };
  run(15.0, [&] {
    tap.service(now_s);
    while (const auto message = tap.poll()) {
      const auto payload = cluster::decode(message->payload, codec);
      ASSERT_TRUE(payload);
      if (const auto* commit = std::get_if<cluster::Commit>(&*payload))
        given.push_back(commit->baggage.priors);
    }
  });
  EXPECT_TRUE(one().simulator->holds(body));
  ASSERT_GE(given.size(), 2u);
  ASSERT_TRUE(learned.linear && given.front().linear && given.back().linear);
  for (std::size_t i = 0; i < learned.linear->size(); ++i) {
    // The commit is one tick younger at most. What came with the body goes back with it unchanged.
    EXPECT_NEAR((*given.front().linear)[i], (*learned.linear)[i],
                0.1f * std::abs((*learned.linear)[i]) + 1e-3f);
    EXPECT_EQ((*given.back().linear)[i], (*given.front().linear)[i]);
  }
}

}  // namespace
}  // namespace reckoner::test
