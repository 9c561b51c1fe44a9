// SPDX-License-Identifier: MIT
#pragma once

#include "harness/cluster/cluster_roles.hpp"
#include "programs/common/loop/clock.hpp"
#include "programs/common/loop/stop_signal.hpp"

#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include <reckoner/cluster/nats_bus.hpp>
#include <reckoner/cluster/world_entry.hpp>

namespace reckoner::harness {

/// A process's connection to the bus and its membership of the world.
struct EnteredWorld {
  std::unique_ptr<NatsBus> bus;
  WorldMember member;
};

/// Connects to the bus and enters the world. Waits. The clock is the machine's monotonic clock.
[[nodiscard]] inline Result<EnteredWorld> enter_world(const ClusterWorldOptions& options,
                                                      const std::string& name) {
  const ClusterConfig config = cluster_config(options);
  NatsConfig nats;
  nats.url = options.nats;
  nats.world = config.world;
  nats.name = name;
  nats.lease_s = config.lease_s;
  auto bus = NatsBus::open(nats);
  if (!bus) return Error{bus.error()};
  std::random_device random;
  WorldEntry entry(config, name, ProcessId{random() | 1u}, **bus);
  while (!program::stop_requested()) {
    if (const auto entered = entry.service(program::monotonic_s())) {
      if (!*entered) return Error{entered->error()};
      return EnteredWorld{std::move(*bus), **entered};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return Error{"stopped"};
}

}  // namespace reckoner::harness
