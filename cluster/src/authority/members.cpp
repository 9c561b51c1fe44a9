// SPDX-License-Identifier: MIT
#include "cluster/src/authority/members.hpp"

#include <algorithm>
#include <utility>

namespace reckoner::cluster {
namespace {

// A lease ends when its process was paused, or when the bus was away. So one missing lease is no proof.
constexpr int kMissingIsDead = 2;
constexpr double kCheckAgain = 0.25;  // of the lease time, after a missing lease or without an answer

}  // namespace

void Members::note(const Heartbeat& heartbeat, double now_s) {
  now_s_ = now_s;
  if (heartbeat.process == self_) return;  // note_self() has it
  const auto found = members_.find(heartbeat.process);
  if (found != members_.end()) {
    Member& member = found->second;
    if (heartbeat.name != member.newest.name || role_of(heartbeat) != role_of(member.newest)) {
      ++stats_.unknown_refused;
      return;
    }
    member.newest = heartbeat;
    member.heard_s = now_s;
    return;
  }
  if (candidates_.contains(heartbeat.process)) return;
  if (candidates_.size() >= kMostCandidates || members_.size() >= kMostMembers) {
    ++stats_.unknown_refused;
    return;
  }
  candidates_[heartbeat.process] = {heartbeat, now_s};
  ++stats_.table_reads;
  requests_.get(BusTable::leases, member_key(role_of(heartbeat), heartbeat.name),
                [this, id = heartbeat.process](const BusAnswer& answer) { admit(id, answer); });
}

void Members::note_self(const Heartbeat& heartbeat, double now_s) {
  Member& member = members_[self_];
  member.newest = heartbeat;
  member.heard_s = now_s;
}

void Members::admit(ProcessId id, const BusAnswer& lease) {
  const auto found = candidates_.find(id);
  if (found == candidates_.end()) return;
  Member member = std::move(found->second);
  candidates_.erase(found);
  if (lease.status == BusAnswer::Status::unavailable) return;  // its next heartbeat tries again
  const auto value = decode_lease(lease.value);
  if (!value || value->holder != id) {
    ++stats_.unknown_refused;
    return;
  }
  member.check_s = now_s_ + lease_s_;
  members_[id] = std::move(member);
}

void Members::check(ProcessId id, const BusAnswer& lease) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  Member& member = found->second;
  member.checking = false;
  member.check_s = now_s_ + kCheckAgain * lease_s_;
  if (lease.status == BusAnswer::Status::unavailable) return;
  const auto value = decode_lease(lease.value);
  if (value && value->holder == id) {
    member.missing = 0;
    member.check_s = now_s_ + lease_s_;
  } else {
    member.missing += value ? kMissingIsDead : 1;  // another process has its name
  }
}

bool Members::review(double now_s, bool connected) {
  now_s_ = now_s;
  for (auto& [id, member] : members_) {
    if (id == self_ || !connected || member.checking || now_s < member.check_s) continue;
    member.checking = true;
    ++stats_.table_reads;
    requests_.get(BusTable::leases, member_key(role_of(member.newest), member.newest.name),
                  [this, key = id](const BusAnswer& answer) { check(key, answer); });
  }
  bool died = false;
  std::erase_if(members_, [&](const auto& entry) {
    const Member& member = entry.second;
    const bool dead = now_s - member.heard_s > kDeadS || member.missing >= kMissingIsDead;
    died = died || (dead && member.newest.simulator);
    return dead;
  });
  return died;
}

void Members::forgive(double now_s) {
  for (auto& [id, member] : members_) {
    member.heard_s = now_s;
    member.missing = 0;
    member.check_s = std::max(member.check_s, now_s + kCheckAgain * lease_s_);
  }
}

std::vector<ProcessId> Members::simulators() const {
  std::vector<ProcessId> ids;
  for (const auto& [id, member] : members_) {
    if (member.newest.simulator && !member.newest.leaving) ids.push_back(id);
  }
  return ids;
}

double Members::delay_s() const {
  double most = 0.0;
  for (const auto& [id, member] : members_) {
    if (member.newest.gateway) most = std::max(most, member.newest.delay_s);
  }
  return std::min(most, 0.25);
}

}  // namespace reckoner::cluster
