// SPDX-License-Identifier: MIT
#include "gate.hpp"

#include "byte_stream.hpp"
#include "sealed_grant.hpp"
#include "sodium_bytes.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner::secure {
namespace {

constexpr double kCookieS = 10.0;           // a cookie is good for this long, and as long again
constexpr double kSavedS = 10.0;            // so many seconds' handshakes may come at once
constexpr double kLingerS = 2.0;            // after a connection has ended
constexpr std::size_t kMostHosts = 65'536;  // whose handshakes are counted

std::int64_t epoch_of(double now_s) {
  return static_cast<std::int64_t>(std::floor(now_s / kCookieS));
}

UsedTokens::Tag tag_of(const Response& response) {
  UsedTokens::Tag tag;
  std::copy(response.sealed.end() - tag.size(), response.sealed.end(), tag.begin());
  return tag;
}

}  // namespace

Gate::Gate(const GateConfig& config)
    : config_(config), cookie_key_(SecretKey::make()), traffic_(config.limits) {
  if (!config_.used) config_.used = std::make_shared<UsedTokens>();
}

std::nullopt_t Gate::refuse(Refusal why, std::uint64_t& count) {
  ++count;
  refusal_ = why;
  return std::nullopt;
}

// Counts by host alone: ports cost nobody anything. Only hosts that have returned a cookie come here, so that
// nobody uses up another's allowance.
bool Gate::allowed(const ServerAddress& from, double now_s) {
  if (handshakes_.size() >= kMostHosts && !handshakes_.contains(from.host)) handshakes_.clear();
  return handshakes_[from.host].take(1.0, config_.handshakes_per_second,
                                     kSavedS * config_.handshakes_per_second, now_s);
}

Cookie Gate::cookie_for(const ServerAddress& from, const PublicKey& client, std::int64_t epoch) const {
  std::array<std::byte, 4 + 2 + 8 + kPublicKeyBytes> about;
  ByteWriter(about).number(from.host).number(from.port).number(epoch).bytes(client);
  Cookie cookie;
  crypto_generichash(raw(cookie), cookie.size(), raw(about), about.size(), raw(cookie_key_.bytes()),
                     SecretKey::kBytes);
  return cookie;
}

std::optional<std::span<const std::byte>> Gate::receive(const ServerAddress& from,
                                                        std::span<const std::byte> datagram, double now_s,
                                                        std::uint64_t unix_s) {
  if (const auto request = read_request(datagram); request && request->game == config_.game) {
    ++counts_.challenged;
    challenge_ = write(Challenge{request->client, cookie_for(from, request->client, epoch_of(now_s))});
    return challenge_;
  }
  const auto response = read_response(datagram);
  if (!response || response->game != config_.game) return refuse(Refusal::malformed, counts_.malformed);
  const std::int64_t epoch = epoch_of(now_s);
  const auto good = [&](std::int64_t at) {
    const Cookie cookie = cookie_for(from, response->client, at);
    return sodium_memcmp(cookie.data(), response->cookie.data(), cookie.size()) == 0;
  };
  if (!good(epoch) && !good(epoch - 1)) return refuse(Refusal::wrong_cookie, counts_.wrong_cookie);
  return admit(from, *response, now_s, unix_s);
}

// The address is proven: who sent this hears what is sent there.
std::optional<std::span<const std::byte>> Gate::admit(const ServerAddress& from, const Response& response,
                                                      double now_s, std::uint64_t unix_s) {
  if (!allowed(from, now_s) ||
      !opened_.take(1.0, config_.opened_per_second, config_.opened_per_second, now_s))
    return refuse(Refusal::handshake_limit, counts_.over_limit);
  const UsedTokens::Tag tag = tag_of(response);
  if (const UsedTokens::Use* const used = config_.used->find(tag)) {
    // The answer may have been lost. Anybody else has another public key.
    Session* const session = find(used->session);
    const bool same = used->client == response.client;
    if (same && session != nullptr && session->address == from) return session->accepted;
    if (!same || used->used_up) return refuse(Refusal::token_reused, counts_.token_reused);
    // All answers were lost, and the client tries again from elsewhere, or later: as if it were the first
    // time.
    if (session != nullptr) sessions_.erase(used->session);
  }
  const auto opened =
      response.expires_s <= unix_s
          ? std::nullopt
          : open_grant(response.sealed, response.nonce, response.expires_s, config_.key, config_.game);
  const auto is_ours = [&](const ServerAddress& address) {
    return config_.addresses.empty() || std::ranges::count(config_.addresses, address) > 0;
  };
  const KeyExchange exchange;
  const auto keys =
      opened ? exchange.keys(response.client, exchange.public_key(), opened->to_server, opened->to_client)
             : std::nullopt;
  if (!keys || std::ranges::none_of(opened->grant.servers, is_ours))
    return refuse(Refusal::wrong_token, counts_.wrong_token);
  if (full_for(from) || config_.used->full()) return refuse(Refusal::handshake_limit, counts_.over_limit);
  const auto answer = begin(from, response, opened->grant, *keys, exchange.public_key(), now_s, unix_s);
  config_.used->note(
      tag, {response.client, ByteReader(answer.subspan(1)).number<std::uint32_t>(), response.expires_s});
  return answer;
}

std::span<const std::byte> Gate::begin(const ServerAddress& from, const Response& response,
                                       const ConnectGrant& grant, const SessionKeys& keys,
                                       const PublicKey& server, double now_s, std::uint64_t unix_s) {
  Accepted accepted;
  accepted.server = server;
  do {
    accepted.session = random_number();
  } while (accepted.session == 0 || sessions_.contains(accepted.session));

  accepted.ticket = ticket_for(grant, unix_s);

  auto session = std::make_unique<Session>(Session{.number = accepted.session,
                                                   .address = from,
                                                   .grant = grant,
                                                   .sealer = {keys.to_client, accepted.session},
                                                   .opener = Opener{keys.to_server},
                                                   .until_s = now_s + config_.half_open_s,
                                                   .renew_s = now_s + renewal_s(),
                                                   .accepted = seal(accepted, keys),
                                                   .client = response.client,
                                                   .token = tag_of(response)});
  ++counts_.accepted;
  return (sessions_[accepted.session] = std::move(session))->accepted;
}

// What the client was let in with, for longer.
Ticket Gate::ticket_for(const ConnectGrant& grant, std::uint64_t unix_s) const {
  ConnectGrant again = grant;
  again.expires_s = unix_s + static_cast<std::uint64_t>(config_.ticket_s);
  const ConnectToken token = issue_token(again, config_.key, config_.game);
  return {token.expires_s, token.nonce, token.sealed, token.to_server, token.to_client};
}

bool Gate::full_for(const ServerAddress& from) const {
  if (sessions_.size() >= config_.most_sessions) return true;
  const auto same = std::ranges::count_if(
      sessions_, [&](const auto& entry) { return entry.second->address.host == from.host; });
  return static_cast<std::size_t>(same) >= config_.most_sessions_per_host;
}

Gate::Session* Gate::find(std::uint32_t number) {
  const auto found = sessions_.find(number);
  return found == sessions_.end() ? nullptr : found->second.get();
}

void Gate::release(std::uint32_t number, double now_s) {
  Session* const session = find(number);
  if (session == nullptr) return;
  session->held = false;
  session->tag = 0;
  session->until_s = now_s + kLingerS;
}

void Gate::tidy(double now_s, std::uint64_t unix_s) {
  std::erase_if(sessions_,
                [&](const auto& entry) { return !entry.second->held && entry.second->until_s <= now_s; });
  config_.used->tidy(unix_s);
  traffic_.tidy(now_s);
}

}  // namespace reckoner::secure
