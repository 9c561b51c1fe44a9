// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/wire/bus_messages.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <reckoner/cluster/bus.hpp>

namespace reckoner::cluster {

/// Reads everything that a world publishes, as a gateway that sees all cells would, and notes what must never
/// happen: two accepted writers with one epoch. For tests and for the harness. The bus must outlive it.
class Witness {
 public:
  Witness(const ClusterConfig& config, Bus& bus);

  /// Reads what has arrived.
  void run(double now_s);

  /// What went wrong, the first few only.
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }
  [[nodiscard]] std::uint64_t stale_refused() const { return stale_; }    ///< records with an older epoch
  [[nodiscard]] std::uint64_t stale_accepted() const { return faulty_; }  ///< records of a second writer
  [[nodiscard]] std::uint64_t accepted() const { return accepted_; }      ///< records that it accepted

 private:
  struct Seen {
    std::uint32_t epoch = 0;
    ProcessId writer;
  };
  void see(Seen& seen, std::uint32_t epoch, ProcessId writer, const std::string& what);

  Bus& bus_;
  WorldCodec codec_;
  std::map<std::uint32_t, Seen> cells_;
  std::map<std::uint32_t, Seen> slots_;
  std::vector<std::string> faults_;
  std::uint64_t stale_ = 0;
  std::uint64_t faulty_ = 0;
  std::uint64_t accepted_ = 0;
};

}  // namespace reckoner::cluster
