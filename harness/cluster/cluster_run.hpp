// SPDX-License-Identifier: MIT
#pragma once

#include "harness/cluster/cluster_roles.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

struct ClusterRunOptions {
  ClusterWorldOptions world;
  std::size_t simulators = 4;
  std::size_t gateways = 2;
  std::size_t clients = 100;
  std::size_t watched = 8;  ///< clients whose error is measured
  double seconds = 60.0;
  double warm_up_s = 4.0;  ///< between the last client's joining and the measurement
  std::string network = "intercity";
  bool chaos = false;
  bool compare = true;  ///< also measure the same world on one server
  double fixed_view_m = -1.0;
  std::filesystem::path program;  ///< path of reckoner-harness
};

using ClusterProgress = std::function<void(const std::string& what, double done)>;

/// Starts a NATS server, simulators, gateways, conditioners and clients, measures, and returns the figures.
[[nodiscard]] Result<nlohmann::ordered_json> run_cluster(const ClusterRunOptions& options,
                                                         const ClusterProgress& progress);
/// The figures as a table for a person.
[[nodiscard]] std::string cluster_table(const nlohmann::ordered_json& figures);

}  // namespace reckoner::harness
