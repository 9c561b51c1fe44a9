// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/bus/sim_bus.hpp"
#include "cluster/src/witness/witness.hpp"
#include "harness/sim/sim_dialer.hpp"
#include "harness/sim/sim_transport.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/cluster/gateway.hpp>
#include <reckoner/cluster/simulator.hpp>
#include <reckoner/cluster/world_entry.hpp>

namespace reckoner::test {

/// A process with a simulator, and the game that it runs: bodies that circle slowly and turn round at the
/// border of the world.
class SimulatorProcess {
 public:
  SimulatorProcess(cluster::SimHub& hub, const ClusterConfig& config, std::string name, std::uint32_t number);

  /// Enters the world, then runs all ticks that are due.
  void run(double now_s);
  [[nodiscard]] Simulator* simulator() { return simulator_ ? &*simulator_ : nullptr; }
  [[nodiscard]] cluster::SimBus& bus() { return *bus_; }
  [[nodiscard]] const std::string& error() const { return error_; }

  /// Bodies to spawn as soon as there are ids.
  std::vector<State> to_spawn;
  /// A process that is paused does nothing, but what it receives waits.
  bool paused = false;
  /// Messages that reached the game, by entity: from whom, and the text.
  std::map<EntityId, std::vector<std::pair<ClusterClient, std::string>>> messages;
  /// Answers every message.
  bool echo = false;
  std::vector<EntityId> spawned;
  std::vector<SimulatorEvent> events;

 private:
  void play();

  ClusterConfig config_;
  std::unique_ptr<cluster::SimBus> bus_;
  std::unique_ptr<WorldEntry> entry_;
  std::optional<Simulator> simulator_;
  std::string error_;
};

/// A process with a gateway, and its clients. A client's message to an entity begins with the entity's number
/// (8 bytes, the lowest first).
struct GatewayProcess {
  GatewayProcess(cluster::SimHub& hub, const ClusterConfig& config, const std::string& name,
                 std::uint32_t number, const GatewayConfig& settings = {});

  /// Enters the world, then runs all ticks that are due.
  void run(double now_s);
  Client& add_client();

  ClusterConfig config;
  GatewayConfig settings;
  std::unique_ptr<cluster::SimBus> bus;
  std::unique_ptr<WorldEntry> entry;
  harness::SimNetwork network{{.start_s = 1000.0}};
  std::optional<Gateway> gateway;
  std::vector<std::unique_ptr<Client>> clients;
  std::uint64_t refused = 0;  ///< messages of clients that Gateway::send() has refused
};

/// The world of the tests: 4 x 2 cells of 50 m.
ClusterConfig small_world(double tick_rate_hz = 60.0);

/// `count` bodies at places and with velocities from a seed.
std::vector<State> bodies(std::size_t count, const ClusterConfig& config, std::uint64_t seed);

}  // namespace reckoner::test
