// SPDX-License-Identifier: MIT
#include "web/src/listener/connection_table.hpp"

#include <algorithm>

namespace reckoner::web {

ConnectionTable::Admission ConnectionTable::add(const IpAddress& address, double deadline_s) {
  const IpAddress host = address.limited_host();
  Admission out;
  const auto found = hosts_.find(host);
  if (found != hosts_.end() && found->second.connections >= most_per_host_) {
    out.evicted = first_to_evict(host);
    if (out.evicted == 0) return out;
    remove(out.evicted);
  } else if (all_.size() >= most_) {
    out.evicted = evict(host);
    if (out.evicted == 0) return out;
  }
  out.id = ++newest_;
  const Connection& added = all_.emplace(out.id, Connection{host, deadline_s}).first->second;
  ++hosts_[host].connections;
  count_unfinished(added, true);
  return out;
}

void ConnectionTable::count_unfinished(const Connection& connection, bool more) {
  Host& host = hosts_[connection.host];
  std::size_t& group = host.groups[static_cast<std::size_t>(connection.progress)];
  more ? ++host.unfinished : --host.unfinished;
  more ? ++group : --group;
}

void ConnectionTable::advance(ConnectionId id, Progress to) {
  const auto found = all_.find(id);
  if (found == all_.end()) return;
  Connection& connection = found->second;
  if (!connection.finished) count_unfinished(connection, false);
  connection.progress = to;
  if (!connection.finished) count_unfinished(connection, true);
}

void ConnectionTable::finish(ConnectionId id) {
  const auto found = all_.find(id);
  if (found == all_.end() || found->second.finished) return;
  count_unfinished(found->second, false);
  found->second.finished = true;
}

void ConnectionTable::end_by(ConnectionId id, double deadline_s) {
  const auto found = all_.find(id);
  if (found == all_.end()) return;
  Connection& connection = found->second;
  if (connection.finished) {
    connection.finished = false;
    connection.deadline_s = deadline_s;
    count_unfinished(connection, true);
  }
  connection.deadline_s = std::min(connection.deadline_s, deadline_s);
}

void ConnectionTable::extend(ConnectionId id, double by_s) {
  if (const auto found = all_.find(id); found != all_.end()) found->second.deadline_s += by_s;
}

void ConnectionTable::remove(ConnectionId id) {
  const auto found = all_.find(id);
  if (found == all_.end()) return;
  if (!found->second.finished) count_unfinished(found->second, false);
  const auto host = hosts_.find(found->second.host);
  if (--host->second.connections == 0) hosts_.erase(host);
  all_.erase(found);
}

ConnectionId ConnectionTable::first_to_evict(const IpAddress& host) const {
  const auto counts = hosts_.find(host);
  if (counts == hosts_.end() || counts->second.unfinished == 0) return 0;
  const auto& groups = counts->second.groups;
  const auto largest = groups[0] > 0 ? groups.begin() : std::ranges::max_element(groups);
  const auto progress = static_cast<Progress>(largest - groups.begin());
  const auto oldest = std::ranges::find_if(all_, [&](const auto& each) {
    const Connection& connection = each.second;
    return !connection.finished && connection.host == host && connection.progress == progress;
  });
  return oldest == all_.end() ? 0 : oldest->first;
}

ConnectionId ConnectionTable::evict(const std::optional<IpAddress>& newcomer) {
  const IpAddress* crowded = nullptr;
  std::size_t most = 0;
  // Oldest connections first: of hosts with equally many, the host with the oldest one is found.
  for (const auto& [id, connection] : all_) {
    if (connection.finished) continue;
    const std::size_t coming = newcomer == connection.host ? 1 : 0;
    const std::size_t unfinished = hosts_.find(connection.host)->second.unfinished + coming;
    if (unfinished <= most) continue;
    most = unfinished;
    crowded = &connection.host;
  }
  if (crowded == nullptr) return 0;
  const ConnectionId evicted = first_to_evict(*crowded);
  remove(evicted);
  return evicted;
}

std::vector<ConnectionId> ConnectionTable::remove_late(double now_s) {
  std::vector<ConnectionId> late;
  for (const auto& [id, connection] : all_) {
    if (!connection.finished && now_s >= connection.deadline_s) late.push_back(id);
  }
  for (const ConnectionId id : late)
    remove(id);
  return late;
}

}  // namespace reckoner::web
