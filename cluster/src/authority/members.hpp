// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/wire/bus_messages.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace reckoner::cluster {

/// The processes of a world, as their heartbeats tell.
class Members {
 public:
  struct Member {
    Heartbeat newest;
    double heard_s = 0.0;
  };

  /// A process sends a heartbeat this often, s.
  static constexpr double kHeartbeatS = 0.25;
  /// A process without heartbeats for this time counts as dead, s.
  static constexpr double kDeadS = 1.5;

  void note(const Heartbeat& heartbeat, double now_s) { members_[heartbeat.process] = {heartbeat, now_s}; }
  /// Forgets processes that are dead for a while. Returns true if a process died since the last call.
  bool review(double now_s) {
    bool died = false;
    std::erase_if(members_, [&](const auto& entry) {
      const bool dead = now_s - entry.second.heard_s > kDeadS;
      died = died || (dead && entry.second.newest.simulator);
      return dead;
    });
    return died;
  }
  /// After a pause of this process, the silence of the others means nothing.
  void forgive(double now_s) {
    for (auto& [id, member] : members_)
      member.heard_s = now_s;
  }

  [[nodiscard]] const Member* find(ProcessId id) const {
    const auto found = members_.find(id);
    return found != members_.end() ? &found->second : nullptr;
  }
  /// True if the process lives and takes cells.
  [[nodiscard]] bool takes(ProcessId id) const {
    const Member* member = find(id);
    return member != nullptr && member->newest.simulator && !member->newest.leaving;
  }
  [[nodiscard]] const std::map<ProcessId, Member>& all() const { return members_; }
  /// The simulators that take cells, in order of id.
  [[nodiscard]] std::vector<ProcessId> simulators() const {
    std::vector<ProcessId> ids;
    for (const auto& [id, member] : members_) {
      if (member.newest.simulator && !member.newest.leaving) ids.push_back(id);
    }
    return ids;
  }
  /// The largest delay that a living gateway reports, s.
  [[nodiscard]] double delay_s() const {
    double most = 0.0;
    for (const auto& [id, member] : members_) {
      if (member.newest.gateway) most = std::max(most, member.newest.delay_s);
    }
    return std::min(most, 0.25);
  }

 private:
  std::map<ProcessId, Member> members_;
};

}  // namespace reckoner::cluster
