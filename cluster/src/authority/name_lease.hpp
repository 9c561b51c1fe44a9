// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/bus/requests.hpp"
#include "cluster/src/wire/bus_messages.hpp"
#include "cluster/src/wire/subjects.hpp"

#include <string>

#include <reckoner/cluster/world_entry.hpp>

namespace reckoner::cluster {

/// Keeps the name of a process, so that no second process can enter the world with it.
class NameLease {
 public:
  NameLease(const ClusterConfig& config, const WorldMember& member, Requests& requests)
      : every_s_(0.25 * config.lease_s), member_(member), requests_(requests) {}

  void run(double now_s, bool connected) {
    if (busy_ || !connected || now_s - renewed_s_ < every_s_) return;
    renewed_s_ = now_s;
    busy_ = true;
    requests_.get(BusTable::leases, name_key(member_.name), [this](const BusAnswer& read) {
      busy_ = false;
      const auto stored = decode_lease(read.value);
      const bool mine = stored && stored->holder == member_.process;
      if (read.status == BusAnswer::Status::unavailable || (stored && !mine)) return;
      requests_.put_if(BusTable::leases, name_key(member_.name), encode_value(LeaseValue{member_.process}),
                       mine ? read.revision : 0, [](const BusAnswer&) {});
    });
  }

 private:
  double every_s_;
  WorldMember member_;
  Requests& requests_;
  double renewed_s_ = -1e9;
  bool busy_ = false;
};

}  // namespace reckoner::cluster
