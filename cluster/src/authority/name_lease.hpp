// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/bus/requests.hpp"
#include "cluster/src/wire/bus_messages.hpp"
#include "cluster/src/wire/subjects.hpp"

#include <array>
#include <string>

#include <reckoner/cluster/world_entry.hpp>

namespace reckoner::cluster {

/// Keeps the name of a process, so that no second process can enter the world with it, and the lease that
/// makes it a member with its role.
class NameLease {
 public:
  NameLease(const ClusterConfig& config, const WorldMember& member, Role role, Requests& requests)
      : every_s_(0.25 * config.lease_s),
        self_(member.process),
        requests_(requests),
        leases_{{{name_key(member.name)}, {member_key(role, member.name)}}} {}

  void run(double now_s, bool connected) {
    for (Lease& lease : leases_)
      run(lease, now_s, connected);
  }
  /// True if the others can know by now that this process is a member. It sends no heartbeat before.
  [[nodiscard]] bool is_member() const { return leases_[1].held; }
  /// True if another process has the name and the role of this one: nobody believes this process any more.
  [[nodiscard]] bool is_lost() const { return leases_[1].lost; }

 private:
  struct Lease {
    std::string key;
    double renewed_s = -1e300;
    bool busy = false;
    bool held = false;
    bool lost = false;
  };

  void run(Lease& lease, double now_s, bool connected) {
    if (lease.busy || !connected || now_s - lease.renewed_s < every_s_) return;
    lease.renewed_s = now_s;
    lease.busy = true;
    requests_.get(BusTable::leases, lease.key, [this, &lease](const BusAnswer& read) {
      lease.busy = false;
      if (read.status == BusAnswer::Status::unavailable) return;
      const auto stored = decode_lease(read.value);
      if (stored && stored->holder != self_) {
        lease.held = false;
        lease.lost = true;
        return;
      }
      requests_.put_if(BusTable::leases, lease.key, encode_value(LeaseValue{self_}),
                       read.status == BusAnswer::Status::done ? read.revision : 0,
                       [&lease](const BusAnswer& written) {
                         if (written.status != BusAnswer::Status::done) return;
                         lease.held = true;
                         lease.lost = false;
                       });
    });
  }

  double every_s_;
  ProcessId self_;
  Requests& requests_;
  std::array<Lease, 2> leases_;
};

}  // namespace reckoner::cluster
