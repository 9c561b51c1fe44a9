// SPDX-License-Identifier: MIT
#include "net/src/secure/gate.hpp"

#include "net/src/secure/address_bytes.hpp"
#include "net/src/secure/handshake.hpp"
#include "net/src/secure/keys.hpp"
#include "net/src/wire/byte_stream.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace reckoner::secure {
namespace {

constexpr double kCookieS = 10.0;  // a cookie is valid for one to two times this long
constexpr double kLingerS = 2.0;   // how long a session stays after its connection has ended

std::int64_t epoch_of(double now_s) {
  return static_cast<std::int64_t>(std::floor(now_s / kCookieS));
}

}  // namespace

Gate::Gate(const GateConfig& config)
    : config_(config),
      cookie_key_(SecretKey::make()),
      handshakes_(config.handshakes_per_second, config.begun_per_second),
      traffic_(config.limits) {
  if (!config_.used) config_.used = std::make_shared<UsedTokens>(config_.tokens);
  number_ = config_.used->add_gate();
}

std::nullopt_t Gate::refuse(Refusal why, std::uint64_t& count) {
  ++count;
  refusal_ = why;
  return std::nullopt;
}

Cookie Gate::cookie_for(const SocketAddress& from, const PublicKey& client, std::int64_t epoch) const {
  std::array<std::byte, kAddressBytes + 8 + kPublicKeyBytes> about;
  wire::ByteWriter(about).bytes(address_bytes(from)).number(epoch).bytes(client);
  Cookie cookie;
  crypto_generichash(raw(cookie), cookie.size(), raw(about), about.size(), raw(cookie_key_.bytes()),
                     SecretKey::kBytes);
  return cookie;
}

std::optional<std::span<const std::byte>> Gate::receive(const SocketAddress& from,
                                                        std::span<const std::byte> datagram, double now_s,
                                                        std::uint64_t unix_s) {
  refusal_.reset();
  // A client of another game gets a challenge, too. After it has proven its address, it can learn its
  // mistake.
  if (const auto request = read_request(datagram)) {
    // Such a client would not understand the session. Without a challenge, it keeps its token.
    if (request->version == 0) return refuse(Refusal::old_version, counts_.old_version);
    ++counts_.challenged;
    challenge_ = write(Challenge{request->client, cookie_for(from, request->client, epoch_of(now_s))});
    return challenge_;
  }
  if (config_.is_open) {
    const auto response = read_open_response(datagram);
    if (!response || response->version == 0) return refuse(Refusal::malformed, counts_.malformed);
    if (!has_cookie(from, response->client, response->cookie, now_s))
      return refuse(Refusal::wrong_cookie, counts_.wrong_cookie);
    return admit_open(from, *response, now_s);
  }
  if (read_open_response(datagram)) return refuse(Refusal::wrong_token, counts_.wrong_token);
  const auto response = read_response(datagram);
  if (!response || response->version == 0) return refuse(Refusal::malformed, counts_.malformed);
  if (!has_cookie(from, response->client, response->cookie, now_s))
    return refuse(Refusal::wrong_cookie, counts_.wrong_cookie);
  return admit(from, *response, now_s, unix_s);
}

bool Gate::has_cookie(const SocketAddress& from, const PublicKey& client, const Cookie& cookie,
                      double now_s) const {
  const std::int64_t epoch = epoch_of(now_s);
  const auto is_of = [&](std::int64_t at) {
    const Cookie made = cookie_for(from, client, at);
    return sodium_memcmp(made.data(), cookie.data(), cookie.size()) == 0;
  };
  return is_of(epoch) || is_of(epoch - 1);
}

// Without security, the number of a session is a keyed hash of the cookie. If the answer is lost and the
// client asks again, it gets the same session.
std::uint32_t Gate::number_for(const Cookie& cookie) const {
  std::array<std::byte, kCookieBytes> hash;
  crypto_generichash(raw(hash), hash.size(), raw(cookie), cookie.size(), raw(cookie_key_.bytes()),
                     SecretKey::kBytes);
  return std::max(1u, wire::ByteReader(hash).number<std::uint32_t>());
}

std::optional<std::span<const std::byte>> Gate::admit_open(const SocketAddress& from,
                                                           const OpenResponse& response, double now_s) {
  const std::uint32_t number = number_for(response.cookie);
  const Session* const known = find(number);
  if (known == nullptr) {
    if (full_for(from, {}) || !handshakes_.allows(from.host, now_s))
      return refuse(Refusal::handshake_limit, counts_.over_limit);
    ++counts_.accepted;
    ++at_host_[from.host.limited_host()];
    sessions_[number] = std::make_unique<Session>(Session{.number = number,
                                                          .address = from,
                                                          .version = response.version,
                                                          .until_s = now_s + config_.half_open_s});
  } else if (known->is_over || known->address != from) {
    return refuse(Refusal::repeated, counts_.malformed);
  }
  open_accepted_ = write(OpenAccepted{number, response.client});
  return open_accepted_;
}

// The cookie proves that the sender receives at its address. A sender without the token's keys changes
// nothing here, because tokens can be read in flight. Nothing is charged before the key exchange, which
// costs far more than all checks before it. The checks take two microseconds, as for any sealed datagram, and
// strangers cannot use up any allowance.
std::optional<std::span<const std::byte>> Gate::admit(const SocketAddress& from, const Response& response,
                                                      double now_s, std::uint64_t unix_s) {
  auto opened = open(response);
  if (!opened) {
    return response.game == config_.game ? refuse(Refusal::wrong_token, counts_.wrong_token)
                                         : refuse(Refusal::wrong_game, counts_.wrong_game);
  }
  if (const auto fault = fault_of(response, opened->grant, unix_s))
    return answer_fault(*fault, response, *opened, now_s);
  constexpr int kForgottenForOne = 2;  // more than one, so that the list shrinks
  config_.used->tidy(now_s, unix_s, kForgottenForOne);
  const auto shown = UsedTokens::shown_of(*opened, response.sealed, response.client, now_s, unix_s);
  // A token from a clock that is ahead must not block later tokens for longer, nor must its tickets.
  opened->grant.issued_ms = shown.issued_ms;
  using Verdict = UsedTokens::Verdict;
  const Verdict verdict = config_.used->judge(shown);
  const auto places = config_.used->replaced_by(shown);
  if (verdict == Verdict::again || verdict == Verdict::repeated) {
    const auto place = config_.used->place_of(opened->login.id);
    const Session* const session = place && place->gate == number_ ? find(place->session) : nullptr;
    // The answer may be lost. Another attempt of the client has other keys and cannot open it.
    if (session != nullptr && session->address == from && session->attempt == response.attempt)
      return session->accepted;
  }
  if (verdict == Verdict::used || verdict == Verdict::repeated)
    return answer_fault(TokenFault::used, response, *opened, now_s);
  if (verdict == Verdict::full || full_for(from, places) || !handshakes_.allows(from.host, now_s))
    return refuse(Refusal::handshake_limit, counts_.over_limit);
  // With Verdict::again, all answers were lost, and the client tries again later or from another address. It
  // is treated like the first attempt.
  const KeyExchange exchange;
  const auto keys = exchange.keys(response.client, exchange.public_key(), response.attempt, opened->to_server,
                                  opened->to_client);
  if (!keys) return refuse(Refusal::wrong_token, counts_.wrong_token);
  const auto answer = begin(from, *opened, *keys, exchange.public_key(), response, now_s, unix_s);
  const UsedTokens::Entry place{number_, wire::ByteReader(answer.subspan(1)).number<std::uint32_t>()};
  config_.used->begin(shown, place, life(response.expires_s, now_s, unix_s));
  for (const UsedTokens::Entry& older : places) {
    const Session* const session = older.gate == number_ ? find(older.session) : nullptr;
    if (session != nullptr && !session->is_bound) erase(older.session);
  }
  return answer;
}

// Returns the token's content if the token is genuine and the sender has its keys. A token of another game
// that uses this key is genuine, too, if the client says which game.
std::optional<OpenedGrant> Gate::open(const Response& response) const {
  const auto open_for = [&](std::uint64_t game) {
    return open_grant(response.sealed, response.nonce, response.expires_s, config_.key, game);
  };
  auto opened = open_for(config_.game);
  if (!opened && response.game != config_.game) opened = open_for(response.game);
  if (!opened) return std::nullopt;
  const Proof proof = prove(response, opened->to_server);
  if (sodium_memcmp(proof.data(), response.proof.data(), proof.size()) != 0) return std::nullopt;
  return opened;
}

std::optional<TokenFault> Gate::fault_of(const Response& response, const ConnectGrant& grant,
                                         std::uint64_t unix_s) const {
  const auto is_ours = [&](const SocketAddress& address) {
    return config_.addresses.empty() || std::ranges::count(config_.addresses, address) > 0;
  };
  if (response.game != config_.game) return TokenFault::other_game;
  if (response.expires_s <= unix_s) return TokenFault::expired;
  if (std::ranges::none_of(grant.servers, is_ours)) return TokenFault::other_server;
  return std::nullopt;
}

// Counts the refusal of a genuine token. The answer goes to an address that has returned a cookie, it is much
// shorter than the response, and only a client with the token's keys gets one.
std::optional<std::span<const std::byte>> Gate::answer_fault(TokenFault fault, const Response& response,
                                                             const OpenedGrant& opened, double now_s) {
  if (fault == TokenFault::used) {
    (void)refuse(Refusal::token_reused, counts_.token_reused);
  } else if (fault == TokenFault::other_game) {
    (void)refuse(Refusal::wrong_game, counts_.wrong_game);
  } else {
    (void)refuse(Refusal::wrong_token, counts_.wrong_token);
  }
  if (!refusals_.spend(1.0, kRefusalsPerSecond, kRefusalsPerSecond, now_s)) return std::nullopt;
  refused_ = write_refused(fault, write(response), opened.to_client);
  return refused_;
}

std::span<const std::byte> Gate::begin(const SocketAddress& from, const OpenedGrant& opened,
                                       const SessionKeys& keys, const PublicKey& server,
                                       const Response& response, double now_s, std::uint64_t unix_s) {
  Accepted accepted;
  accepted.server = server;
  do {
    accepted.session = random_number();
  } while (accepted.session == 0 || sessions_.contains(accepted.session));
  auto session = std::make_unique<Session>(Session{.number = accepted.session,
                                                   .address = from,
                                                   .version = response.version,
                                                   .grant = opened.grant,
                                                   .sealer = Sealer{keys.to_client, accepted.session},
                                                   .opener = Opener{keys.to_server},
                                                   .until_s = now_s + config_.half_open_s,
                                                   .renew_s = now_s + renewal_s(),
                                                   .attempt = response.attempt,
                                                   .login = opened.login});
  accepted.ticket = ticket_for(*session, unix_s);
  session->accepted = seal(accepted, keys);
  ++counts_.accepted;
  ++at_host_[from.host.limited_host()];
  return (sessions_[accepted.session] = std::move(session))->accepted;
}

// A ticket repeats the grant of the session with a later expiry, up to the backend's limit.
Ticket Gate::ticket_for(const Session& session, std::uint64_t unix_s) const {
  ConnectGrant again = session.grant;
  again.expires_s = std::min(unix_s + static_cast<std::uint64_t>(config_.ticket_s), again.renewable_until_s);
  const Login next{session.login.id, session.login.generation + 1};
  const ConnectToken token = issue_ticket(again, next, config_.key, config_.game);
  return {token.expires_s, token.nonce, token.sealed, token.to_server, token.to_client};
}

// Does not count the sessions that are about to be replaced (`less`).
bool Gate::full_for(const SocketAddress& from, std::span<const UsedTokens::Entry> less) const {
  const auto counted = at_host_.find(from.host.limited_host());
  std::size_t all = sessions_.size(), same_host = counted == at_host_.end() ? 0 : counted->second;
  for (const UsedTokens::Entry& place : less) {
    const auto found = place.gate == number_ ? sessions_.find(place.session) : sessions_.end();
    if (found == sessions_.end()) continue;
    --all;
    if (found->second->address.host.limited_host() == from.host.limited_host()) --same_host;
  }
  return all >= config_.most_sessions || same_host >= config_.most_sessions_per_host;
}

bool Gate::bind(Session& session) {
  if (config_.is_open) return session.is_bound = !session.is_over;
  if (session.is_bound || !config_.used->stand(session.login.id, place_of(session))) return session.is_bound;
  return session.is_bound = true;
}

void Gate::give_back(const Session& session) {
  if (config_.is_open) return;
  config_.used->give_back(session.login.id, place_of(session));
}

Gate::Session* Gate::find(std::uint32_t number) {
  const auto found = sessions_.find(number);
  return found == sessions_.end() ? nullptr : found->second.get();
}

void Gate::move(Session& session, const SocketAddress& to) {
  ++at_host_[to.host.limited_host()];
  leave(session.address.host);
  session.address = to;
}

void Gate::leave(const IpAddress& host) {
  const auto found = at_host_.find(host.limited_host());
  if (--found->second == 0) at_host_.erase(found);
}

Gate::Sessions::iterator Gate::erase(Sessions::iterator which) {
  leave(which->second->address.host);
  return sessions_.erase(which);
}

void Gate::erase(std::uint32_t number) {
  const auto found = sessions_.find(number);
  if (found != sessions_.end()) erase(found);
}

void Gate::release(std::uint32_t number, double now_s) {
  Session* const session = find(number);
  if (session == nullptr) return;
  session->is_bound = false;
  session->is_over = true;
  session->tag = 0;
  session->until_s = now_s + kLingerS;
}

PeerLogin Gate::login(std::uint32_t number) const {
  const Session* const session = find(number);
  if (session == nullptr) return {};
  if (config_.is_open) return {.host = session->address.host.limited_host()};
  return {.client_id = session->grant.client_id,
          .id = session->login.id,
          .sessions_per_client = config_.used->sessions_per_client(),
          .is_revoked = config_.used->is_revoked(session->login.id),
          .host = session->address.host.limited_host()};
}

void Gate::revoke_login(const PeerLogin& login, double now_s, std::uint64_t unix_ms) {
  if (!login.client_id) return;
  if (config_.used->sessions_per_client() > 0) {
    config_.used->kick(*login.client_id, now_s, unix_ms);
  } else {
    config_.used->revoke(login.id);
  }
}

void Gate::tidy(double now_s, std::uint64_t unix_s) {
  for (auto it = sessions_.begin(); it != sessions_.end();)
    it = !it->second->is_bound && it->second->until_s <= now_s ? erase(it) : std::next(it);
  config_.used->tidy(now_s, unix_s);
  traffic_.tidy(now_s);
}

}  // namespace reckoner::secure
