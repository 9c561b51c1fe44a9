// SPDX-License-Identifier: MIT
#include "net/src/secure/handshake.hpp"
#include "net/src/secure/handshake_limit.hpp"
#include "net/src/secure/keys.hpp"
#include "net/src/secure/server_security.hpp"
#include "net/src/secure/used_tokens.hpp"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include <reckoner/net/token_gate.hpp>

namespace reckoner {
namespace {

// With an entrance of its own, a token is valid once here and once elsewhere. So its use here is the use of
// another login.
secure::LoginId login_at(std::uint8_t entrance, secure::LoginId login) {
  for (std::byte& byte : login)
    byte ^= std::byte{entrance};
  return login;
}

bool are_equal(const SecretKey& one, const SecretKey& other) {
  return sodium_memcmp(one.bytes().data(), other.bytes().data(), SecretKey::kBytes) == 0;
}

// A token must name one of these addresses.
Result<std::vector<SocketAddress>> addresses_of(const ServerSecurity& security,
                                                const NetworkTransport* transport) {
  std::vector<SocketAddress> addresses = security.addresses;
  for (SocketAddress& address : addresses) {
    if (address.port == 0 && transport != nullptr) address.port = transport->port();
    if (address.port == 0)
      return Error{"addresses contains port 0, and there is no transport that has a port"};
  }
  return addresses;
}

}  // namespace

struct TokenGate::Impl {
  // Nullopt if the token is not genuine, has expired or is for another server.
  [[nodiscard]] std::optional<secure::OpenedGrant> open(const ConnectToken& token,
                                                        std::uint64_t unix_s) const {
    if (token.expires_s <= unix_s) return std::nullopt;
    auto opened = secure::open_grant(token.sealed, token.nonce, token.expires_s, security.key, security.game);
    // Without the keys, the bearer has only seen the token in flight.
    if (!opened || opened->login.generation != 0 || !are_equal(opened->to_server, token.to_server) ||
        !are_equal(opened->to_client, token.to_client))
      return std::nullopt;
    const auto is_ours = [&](const SocketAddress& address) {
      return std::ranges::find(addresses, address) != addresses.end();
    };
    if (!security.any_server && std::ranges::none_of(opened->grant.servers, is_ours)) return std::nullopt;
    return opened;
  }

  ServerSecurity security;
  std::uint8_t entrance;
  std::vector<SocketAddress> addresses;
  std::shared_ptr<secure::UsedTokens> used;  // null: the gate admits everybody
  std::uint32_t number;                      // of this gate among those that share `used`
  secure::HandshakeLimit limit{security.handshakes_per_second, security.tokens_per_second};
  std::uint32_t sessions = 0;  // number of sessions so far
  std::deque<std::uint32_t> replaced{};
};

Result<TokenGate> TokenGate::create(const OrInsecure<ServerSecurity>& security,
                                    const TokenGateConfig& config) {
  const ServerSecurity* const secure = security.get();
  if (secure == nullptr)
    return TokenGate(std::make_shared<Impl>(
        Impl{.security = {}, .entrance = 0, .addresses = {}, .used = {}, .number = 0}));
  if (auto error = find_invalid_setting(*secure, false)) return *error;
  if (secure->addresses.empty() && !secure->any_server)
    return Error{"addresses is empty; list the addresses that tokens name, or set any_server"};
  auto addresses = addresses_of(*secure, config.transport);
  if (!addresses) return Error{addresses.error()};
  auto used = config.transport != nullptr ? config.transport->used_tokens()
                                          : std::make_shared<secure::UsedTokens>(token_limits(*secure));
  if (!used)
    return Error{"the transport has no used tokens to share: it has no security, or it has a receive thread"};
  const std::uint32_t number = used->add_gate();
  return TokenGate(std::make_shared<Impl>(Impl{.security = *secure,
                                               .entrance = config.entrance,
                                               .addresses = std::move(*addresses),
                                               .used = std::move(used),
                                               .number = number}));
}

TokenGate::TokenGate(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Admission TokenGate::admit(std::span<const std::byte> bytes, const IpAddress& host, const TokenTime& time) {
  Impl& s = *impl_;
  if (!s.used) return {};
  const std::uint64_t unix_s = time.unix_ms / 1000;
  const auto token = read_token(bytes);
  auto opened = token ? s.open(*token, unix_s) : std::nullopt;
  if (!opened) return {.refusal = Refusal::wrong_token};
  s.used->tidy(time.steady_s, unix_s);
  opened->login.id = login_at(s.entrance, opened->login.id);
  auto shown = secure::UsedTokens::shown_of(*opened, token->sealed, {}, time.steady_s, unix_s);
  shown.entrance = s.entrance;
  using Verdict = secure::UsedTokens::Verdict;
  const Verdict verdict = s.used->judge(shown);
  if (verdict != Verdict::good && verdict != Verdict::full) return {.refusal = Refusal::token_reused};
  if (verdict == Verdict::full || !s.limit.allows(host, time.steady_s))
    return {.refusal = Refusal::handshake_limit};
  if (++s.sessions == 0) ++s.sessions;  // 0 means none
  const secure::UsedTokens::Entry place{s.number, s.sessions};
  s.used->begin(shown, place,
                secure::UsedTokens::life_of(token->expires_s, s.security.ticket_s, time.steady_s, unix_s));
  (void)s.used->stand(shown.login.id, place);
  return {.login = {.client_id = shown.client_id,
                    .id = shown.login.id,
                    .sessions_per_client = s.used->sessions_per_client(),
                    .entrance = s.entrance},
          .identity = ClientIdentity{shown.client_id, opened->grant.user_data},
          .session = place.session};
}

bool TokenGate::is_revoked(const PeerLogin& login) const {
  return impl_->used && impl_->used->is_revoked(login.id);
}

void TokenGate::revoke(const PeerLogin& login, const TokenTime& time) {
  if (!impl_->used || !login.client_id) return;
  if (impl_->used->sessions_per_client() > 0) {
    impl_->used->kick(*login.client_id, time.steady_s, time.unix_ms);
  } else {
    impl_->used->revoke(login.id);
  }
}

std::optional<std::uint32_t> TokenGate::next_replaced() {
  Impl& s = *impl_;
  if (!s.used) return std::nullopt;
  s.used->take_ended(s.number, [&](std::uint32_t session, bool) { s.replaced.push_back(session); });
  if (s.replaced.empty()) return std::nullopt;
  const std::uint32_t session = s.replaced.front();
  s.replaced.pop_front();
  return session;
}

PipeGate TokenGate::pipe_gate(const std::function<TokenTime()>& time) const {
  return {.admit = [gate = *this, time](
                       std::span<const std::byte> token,
                       const IpAddress& host) mutable { return gate.admit(token, host, time()); },
          .is_revoked = [gate = *this](const PeerLogin& login) { return gate.is_revoked(login); },
          .revoke = [gate = *this, time](const PeerLogin& login) mutable { gate.revoke(login, time()); },
          .next_replaced = [gate = *this]() mutable { return gate.next_replaced(); }};
}

}  // namespace reckoner
