// SPDX-License-Identifier: MIT
#include "net/src/secure/used_tokens.hpp"

#include <algorithm>

namespace reckoner::secure {
namespace {

// When the wall clock was set back, an entry that still looks valid is examined again after this time, s.
constexpr double kLookAgainS = 3600.0;

}  // namespace

UsedTokens::Verdict UsedTokens::judge(const Shown& shown) const {
  const auto found = uses_.find(shown.login.id);
  if (found == uses_.end()) {
    const auto client = clients_.find(shown.client_id);
    if (client != clients_.end() && is_older_than_all(client->second, shown)) return Verdict::used;
    const bool room = uses_.size() < limits_.most &&
                      (client == clients_.end() || client->second.logins < limits_.most_per_client);
    return room ? Verdict::good : Verdict::full;
  }
  const Use& use = found->second;
  if (use.closed || use.client_id != shown.client_id || shown.login.generation < use.generation)
    return Verdict::used;
  if (shown.login.generation > use.generation) return Verdict::good;
  if (shown.tag != use.tag || shown.client != use.client) return Verdict::used;
  return use.used_up ? Verdict::repeated : Verdict::again;
}

std::optional<UsedTokens::Entry> UsedTokens::place_of(const LoginId& login) const {
  const auto found = uses_.find(login);
  if (found == uses_.end() || found->second.place == Entry{}) return std::nullopt;
  return found->second.place;
}

// True if the backend issued all the client's open logins later than this one, and there is room for no more.
bool UsedTokens::is_older_than_all(const Client& client, const Shown& shown) const {
  const auto is_later = [&](const Open& one) {
    return one.issued_ms > shown.issued_ms && one.issued_ms <= shown.latest_ms;
  };
  return limits_.sessions_per_client > 0 && client.open.size() >= limits_.sessions_per_client &&
         std::ranges::all_of(client.open, is_later);
}

// Returns the oldest of the client's logins if this one would exceed the limit.
std::optional<LoginId> UsedTokens::too_many(const Shown& shown) const {
  const auto client = clients_.find(shown.client_id);
  if (client == clients_.end() || limits_.sessions_per_client == 0) return std::nullopt;
  const std::vector<Open>& open = client->second.open;
  if (open.size() < limits_.sessions_per_client || std::ranges::count(open, shown.login.id, &Open::login) > 0)
    return std::nullopt;
  const auto age = [&](const Open& one) { return one.issued_ms > shown.latest_ms ? 0 : one.issued_ms; };
  return std::ranges::min_element(open, {}, age)->login;
}

std::vector<UsedTokens::Entry> UsedTokens::replaced_by(const Shown& shown) const {
  std::vector<Entry> places;
  for (const auto& login : {std::optional(shown.login.id), too_many(shown)}) {
    const auto place = login ? place_of(*login) : std::nullopt;
    if (place) places.push_back(*place);
  }
  return places;
}

void UsedTokens::begin(const Shown& shown, const Entry& place, const Life& life) {
  const LoginId& login = shown.login.id;
  const auto older = too_many(shown);
  Client& client = clients_[shown.client_id];
  if (older) close(*older, client, life);
  const auto [entry, is_new] = uses_.try_emplace(login);
  Open open{login, shown.issued_ms};
  if (is_new) {
    ++client.logins;
  } else {
    end(entry->second, false);
    const auto listed = std::ranges::find(client.open, login, &Open::login);
    if (listed != client.open.end()) {
      open = *listed;
      client.open.erase(listed);
    }
  }
  if (limits_.sessions_per_client > 0) client.open.push_back(open);
  Use& use = entry->second;
  use.client_id = shown.client_id;
  use.generation = shown.login.generation;
  use.tag = shown.tag;
  use.client = shown.client;
  use.place = place;
  use.used_up = false;
  extend(*entry, life);
}

void UsedTokens::close(const LoginId& login, Client& client, const Life& life) {
  const auto found = uses_.find(login);
  end(found->second, true);
  found->second.closed = true;
  extend(*found, life);  // its tickets may expire as late as those of its successor
  std::erase_if(client.open, [&](const Open& one) { return one.login == login; });
}

void UsedTokens::revoke(const LoginId& login) {
  const auto found = uses_.find(login);
  if (found == uses_.end()) return;
  found->second.closed = true;
  std::erase_if(clients_[found->second.client_id].open, [&](const Open& one) { return one.login == login; });
}

bool UsedTokens::stand(const LoginId& login, const Entry& place) {
  const auto found = uses_.find(login);
  if (found == uses_.end() || found->second.place != place || found->second.used_up) return false;
  found->second.used_up = true;
  return true;
}

void UsedTokens::keep(const LoginId& login, const Entry& place, const Life& life) {
  const auto found = uses_.find(login);
  if (found != uses_.end() && found->second.place == place) extend(*found, life);
}

// Never shortens the life of an entry.
void UsedTokens::extend(Uses::value_type& entry, const Life& life) {
  Life& kept = entry.second.life;
  due_.erase({kept.keep_until_s, entry.first});
  kept.expires_s = std::max(kept.expires_s, life.expires_s);
  kept.keep_until_s = std::max(kept.keep_until_s, life.keep_until_s);
  due_.insert({kept.keep_until_s, entry.first});
}

void UsedTokens::end(Use& use, bool by_another_login) {
  if (use.place != Entry{}) ended_.push_back({use.place, by_another_login});
  use.place = {};
}

void UsedTokens::tidy(double now_s, std::uint64_t unix_s, int most) {
  for (int i = 0; i < most && !due_.empty() && due_.begin()->first <= now_s; ++i)
    forget_front(now_s, unix_s);
}

void UsedTokens::forget_front(double now_s, std::uint64_t unix_s) {
  const LoginId login = due_.begin()->second;
  const auto found = uses_.find(login);
  Use& use = found->second;
  if (use.life.expires_s > unix_s) {
    const double left_s = static_cast<double>(use.life.expires_s - unix_s);
    return extend(*found, {use.life.expires_s, now_s + std::min(left_s, kLookAgainS)});
  }
  due_.erase(due_.begin());
  const auto client = clients_.find(use.client_id);
  std::erase_if(client->second.open, [&](const Open& one) { return one.login == login; });
  if (--client->second.logins == 0) clients_.erase(client);
  uses_.erase(found);
}

}  // namespace reckoner::secure
