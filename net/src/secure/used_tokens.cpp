// SPDX-License-Identifier: MIT
#include "net/src/secure/used_tokens.hpp"

#include <algorithm>
#include <limits>

namespace reckoner::secure {
namespace {

// When the wall clock was set back, an entry that still looks valid is examined again after this time, s.
constexpr double kLookAgainS = 3600.0;

}  // namespace

UsedTokens::Shown UsedTokens::shown_of(const OpenedGrant& opened,
                                       const std::array<std::byte, ConnectToken::kSealedBytes>& sealed,
                                       const PublicKey& client, double now_s, std::uint64_t unix_s) {
  const std::uint64_t latest = latest_ms(unix_s);
  Shown shown{.client_id = opened.grant.client_id,
              .login = opened.login,
              .client = client,
              .issued_ms = std::min(opened.grant.issued_ms, latest),
              .latest_ms = latest,
              .sealed_ms = opened.grant.issued_ms,
              .now_s = now_s};
  std::copy(sealed.end() - shown.tag.size(), sealed.end(), shown.tag.begin());
  return shown;
}

// An entry is kept for the validity of a ticket beyond the login's last expiry, in case the wall clock is
// ahead now and is set back later. If the clock is behind now and is set right later, entries would be kept
// for too long. So the time is limited, and an entry that still looks valid then is examined again.
UsedTokens::Life UsedTokens::life_of(std::uint64_t expires_s, double ticket_s, double now_s,
                                     std::uint64_t unix_s) {
  constexpr double kLongS = 3600.0;
  const std::uint64_t last_s = std::max(expires_s, unix_s + static_cast<std::uint64_t>(ticket_s));
  const double good_s = std::min(static_cast<double>(last_s - unix_s), std::max(ticket_s, kLongS));
  return {last_s, now_s + good_s + ticket_s};
}

UsedTokens::Verdict UsedTokens::judge(const Shown& shown) const {
  if (is_from_before_a_kick(shown)) return Verdict::used;
  const auto found = uses_.find(shown.login.id);
  if (found == uses_.end()) {
    const auto client = clients_.find(key_of(shown));
    if (client != clients_.end() && is_older_than_all(client->second, shown)) return Verdict::used;
    const bool room = uses_.size() < limits_.most &&
                      (client == clients_.end() || client->second.logins < limits_.most_per_client);
    return room ? Verdict::good : Verdict::full;
  }
  const Use& use = found->second;
  if (use.closed || use.client_key != key_of(shown) || shown.login.generation < use.generation)
    return Verdict::used;
  if (shown.login.generation > use.generation) return Verdict::good;
  if (shown.tag == use.tag && use.given_back) return Verdict::good;
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

// The wall clock may have been wrong at the kick, or may be wrong now. So the time of the kick is taken as
// the clock showed it then, as the present clock would have shown it, and from the backend's clock, which the
// logins of that time reveal. A token must be later than all. One case needs an exception: the wall clock was
// ahead at the kick and has been set back. The time that it showed then lies in the future, and does not keep
// out tokens whose backend agrees with the present clock.
bool UsedTokens::is_from_before_a_kick(const Shown& shown) const {
  const auto found = kicks_.find(shown.client_id);
  if (found == kicks_.end()) return false;
  const Kick& kick = found->second;
  const double since_ms = 1000.0 * (shown.now_s - kick.at_s);
  const double now_ms = static_cast<double>(shown.latest_ms - kMaxAheadMs);
  if (static_cast<double>(shown.sealed_ms) < now_ms - since_ms) return true;
  constexpr double kSecondMs = 1000.0;  // the present time has whole seconds
  const bool was_set_back = static_cast<double>(kick.unix_ms) > now_ms + kSecondMs;
  if (shown.sealed_ms < kick.unix_ms && (!was_set_back || shown.sealed_ms > shown.latest_ms)) return true;
  return shown.sealed_ms <= kick.newest_ms || shown.sealed_ms < kick.backend_ms;
}

// Returns the oldest of the client's logins if this one would exceed the limit.
std::optional<LoginId> UsedTokens::too_many(const Shown& shown) const {
  const auto client = clients_.find(key_of(shown));
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
  Client& client = clients_[key_of(shown)];
  if (older) close(*older, client, life);
  const auto [entry, is_new] = uses_.try_emplace(login);
  Open open{login, shown.issued_ms, shown.now_s};
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
  use.client_key = key_of(shown);
  use.generation = shown.login.generation;
  use.tag = shown.tag;
  use.client = shown.client;
  use.place = place;
  use.used_up = use.given_back = false;
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
  found->second.closed = found->second.revoked = true;
  std::erase_if(clients_[found->second.client_key].open, [&](const Open& one) { return one.login == login; });
}

void UsedTokens::kick(std::uint64_t client_id, double now_s, std::uint64_t unix_ms) {
  const auto [entry, is_new] = kicks_.try_emplace(client_id);
  Kick& kick = entry->second;
  if (!is_new) kicks_by_time_.erase({kick.at_s, client_id});
  kick.at_s = now_s;
  kick.unix_ms = std::max(kick.unix_ms, unix_ms);
  kicks_by_time_.insert({kick.at_s, client_id});
  const auto end = clients_.upper_bound({client_id, std::numeric_limits<std::uint8_t>::max()});
  for (auto client = clients_.lower_bound({client_id, 0}); client != end; ++client) {
    for (const Open& one : client->second.open) {
      Use& use = uses_.find(one.login)->second;
      use.closed = use.revoked = true;
      kick.newest_ms = std::max(kick.newest_ms, one.issued_ms);
      const auto since_ms = static_cast<std::uint64_t>(1000.0 * std::max(0.0, now_s - one.begun_s));
      kick.backend_ms = std::max(kick.backend_ms, one.issued_ms + since_ms);
    }
    client->second.open.clear();
  }
  if (kicks_.size() <= std::max<std::size_t>(1, limits_.most)) return;
  kicks_.erase(kicks_by_time_.begin()->second);
  kicks_by_time_.erase(kicks_by_time_.begin());
}

bool UsedTokens::is_revoked(const LoginId& login) const {
  const auto found = uses_.find(login);
  return found != uses_.end() && found->second.revoked;
}

bool UsedTokens::stand(const LoginId& login, const Entry& place) {
  const auto found = uses_.find(login);
  if (found == uses_.end() || found->second.place != place || found->second.used_up) return false;
  if (found->second.closed) return false;
  found->second.used_up = true;
  return true;
}

void UsedTokens::give_back(const LoginId& login, const Entry& place) {
  const auto found = uses_.find(login);
  if (found != uses_.end() && found->second.place == place) found->second.given_back = true;
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
  const auto client = clients_.find(use.client_key);
  std::erase_if(client->second.open, [&](const Open& one) { return one.login == login; });
  if (--client->second.logins == 0) clients_.erase(client);
  uses_.erase(found);
}

}  // namespace reckoner::secure
