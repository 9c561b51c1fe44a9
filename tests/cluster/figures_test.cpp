// SPDX-License-Identifier: MIT
// What clients see of a cluster, against what they see of one server: the same world, links and frames, in
// virtual time.
#include "cluster_world.hpp"
#include "harness/cluster/wander.hpp"
#include "harness/sim/sim_transport.hpp"
#include "reckoning/src/statistics/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/client/client.hpp>
#include <reckoner/cluster/gateway.hpp>

namespace reckoner::test {
namespace {

using cluster::SimBus;
using cluster::SimHub;
using harness::Wander;

constexpr double kAdvanceS = 0.001;
constexpr double kFrameS = 1.0 / 60.0;
constexpr std::size_t kWanderers = 200;
constexpr std::size_t kWatchers = 4;
constexpr double kWarmUpS = 6.0;
constexpr double kSettleS = 0.5;  // after an entity appears

std::size_t body_of(const std::string& name) {
  return std::strtoull(name.c_str() + 1, nullptr, 10);
}

// In the frame with this number, the shown velocity of a body changed by so much more than the true one.
struct Step {
  std::size_t body = 0;
  std::size_t frame = 0;
  double mps = 0.0;
};

// A client, and how far what it draws is from where the bodies are.
class Watcher {
 public:
  explicit Watcher(Client joining) : client(std::move(joining)) {}

  void look(const Wander& wander, double server_s, double now_s, std::size_t frame) {
    for (const ShownEntity& entity : client.shown()) {
      const EntityInfo* info = client.info(entity.id);
      if (info == nullptr) continue;
      const std::size_t body = body_of(info->name);
      const State truth = wander.at(body, server_s);
      Seen& s = seen_[entity.id];
      const bool continuous = now_s - s.at_s < 2.5 * kFrameS;
      if (!continuous) s.since_s = now_s;
      const glm::vec3 off = entity.shown.velocity - truth.velocity;
      if (server_s > kWarmUpS && now_s - s.since_s > kSettleS) {
        errors_m.push_back(glm::distance(entity.shown.position, truth.position));
        steps.push_back({body, frame, glm::distance(off, s.off)});
      }
      s.off = off;
      s.at_s = now_s;
    }
  }

  Client client;
  std::vector<double> errors_m;
  std::vector<Step> steps;

 private:
  struct Seen {
    double since_s = 0.0;
    double at_s = -1e9;
    glm::vec3 off{0.0f};
  };
  std::unordered_map<EntityId, Seen> seen_;
};

struct Shown {
  std::vector<double> errors_m;
  std::vector<Step> steps;
};

class ClusterFigures : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  ClusterFigures() {
    config.cell_m = 30.0;
    config.columns = config.rows = 6;
    config.hysteresis_m = 2.0;
    config.archetypes[0].has_orientation = false;
    config.archetypes[0].max_speed_mps = 100.0;
    server_config.tick_rate_hz = config.tick_rate_hz;
    server_config.archetypes = config.archetypes;
    server_config.interest.radius_m = 50.0;
  }

  [[nodiscard]] static harness::SimNetworkConfig network_config() {
    harness::SimNetworkConfig sim;
    const auto link = harness::find_network("intercity");
    sim.links = {*link, *link};
    sim.start_s = kStartS;
    sim.seed = 7 + GetParam();
    sim.arrival_times = true;
    return sim;
  }
  void add_watchers(harness::SimNetwork& network, std::vector<Watcher>& watchers) {
    for (std::size_t i = 0; i < kWatchers; ++i) {
      ClientConfig settings;
      settings.archetypes = config.archetypes;
      auto created = Client::create(settings, network.add_client(kProtocolVersion));
      ASSERT_TRUE(created);
      watchers.emplace_back(std::move(*created));
    }
  }
  // Every client follows a body.
  void set_views(Server& server, double time_s) {
    std::size_t body = 0;
    for (const ClientId client : server.clients())
      (void)server.set_view(client, wander.at(++body, time_s).position);
  }
  void look(std::vector<Watcher>& watchers, double world_s, double now_s) {
    for (Watcher& w : watchers)
      w.client.update(now_s);
    const auto frame = static_cast<std::size_t>(world_s / kFrameS);
    if (frame == last_frame_) return;
    last_frame_ = frame;
    for (Watcher& w : watchers)
      w.look(wander, world_s, now_s, frame);
  }
  static Shown shown(std::vector<Watcher>& watchers) {
    Shown all;
    for (const Watcher& w : watchers) {
      all.errors_m.insert(all.errors_m.end(), w.errors_m.begin(), w.errors_m.end());
      all.steps.insert(all.steps.end(), w.steps.begin(), w.steps.end());
    }
    return all;
  }

  Shown one_server() {
    harness::SimNetwork network{network_config()};
    auto created = Server::create(server_config, network.server());
    EXPECT_TRUE(created);
    Server& server = *created;
    std::vector<Watcher> watchers;
    add_watchers(network, watchers);
    std::vector<EntityId> ids;
    for (double now_s = kStartS; now_s < kStartS + kLengthS; now_s += kAdvanceS) {
      network.advance(now_s);
      const double world_s = now_s - kStartS;
      server.receive(world_s);
      while (server.poll_event()) {
      }
      while (server.tick_time_s(server.next_tick()) <= world_s) {
        const double time_s = server.tick_time_s(server.next_tick());
        for (std::size_t i = 0; i < kWanderers; ++i) {
          if (ids.size() <= i) ids.push_back(*server.spawn(0, "b" + std::to_string(i), wander.at(i, time_s)));
          EXPECT_TRUE(server.move(ids[i], wander.at(i, time_s)));
        }
        set_views(server, time_s);
        server.tick(world_s);
      }
      look(watchers, world_s, now_s);
    }
    return shown(watchers);
  }

  struct Process {
    std::unique_ptr<SimBus> bus;
    std::unique_ptr<WorldEntry> entry;
    std::optional<Simulator> simulator;
  };

  // Enters the world, then runs all ticks that are due.
  void run_simulator(Process& p, double now_s, bool spawns) {
    if (p.entry) {
      const auto entered = p.entry->service(now_s);
      if (!entered) return;
      ASSERT_TRUE(*entered) << entered->error();
      const WorldMember member = **entered;
      p.entry.reset();
      auto created = Simulator::create(config, member, *p.bus, now_s);
      ASSERT_TRUE(created) << created.error();
      p.simulator.emplace(std::move(*created));
    }
    Simulator& s = *p.simulator;
    s.receive(now_s);
    while (s.tick_time_s(s.next_tick()) <= now_s) {
      while (s.poll_event()) {
      }
      const double time_s = s.server().tick_time_s(s.next_tick());
      while (spawns && bodies_.size() < kWanderers && s.ready()) {
        const std::size_t body = bodies_.size();
        const auto id = s.spawn(0, "b" + std::to_string(body), wander.at(body, time_s));
        if (!id) break;
        bodies_[*id] = body;
      }
      for (const EntityId id : s.held())
        EXPECT_TRUE(s.move(id, wander.at(bodies_.at(id), time_s)));
      s.tick(now_s);
    }
  }

  // Notes in which frames bodies have new holders.
  void note_handovers(Gateway& gateway, double world_s) {
    for (const EntityId id : gateway.server().entities()) {
      std::uint32_t& known = epochs_[id];
      const std::uint32_t epoch = gateway.epoch(id);
      if (known != 0 && epoch > known)
        handed_over[bodies_.at(id)].push_back(static_cast<std::size_t>(world_s / kFrameS));
      known = epoch;
    }
  }

  Shown cluster_of(std::size_t simulators) {
    SimHub hub{{}, GetParam()};
    std::vector<Process> processes(simulators);
    for (std::size_t i = 0; i < simulators; ++i) {
      processes[i].bus = std::make_unique<SimBus>(hub);
      processes[i].entry = std::make_unique<WorldEntry>(
          config, "s" + std::to_string(i), ProcessId{static_cast<std::uint32_t>(i + 1)}, *processes[i].bus);
    }
    harness::SimNetwork network{network_config()};
    SimBus gateway_bus{hub};
    auto entry = std::make_unique<WorldEntry>(config, "gate", ProcessId{100}, gateway_bus);
    std::optional<Gateway> gateway;
    std::vector<Watcher> watchers;
    for (double now_s = kStartS; now_s < kStartS + kLengthS; now_s += kAdvanceS) {
      hub.advance(now_s);
      network.advance(now_s);
      for (std::size_t i = 0; i < simulators; ++i)
        run_simulator(processes[i], now_s, i == 0);
      if (!gateway) {
        const auto entered = entry->service(now_s);
        if (!entered) continue;
        EXPECT_TRUE(*entered);
        auto created = Gateway::create(config, {.server = server_config}, **entered, gateway_bus,
                                       network.server(), now_s);
        EXPECT_TRUE(created);
        gateway.emplace(std::move(*created));
        add_watchers(network, watchers);
      }
      const double world_s = now_s - gateway->epoch_s();
      gateway->receive(now_s);
      while (gateway->server().poll_event()) {
      }
      while (gateway->tick_time_s(gateway->next_tick()) <= now_s) {
        set_views(gateway->server(), gateway->server().tick_time_s(gateway->next_tick()));
        gateway->tick(now_s);
      }
      note_handovers(*gateway, world_s);
      look(watchers, world_s, now_s);
    }
    return shown(watchers);
  }

  // The 99th percentile of the steps in the 0.4 s after each handover.
  double handover_step_mps(const Shown& shown) const {
    std::vector<double> steps;
    for (const Step& step : shown.steps) {
      const auto at = handed_over.find(step.body);
      if (at == handed_over.end()) continue;
      const bool is_near = std::any_of(at->second.begin(), at->second.end(), [&](std::size_t frame) {
        return step.frame >= frame && step.frame < frame + 24;
      });
      if (is_near) steps.push_back(step.mps);
    }
    EXPECT_GT(steps.size(), 5000u);
    return quantile(steps, 0.99);
  }

  static constexpr double kStartS = 1000.0;
  static constexpr double kLengthS = 26.0;
  ClusterConfig config;
  ServerConfig server_config;
  Wander wander{180.0, GetParam()};
  std::map<std::size_t, std::vector<std::size_t>> handed_over;  // frames, by body

 private:
  std::map<EntityId, std::size_t> bodies_;
  std::map<EntityId, std::uint32_t> epochs_;
  std::size_t last_frame_ = 0;
};

TEST_P(ClusterFigures, AClusterShowsWhatOneServerShows) {
  Shown one = one_server();
  Shown many = cluster_of(3);
  std::size_t handovers = 0;
  for (const auto& [body, frames] : handed_over)
    handovers += frames.size();
  EXPECT_GT(handovers, 300u);
  EXPECT_NEAR(static_cast<double>(many.errors_m.size()), static_cast<double>(one.errors_m.size()),
              0.02 * static_cast<double>(one.errors_m.size()));
  EXPECT_LE(quantile(many.errors_m, 0.95), 1.1 * quantile(one.errors_m, 0.95));
  EXPECT_LE(quantile(many.errors_m, 0.5), 1.1 * quantile(one.errors_m, 0.5));
  EXPECT_LE(handover_step_mps(many), 1.1 * handover_step_mps(one));
}

// The load of a gateway whose clients see the middle of a world.
struct GatewayLoad {
  double bus_bytes_per_s = 0.0;
  double processor_share = 0.0;  // of a core
  double visible = 0.0;          // entities that a client shows
};

// A world with as many entities in each cell, whatever its size.
GatewayLoad load_of_gateway(std::size_t entities, double tick_rate_hz) {
  constexpr double kPerCell = 25.0;
  ClusterConfig config;
  config.tick_rate_hz = tick_rate_hz;
  config.cell_m = 30.0;
  config.columns = config.rows =
      static_cast<std::uint32_t>(std::lround(std::sqrt(static_cast<double>(entities) / kPerCell)));
  config.archetypes[0].has_orientation = false;
  config.archetypes[0].max_speed_mps = 100.0;
  config.checkpoint_s = 10.0;
  ServerConfig server_config;
  server_config.interest.radius_m = 40.0;
  const Wander wander{config.columns * config.cell_m, 5};
  constexpr double kBeginS = 1000.0, kWarmUpEndS = 1005.0, kEndS = 1009.0;

  SimHub hub{{}, 1};
  SimBus bus{hub};
  auto entry = std::make_unique<WorldEntry>(config, "sim", ProcessId{1}, bus);
  std::optional<Simulator> simulator;
  std::map<EntityId, std::size_t> bodies;
  SimBus gateway_bus{hub};
  auto gateway_entry = std::make_unique<WorldEntry>(config, "gate", ProcessId{100}, gateway_bus);
  std::optional<Gateway> gateway;
  harness::SimNetwork network{{.start_s = kBeginS}};
  std::vector<std::unique_ptr<Client>> clients;
  GatewayLoad load;
  std::uint64_t bytes_before = 0;
  std::clock_t used = 0;
  for (double now_s = kBeginS; now_s < kEndS; now_s += kAdvanceS) {
    hub.advance(now_s);
    network.advance(now_s);
    if (!simulator) {
      const auto entered = entry->service(now_s);
      if (!entered) continue;
      simulator.emplace(std::move(*Simulator::create(config, **entered, bus, now_s)));
    }
    simulator->receive(now_s);
    while (simulator->tick_time_s(simulator->next_tick()) <= now_s) {
      const double time_s = simulator->server().tick_time_s(simulator->next_tick());
      while (bodies.size() < entities && simulator->ready()) {
        const auto id = simulator->spawn(0, "b", wander.at(bodies.size(), time_s));
        if (!id) break;
        const std::size_t body = bodies.size();
        bodies[*id] = body;
      }
      for (const auto& [id, body] : bodies)
        (void)simulator->move(id, wander.at(body, time_s));
      simulator->tick(now_s);
    }
    if (!gateway) {
      const auto entered = gateway_entry->service(now_s);
      if (!entered) continue;
      gateway.emplace(std::move(*Gateway::create(config, {.server = server_config}, **entered, gateway_bus,
                                                 network.server(), now_s)));
      for (std::size_t i = 0; i < kWatchers; ++i) {
        ClientConfig settings;
        settings.archetypes = config.archetypes;
        clients.push_back(std::make_unique<Client>(
            std::move(*Client::create(settings, network.add_client(kProtocolVersion)))));
      }
    }
    const bool measures = now_s >= kWarmUpEndS;
    if (measures && bytes_before == 0) bytes_before = gateway_bus.stats().bytes_received;
    const std::clock_t before = std::clock();
    gateway->receive(now_s);
    while (gateway->server().poll_event()) {
    }
    while (gateway->tick_time_s(gateway->next_tick()) <= now_s) {
      for (const ClientId client : gateway->server().clients())
        (void)gateway->server().set_view(client, {0.0, 0.0, 0.0});
      gateway->tick(now_s);
    }
    if (measures) used += std::clock() - before;
    for (auto& client : clients)
      client->update(now_s);
  }
  EXPECT_EQ(bodies.size(), entities);
  for (auto& client : clients)
    load.visible += static_cast<double>(client->shown().size()) / static_cast<double>(kWatchers);
  load.bus_bytes_per_s =
      static_cast<double>(gateway_bus.stats().bytes_received - bytes_before) / (kEndS - kWarmUpEndS);
  load.processor_share = static_cast<double>(used) / CLOCKS_PER_SEC / (kEndS - kWarmUpEndS);
  return load;
}

// The cost of a gateway follows what its clients can see, not the size of the world. With
// RECKONER_CLUSTER_ENTITIES=20000, the large world has that many entities and 60 ticks per second, and the
// test prints the figures.
TEST(GatewayLoad, FollowsWhatIsVisible) {
  const char* const given = std::getenv("RECKONER_CLUSTER_ENTITIES");
  const std::size_t many = given != nullptr ? std::strtoul(given, nullptr, 10) : 3'600;
  const double tick_rate_hz = given != nullptr ? 60.0 : 20.0;
  const GatewayLoad small = load_of_gateway(400, tick_rate_hz);
  const GatewayLoad large = load_of_gateway(many, tick_rate_hz);
  EXPECT_GT(small.visible, 100.0);
  EXPECT_NEAR(large.visible, small.visible, 0.35 * small.visible);
  EXPECT_LT(large.bus_bytes_per_s, 1.5 * small.bus_bytes_per_s);
  if (given == nullptr) return;
  for (const GatewayLoad& load : {small, large})
    std::cout << load.visible << " entities in view, " << load.bus_bytes_per_s << " bytes/s from the bus, "
              << 100.0 * load.processor_share << " % of a core\n";
}

INSTANTIATE_TEST_SUITE_P(Seeds, ClusterFigures, ::testing::Values(1u, 2u, 3u));

}  // namespace
}  // namespace reckoner::test
