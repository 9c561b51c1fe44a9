// SPDX-License-Identifier: MIT
#include "used_tokens.hpp"

#include <algorithm>
#include <iterator>

namespace reckoner::secure {
namespace {

// How often to look again whether a wall clock that was set back still thinks an entry good.
constexpr double kLookAgainS = 3600.0;

}  // namespace

UsedTokens::Verdict UsedTokens::judge(const Shown& shown) const {
  const auto found = uses_.find(shown.login.id);
  if (found == uses_.end()) {
    const auto client = clients_.find(shown.client_id);
    const bool room = uses_.size() < limits_.most &&
                      (client == clients_.end() || client->second.size() < limits_.most_per_client);
    return room ? Verdict::good : Verdict::full;
  }
  const Use& use = found->second;
  if (use.closed || use.client_id != shown.client_id || shown.login.generation < use.generation)
    return Verdict::used;
  if (shown.login.generation > use.generation) return Verdict::good;
  if (shown.tag != use.tag || shown.client != use.client) return Verdict::used;
  return use.used_up ? Verdict::repeated : Verdict::again;
}

std::optional<UsedTokens::Place> UsedTokens::place_of(const LoginId& login) const {
  const auto found = uses_.find(login);
  if (found == uses_.end() || found->second.place == Place{}) return std::nullopt;
  return found->second.place;
}

// The oldest of the client's other logins, beyond those that it may have beside this one.
std::vector<LoginId> UsedTokens::too_many(const Shown& shown) const {
  std::vector<LoginId> open;
  const auto client = clients_.find(shown.client_id);
  if (client == clients_.end() || limits_.sessions_per_client == 0) return open;
  std::ranges::copy_if(client->second, std::back_inserter(open), [&](const LoginId& login) {
    return login != shown.login.id && !uses_.at(login).closed;
  });
  const std::size_t others = limits_.sessions_per_client - 1;
  open.resize(open.size() > others ? open.size() - others : 0);
  return open;
}

std::vector<UsedTokens::Place> UsedTokens::replaced_by(const Shown& shown) const {
  std::vector<Place> places;
  const auto add = [&](const LoginId& login) {
    if (const auto place = place_of(login)) places.push_back(*place);
  };
  add(shown.login.id);
  std::ranges::for_each(too_many(shown), add);
  return places;
}

void UsedTokens::begin(const Shown& shown, const Place& place, const Life& life) {
  const LoginId& login = shown.login.id;
  for (const LoginId& older : too_many(shown)) {
    const auto found = uses_.find(older);
    end(found->second, true);
    found->second.closed = true;
    extend(*found, life);  // its tickets may be as young as this one
  }
  const auto [entry, is_new] = uses_.try_emplace(login);
  std::vector<LoginId>& logins = clients_[shown.client_id];
  if (!is_new) {
    end(entry->second, false);
    std::erase(logins, login);
  }
  logins.push_back(login);
  Use& use = entry->second;
  use.client_id = shown.client_id;
  use.generation = shown.login.generation;
  use.tag = shown.tag;
  use.client = shown.client;
  use.place = place;
  use.used_up = false;
  extend(*entry, life);
}

bool UsedTokens::stand(const LoginId& login, const Place& place) {
  const auto found = uses_.find(login);
  if (found == uses_.end() || found->second.place != place || found->second.used_up) return false;
  found->second.used_up = true;
  return true;
}

void UsedTokens::keep(const LoginId& login, const Place& place, const Life& life) {
  const auto found = uses_.find(login);
  if (found != uses_.end() && found->second.place == place) extend(*found, life);
}

// Never shorter than it was.
void UsedTokens::extend(Uses::value_type& entry, const Life& life) {
  Life& kept = entry.second.life;
  due_.erase({kept.keep_until_s, entry.first});
  kept.expires_s = std::max(kept.expires_s, life.expires_s);
  kept.keep_until_s = std::max(kept.keep_until_s, life.keep_until_s);
  due_.insert({kept.keep_until_s, entry.first});
}

void UsedTokens::end(Use& use, bool by_another_login) {
  if (use.place != Place{}) ended_.push_back({use.place, by_another_login});
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
  std::erase(client->second, login);
  if (client->second.empty()) clients_.erase(client);
  uses_.erase(found);
}

}  // namespace reckoner::secure
