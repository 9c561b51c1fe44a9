// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <reckoner/cluster/bus.hpp>
#include <reckoner/cluster/cluster_config.hpp>
#include <reckoner/cluster/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// A process that belongs to a world.
struct WorldMember {
  ProcessId process;     ///< the number of this process
  std::string name;      ///< its name
  double epoch_s = 0.0;  ///< when tick 0 of the world was, s of the clock that all processes share
};

/// Lets a process enter a world. The first process creates the world; every other one must have the same
/// settings, and a name of its own.
class RECKONER_CLUSTER_API WorldEntry {
 public:
  /// `name` has 1 to 32 letters, digits, `-` and `_`. `number` is the process's number: random and not 0. The
  /// bus must outlive the object.
  WorldEntry(const ClusterConfig& config, std::string name, ProcessId number, Bus& bus);
  ~WorldEntry();

  /// Continues to enter; call it some hundred times a second. `now_s` is the clock that all processes of the
  /// world share, for example seconds since 1970. Returns nullopt while it waits for the bus. Fails if the
  /// world has other settings, if a living process has this name, or if the bus does not answer for 10 s.
  [[nodiscard]] std::optional<Result<WorldMember>> service(double now_s);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
