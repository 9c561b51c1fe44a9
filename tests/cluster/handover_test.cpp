// SPDX-License-Identifier: MIT
#include "cluster_world.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <reckoner/client/client.hpp>
#include <reckoner/cluster/gateway.hpp>

namespace reckoner::test {
namespace {

using cluster::SimBus;
using cluster::SimBusConfig;
using cluster::SimHub;

constexpr double kStepS = 0.002;

// Simulators, gateways and clients of one world on a simulated bus.
class HandoverTest : public ::testing::Test {
 protected:
  SimulatorProcess& add_simulator() {
    const auto number = static_cast<std::uint32_t>(simulators.size() + 1);
    simulators.push_back(
        std::make_unique<SimulatorProcess>(hub, config, "sim" + std::to_string(number), number));
    return *simulators.back();
  }
  GatewayProcess& add_gateway() {
    const auto number = static_cast<std::uint32_t>(101 + gateways.size());
    gateways.push_back(
        std::make_unique<GatewayProcess>(hub, config, "gate" + std::to_string(number), number));
    return *gateways.back();
  }
  void run(
      double seconds, const std::function<void()>& each = [] {}) {
    for (const double until_s = now_s + seconds; now_s < until_s; now_s += kStepS) {
      hub.advance(now_s);
      for (auto& s : simulators) {
        s->run(now_s);
        ASSERT_EQ(s->error(), "");
      }
      for (auto& g : gateways)
        g->run(now_s);
      witness.run(now_s);
      each();
    }
  }
  // How often each entity is held.
  std::map<EntityId, int> holders() {
    std::map<EntityId, int> count;
    for (auto& s : simulators) {
      if (s->simulator() == nullptr) continue;
      for (const EntityId id : s->simulator()->held())
        ++count[id];
    }
    return count;
  }
  void expect_each_held_once(std::size_t entities) {
    for (int i = 0; i < 1000 && holders().size() != entities; ++i)
      run(kStepS);  // one may be in flight
    const auto count = holders();
    EXPECT_EQ(count.size(), entities);
    for (const auto& [id, times] : count)
      EXPECT_EQ(times, 1) << id.slot();
    EXPECT_EQ(witness.faults(), std::vector<std::string>{});
  }
  void expect_each_cell_held_once() {
    for (std::uint32_t cell = 0; cell < config.columns * config.rows; ++cell) {
      int times = 0;
      for (auto& s : simulators)
        times += s->simulator() != nullptr && s->simulator()->holds_cell(cell) ? 1 : 0;
      EXPECT_EQ(times, 1) << "cell " << cell;
    }
  }
  std::uint64_t handovers() {
    std::uint64_t sum = 0;
    for (auto& s : simulators)
      sum += s->simulator()->stats().handovers_in;
    return sum;
  }

  ClusterConfig config = small_world();
  SimHub hub{{}, 1};
  double now_s = 1000.0;
  std::vector<std::unique_ptr<SimulatorProcess>> simulators;
  std::vector<std::unique_ptr<GatewayProcess>> gateways;
  SimBus witness_bus{hub};
  cluster::Witness witness{config, witness_bus};
};

TEST_F(HandoverTest, OneSimulatorHoldsAllCellsAndAGatewayShowsItsEntities) {
  add_simulator().to_spawn = bodies(5, config, 1);
  GatewayProcess& gateway = add_gateway();
  Client& client = gateway.add_client();
  run(3.0);
  expect_each_held_once(5);
  expect_each_cell_held_once();
  EXPECT_EQ(gateway.gateway->server().entity_count(), 5u);
  std::set<EntityId> shown;
  for (const EntityId id : gateway.gateway->server().entities())
    shown.insert(id);
  EXPECT_EQ(shown, std::set<EntityId>(simulators[0]->spawned.begin(), simulators[0]->spawned.end()));
  EXPECT_EQ(client.shown().size(), 5u);
  // The published motion at the gateway is where the body is.
  for (const EntityId id : shown) {
    const State there = *simulators[0]->simulator()->server().state(id);
    const State here = *gateway.gateway->server().state(id);
    EXPECT_LT(glm::distance(there.position, here.position), 0.5);
  }
}

TEST_F(HandoverTest, SimulatorsShareTheCellsAndHandBodiesOver) {
  for (int i = 0; i < 3; ++i)
    add_simulator();
  simulators[0]->to_spawn = bodies(30, config, 2);
  GatewayProcess& gateway = add_gateway();
  run(4.0);
  expect_each_cell_held_once();
  expect_each_held_once(30);
  for (auto& s : simulators)
    EXPECT_GT(s->simulator()->cell_count(), 0u);
  const std::uint64_t before = handovers();
  EXPECT_GT(before, 0u);
  std::size_t least = 30;
  run(30.0, [&] { least = std::min(least, gateway.gateway->server().entity_count()); });
  EXPECT_EQ(least, 30u);  // nothing disappears from the gateway for a moment
  expect_each_held_once(30);
  expect_each_cell_held_once();
  EXPECT_GT(handovers(), before + 20);
  EXPECT_EQ(gateway.gateway->server().entity_count(), 30u);
  // Nearly every handover is silent for one tick only.
  const auto& silence = gateway.gateway->stats().silence_ticks;
  const auto total = std::accumulate(silence.begin(), silence.end(), std::uint64_t{0});
  const auto within = std::accumulate(silence.begin(), silence.begin() + 3, std::uint64_t{0});
  EXPECT_GT(total, 20u);
  EXPECT_GE(static_cast<double>(within), 0.99 * static_cast<double>(total));
  EXPECT_EQ(witness.stale_refused(), 0u);
}

TEST_F(HandoverTest, MessagesArriveOnceAndInOrderAcrossHandovers) {
  for (int i = 0; i < 2; ++i)
    add_simulator().echo = true;
  simulators[0]->to_spawn = bodies(6, config, 3);
  GatewayProcess& gateway = add_gateway();
  Client& client = gateway.add_client();
  run(4.0);
  ASSERT_EQ(client.status(), ClientStatus::joined);
  const std::vector<EntityId> all = simulators[0]->spawned;
  ASSERT_EQ(all.size(), 6u);
  const std::uint64_t before = handovers();
  std::map<EntityId, int> sent;
  std::map<std::uint64_t, std::vector<int>> echoed;
  double next_s = now_s;
  run(25.0, [&] {
    if (now_s >= next_s && now_s < next_s + 20.0) {
      next_s += 0.05;
      const EntityId to = all[static_cast<std::size_t>(
          sent.size() < 6 ? sent.size() : static_cast<std::size_t>(now_s * 1000.0) % 6)];
      std::string text(8, '\0');
      for (std::size_t i = 0; i < 8; ++i)
        text[i] = static_cast<char>(to_number(to) >> (8 * i));
      text += std::to_string(sent[to]++);
      EXPECT_TRUE(client.send(std::as_bytes(std::span{text}), Delivery::reliable));
    }
    while (client.poll_message()) {
    }
  });
  run(2.0);
  EXPECT_GT(handovers(), before + 3);
  // Every entity has got all of its messages, in order, across all changes of its holder.
  std::uint64_t received = 0, answered = 0;
  for (const EntityId id : all) {
    std::vector<std::string> texts;
    for (auto& s : simulators) {
      for (const auto& [from, text] : s->messages[id])
        texts.push_back(text);
    }
    EXPECT_EQ(texts.size(), static_cast<std::size_t>(sent[id])) << id.slot();
    std::set<std::string> different(texts.begin(), texts.end());
    EXPECT_EQ(different.size(), texts.size()) << id.slot();
    for (auto& s : simulators) {
      const auto& got = s->messages[id];
      for (std::size_t i = 1; i < got.size(); ++i)
        EXPECT_LT(std::stoi(got[i - 1].second), std::stoi(got[i].second));
    }
    received += texts.size();
  }
  EXPECT_GT(received, 100u);
  for (auto& g : gateways)
    EXPECT_EQ(g->refused, 0u);
  // The echoes have reached the gateway, each once.
  for (auto& g : gateways)
    answered += g->gateway->stats().messages_received;
  EXPECT_EQ(answered, received);
}

TEST_F(HandoverTest, ASimulatorThatLeavesHandsEverythingOver) {
  for (int i = 0; i < 2; ++i)
    add_simulator();
  simulators[0]->to_spawn = bodies(12, config, 4);
  run(4.0);
  simulators[0]->simulator()->leave();
  run(3.0);
  EXPECT_TRUE(simulators[0]->simulator()->finished());
  EXPECT_EQ(simulators[1]->simulator()->held_count(), 12u);
  EXPECT_EQ(simulators[1]->simulator()->cell_count(), 8u);
  EXPECT_EQ(simulators[1]->simulator()->stats().adopted, 0u);
}

TEST_F(HandoverTest, OrphansOfADeadSimulatorAreAdopted) {
  for (int i = 0; i < 3; ++i)
    add_simulator();
  simulators[0]->to_spawn = bodies(20, config, 5);
  GatewayProcess& gateway = add_gateway();
  run(6.0);
  const std::size_t orphans = simulators[1]->simulator()->held_count();
  ASSERT_GT(orphans, 0u);
  simulators.erase(simulators.begin() + 1);
  run(5.0);
  expect_each_held_once(20);
  expect_each_cell_held_once();
  EXPECT_EQ(gateway.gateway->server().entity_count(), 20u);
  const auto& silent_s = gateway.gateway->stats().orphan_s;
  EXPECT_GE(silent_s.size(), orphans);
  for (const double s : silent_s)
    EXPECT_LT(s, 4.0);
}

TEST_F(HandoverTest, APausedSimulatorWritesNothingThatIsAccepted) {
  for (int i = 0; i < 2; ++i)
    add_simulator();
  simulators[0]->to_spawn = bodies(12, config, 6);
  run(4.0);
  simulators[1]->paused = true;
  run(6.0);
  simulators[1]->paused = false;
  run(4.0);
  expect_each_held_once(12);
  expect_each_cell_held_once();
  EXPECT_GT(simulators[1]->simulator()->stats().entities_lost, 0u);
}

// A connection that hangs: what the simulator wrote in good faith arrives when others hold its cells and
// bodies.
TEST_F(HandoverTest, LateWritesAreRefusedAndCounted) {
  SimHub slow{{.notice_s = 30.0}, 8};
  SimulatorProcess a(slow, config, "a", 1), b(slow, config, "b", 2);
  SimBus bus{slow};
  cluster::Witness reader{config, bus};
  a.to_spawn = bodies(12, config, 8);
  const auto run_both = [&](double seconds) {
    for (const double until_s = now_s + seconds; now_s < until_s; now_s += kStepS) {
      slow.advance(now_s);
      a.run(now_s);
      b.run(now_s);
      reader.run(now_s);
    }
  };
  run_both(4.0);
  ASSERT_GT(b.simulator()->held_count(), 0u);
  slow.cut(b.bus(), SimHub::Cut::delay, now_s);
  run_both(6.0);
  EXPECT_EQ(a.simulator()->held_count(), 12u);
  slow.cut(b.bus(), SimHub::Cut::none, now_s);
  run_both(4.0);
  EXPECT_GT(reader.stale_refused(), 0u);
  EXPECT_EQ(reader.stale_accepted(), 0u);
  EXPECT_EQ(a.simulator()->held_count() + b.simulator()->held_count(), 12u);
}

TEST_F(HandoverTest, MotionContinuesAfterTheBusWasAway) {
  for (int i = 0; i < 2; ++i)
    add_simulator();
  simulators[0]->to_spawn = bodies(12, config, 7);
  GatewayProcess& gateway = add_gateway();
  run(4.0);
  hub.stop(now_s);
  run(5.0);
  hub.start(now_s);
  run(5.0);
  expect_each_held_once(12);
  expect_each_cell_held_once();
  for (const EntityId id : gateway.gateway->server().entities()) {
    for (auto& s : simulators) {
      if (!s->simulator()->holds(id)) continue;
      EXPECT_LT(glm::distance(s->simulator()->server().state(id)->position,
                              gateway.gateway->server().state(id)->position),
                0.5);
    }
  }
}

// The clock of the processes may stand anywhere, also below zero.
TEST_F(HandoverTest, WorksBelowTimeZero) {
  now_s = -40.0;
  for (int i = 0; i < 2; ++i)
    add_simulator();
  simulators[0]->to_spawn = bodies(12, config, 5);
  run(6.0);
  ASSERT_TRUE(simulators[0]->simulator() != nullptr && simulators[1]->simulator() != nullptr);
  expect_each_held_once(12);
  expect_each_cell_held_once();
  EXPECT_GT(handovers(), 0u);
  // A process notices that the bus is away, and continues when it is back.
  hub.stop(now_s);
  run(5.0);
  EXPECT_FALSE(simulators[0]->bus().connected());
  hub.start(now_s);
  run(5.0);
  EXPECT_TRUE(simulators[0]->bus().connected());
  expect_each_held_once(12);
  // The entities of a dead process are adopted from its checkpoints.
  simulators.erase(simulators.begin());
  run(10.0);
  ASSERT_LT(now_s, 0.0);
  expect_each_held_once(12);
  expect_each_cell_held_once();
}

TEST_F(HandoverTest, TwoProcessesWithOneNameAndOtherSettingsAreRefused) {
  add_simulator();
  run(2.0);
  SimulatorProcess same(hub, config, "sim1", 77);
  ClusterConfig other = config;
  other.archetypes[0].threshold_m = 0.2;
  SimulatorProcess different(hub, other, "sim9", 78);
  ClusterConfig finer = config;
  finer.cell_m = 10.0;
  SimulatorProcess cells(hub, finer, "sim8", 79);
  run(6.0, [&] {
    same.run(now_s);
    different.run(now_s);
    cells.run(now_s);
  });
  EXPECT_EQ(same.error(), "a process with the name 'sim1' lives in the world 'world'");
  EXPECT_EQ(
      different.error(),
      "the world 'world' has other archetypes than this process: they must be equal, with their thresholds");
  EXPECT_EQ(cells.error(), "the world 'world' has a cell size of 50, this process 10");
}

}  // namespace
}  // namespace reckoner::test
