// SPDX-License-Identifier: MIT
#include "programs/server/watch/watch_gate.hpp"

#include "net/src/transport/enet/server_security.hpp"

#include <algorithm>
#include <utility>

namespace reckoner::program {
namespace {

constexpr std::uint8_t kEntrance = 1;

// A token is valid once over UDP and once here. So its use here is the use of another login.
secure::LoginId login_of_view(secure::LoginId login) {
  for (std::byte& byte : login)
    byte = ~byte;
  return login;
}

}  // namespace

WatchGate::WatchGate(OrInsecure<ServerSecurity> security, std::uint16_t udp_port,
                     std::shared_ptr<secure::UsedTokens> used)
    : security_(std::move(security)) {
  const ServerSecurity* const secure = security_.get();
  if (secure == nullptr) return;
  addresses_ = secure->addresses;
  for (SocketAddress& address : addresses_)
    address.port = address.port == 0 ? udp_port : address.port;
  used_ = used ? std::move(used) : std::make_shared<secure::UsedTokens>(token_limits(*secure));
  number_ = used_->add_gate();
}

// Nullopt if the token is not genuine, has expired or is for another server.
std::optional<secure::OpenedGrant> WatchGate::open(const ConnectToken& token, std::uint64_t unix_s) const {
  const ServerSecurity& secure = *security_.get();
  if (token.expires_s <= unix_s) return std::nullopt;
  auto opened = secure::open_grant(token.sealed, token.nonce, token.expires_s, secure.key, secure.game);
  // Tickets are for clients that return over UDP. Without the keys, the bearer has only seen the token.
  if (!opened || opened->login.generation != 0 || opened->to_server.bytes() != token.to_server.bytes() ||
      opened->to_client.bytes() != token.to_client.bytes())
    return std::nullopt;
  const auto is_ours = [&](const SocketAddress& address) {
    return std::ranges::find(addresses_, address) != addresses_.end();
  };
  if (!secure.any_server && std::ranges::none_of(opened->grant.servers, is_ours)) return std::nullopt;
  return opened;
}

pipe::Admission WatchGate::admit(std::span<const std::byte> bytes, double now_s, std::uint64_t unix_s) {
  const ServerSecurity* const secure = security_.get();
  if (secure == nullptr) return {std::nullopt};
  const auto token = read_token(bytes);
  auto opened = token ? open(*token, unix_s) : std::nullopt;
  if (!opened) return {Refusal::wrong_token};
  used_->tidy(now_s, unix_s);
  opened->login.id = login_of_view(opened->login.id);
  auto shown = secure::UsedTokens::shown_of(*opened, token->sealed, {}, now_s, unix_s);
  shown.entrance = kEntrance;
  const auto verdict = used_->judge(shown);
  if (verdict == secure::UsedTokens::Verdict::full) return {Refusal::handshake_limit};
  if (verdict != secure::UsedTokens::Verdict::good) return {Refusal::token_reused};
  const secure::UsedTokens::Entry place{number_, ++seats_};
  used_->begin(shown, place, secure::UsedTokens::life_of(token->expires_s, secure->ticket_s, now_s, unix_s));
  (void)used_->stand(shown.login.id, place);
  return {PeerLogin{.client_id = shown.client_id,
                    .id = shown.login.id,
                    .sessions_per_client = secure->sessions_per_client,
                    .entrance = kEntrance},
          place.session};
}

bool WatchGate::is_revoked(const PeerLogin& login) const {
  return used_ && used_->is_revoked(login.id);
}

}  // namespace reckoner::program
