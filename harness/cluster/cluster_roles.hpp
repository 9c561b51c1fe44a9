// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <reckoner/cluster/cluster_config.hpp>

namespace reckoner::harness {

// The processes of a cluster run. Each runs reckoner-harness with a hidden command and exchanges lines with
// the process that started it. On the line "measure", a process starts to measure; on "report" it prints
// "result {...}"; it ends on "end" or when its standard input is closed.

/// What all processes of a run share.
struct ClusterWorldOptions {
  std::string nats;  ///< URL
  std::string world = "harness";
  std::size_t entities = 2000;
  std::size_t columns = 4;  ///< cells along each axis
  double cell_m = 100.0;
  double radius_m = 50.0;  ///< interest radius of clients, m
  double tick_rate_hz = 60.0;
  double checkpoint_s = 1.0;  ///< a changed body is stored this often, s
  std::uint64_t seed = 1;

  [[nodiscard]] double side_m() const { return cell_m * static_cast<double>(columns); }
};

struct ClusterSimulatorOptions {
  ClusterWorldOptions world;
  std::string name;
  bool spawns = false;  ///< this one adds the bodies to the world
};

struct ClusterGatewayOptions {
  ClusterWorldOptions world;
  std::string name;
  std::uint16_t port = 0;
  std::string key;      ///< key file
  bool single = false;  ///< no cluster: a single server that moves the bodies itself
  std::uint32_t clients = 100;
  /// All clients look at one place, m from the middle of the world: the cost of what is visible. Below 0:
  /// each client follows a body.
  double fixed_view_m = -1.0;
};

struct ClusterClientsOptions {
  ClusterWorldOptions world;
  std::string servers;  ///< ports of the gateways on this machine, separated by commas
  std::string key;
  std::size_t count = 100;
  std::size_t watched = 8;
  double frame_rate_hz = 60.0;
};

/// The settings of the world.
[[nodiscard]] ClusterConfig cluster_config(const ClusterWorldOptions& options);

int run_cluster_simulator(const ClusterSimulatorOptions& options);
int run_cluster_gateway(const ClusterGatewayOptions& options);
int run_cluster_clients(const ClusterClientsOptions& options);

}  // namespace reckoner::harness
