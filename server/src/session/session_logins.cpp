// SPDX-License-Identifier: MIT
#include "server/src/session/session_logins.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace reckoner {

void SessionLogins::set(ClientId session, const PeerLogin& login) {
  remove(session);
  logins_[session] = login;
  if (login.client_id) by_client_id_.emplace(*login.client_id, session);
}

void SessionLogins::lose(ClientId session) {
  lost_.push_back(session);
}

void SessionLogins::remove(ClientId session) {
  std::erase(lost_, session);
  const auto found = logins_.find(session);
  if (found == logins_.end()) return;
  forget_client_id(session, found->second);
  logins_.erase(found);
}

void SessionLogins::forget_client_id(ClientId session, const PeerLogin& login) {
  if (!login.client_id) return;
  const auto [first, last] = by_client_id_.equal_range(*login.client_id);
  by_client_id_.erase(std::find_if(first, last, [&](const auto& entry) { return entry.second == session; }));
}

PeerLogin SessionLogins::find(ClientId session) const {
  const auto found = logins_.find(session);
  return found == logins_.end() ? PeerLogin{} : found->second;
}

std::optional<ClientId> SessionLogins::oldest_lost() const {
  return lost_.empty() ? std::nullopt : std::optional(lost_.front());
}

std::vector<ClientId> SessionLogins::of_player(std::uint64_t client_id) const {
  std::vector<ClientId> found;
  const auto [first, last] = by_client_id_.equal_range(client_id);
  for (auto entry = first; entry != last; ++entry) {
    if (logins_.at(entry->second).sessions_per_client > 0) found.push_back(entry->second);
  }
  return found;
}

std::vector<ClientId> SessionLogins::replaced_by(const PeerLogin& login, ClientId newest) const {
  std::vector<ClientId> replaced;
  if (!login.client_id) return replaced;
  std::size_t kept = 1;
  std::vector<ClientId> lost;
  const auto [first, last] = by_client_id_.equal_range(*login.client_id);
  for (auto entry = first; entry != last; ++entry) {
    const ClientId other = entry->second;
    const PeerLogin& others = logins_.at(other);
    if (other == newest) continue;
    if (login.is_same_login(others)) {
      replaced.push_back(other);
    } else if (login.is_same_player(others) && login.entrance == others.entrance) {
      ++kept;
      if (std::ranges::count(lost_, other) > 0) lost.push_back(other);
    }
  }
  std::ranges::sort(lost, {}, [&](ClientId one) { return std::ranges::find(lost_, one) - lost_.begin(); });
  for (const ClientId one : lost) {
    if (login.sessions_per_client == 0 || kept <= login.sessions_per_client) break;
    replaced.push_back(one);
    --kept;
  }
  return replaced;
}

std::optional<ClientId> SessionLogins::to_evict() const {
  using Player = std::pair<std::uint64_t, std::uint8_t>;
  const auto player_of = [](const PeerLogin& login) -> std::optional<Player> {
    if (!login.client_id || login.sessions_per_client == 0) return std::nullopt;
    return Player{*login.client_id, login.entrance};
  };
  std::map<Player, std::size_t> of_players;
  std::unordered_map<IpAddress, std::size_t, IpAddressHash> at_hosts;
  for (const ClientId session : lost_) {
    const PeerLogin& login = logins_.at(session);
    if (const auto player = player_of(login)) ++of_players[*player];
    if (!login.host.is_any()) ++at_hosts[login.host];
  }
  std::optional<ClientId> chosen;
  std::size_t most = 0;
  for (const ClientId session : lost_) {
    const PeerLogin& login = logins_.at(session);
    const auto player = player_of(login);
    const std::size_t count = std::max(
        {std::size_t{1}, player ? of_players[*player] : 0, login.host.is_any() ? 0 : at_hosts[login.host]});
    if (count <= most) continue;
    most = count;
    chosen = session;
  }
  return chosen;
}

}  // namespace reckoner
