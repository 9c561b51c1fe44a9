// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/bus/requests.hpp"
#include "cluster/src/wire/bus_messages.hpp"
#include "cluster/src/wire/subjects.hpp"

#include <cstddef>
#include <map>
#include <vector>

#include <reckoner/cluster/cluster_config.hpp>

namespace reckoner::cluster {

/// The processes of a world, as their heartbeats say. A heartbeat counts only if the table of leases names
/// its process under its name and role, so nobody becomes a member by a message alone.
class Members {
 public:
  struct Member {
    Heartbeat newest;
    double heard_s = 0.0;
    double check_s = 0.0;  ///< when its lease is to be read again
    bool checking = false;
    int missing = 0;  ///< reads in a row that found no lease
  };

  /// A process sends a heartbeat this often, s.
  static constexpr double kHeartbeatS = 0.25;
  /// A process without heartbeats for this time counts as dead, s.
  static constexpr double kDeadS = 1.5;
  static constexpr std::size_t kMostMembers = 1024;
  /// Unknown processes whose leases are being read. Heartbeats of more are refused.
  static constexpr std::size_t kMostCandidates = 64;

  /// All arguments but `self` must outlive the object.
  Members(const ClusterConfig& config, ProcessId self, Requests& requests, ClusterStats& stats)
      : lease_s_(config.lease_s), self_(self), requests_(requests), stats_(stats) {}

  /// A heartbeat has arrived. One of an unknown process only starts a read of its lease.
  void note(const Heartbeat& heartbeat, double now_s);
  /// This process has sent a heartbeat.
  void note_self(const Heartbeat& heartbeat, double now_s);
  /// Reads leases again, and forgets processes that are dead. Returns true if a simulator died since the last
  /// call.
  bool review(double now_s, bool connected);
  /// After a pause of this process, the silence of the others means nothing.
  void forgive(double now_s);

  [[nodiscard]] const Member* find(ProcessId id) const {
    const auto found = members_.find(id);
    return found != members_.end() ? &found->second : nullptr;
  }
  /// True if the process lives and has this role.
  [[nodiscard]] bool has(ProcessId id, Role role) const {
    const Member* member = find(id);
    return member != nullptr && member->newest.simulator == (role == Role::simulator);
  }
  /// True if the process lives and takes cells.
  [[nodiscard]] bool takes(ProcessId id) const {
    const Member* member = find(id);
    return member != nullptr && member->newest.simulator && !member->newest.leaving;
  }
  [[nodiscard]] const std::map<ProcessId, Member>& all() const { return members_; }
  /// The simulators that take cells, in order of id.
  [[nodiscard]] std::vector<ProcessId> simulators() const;
  /// The largest delay that a living gateway reports, s.
  [[nodiscard]] double delay_s() const;

 private:
  [[nodiscard]] static Role role_of(const Heartbeat& heartbeat) {
    return heartbeat.simulator ? Role::simulator : Role::gateway;
  }
  void admit(ProcessId id, const BusAnswer& lease);
  void check(ProcessId id, const BusAnswer& lease);

  double lease_s_;
  ProcessId self_;
  Requests& requests_;
  ClusterStats& stats_;
  double now_s_ = 0.0;
  std::map<ProcessId, Member> members_;
  std::map<ProcessId, Member> candidates_;  // their leases are being read
};

}  // namespace reckoner::cluster
