// SPDX-License-Identifier: MIT
#include "programs/server/watch/watch_gate.hpp"

#include "net/src/secure/handshake.hpp"

#include <algorithm>

namespace reckoner::program {

WatchGate::WatchGate(OrInsecure<ServerSecurity> security, std::uint16_t udp_port)
    : security_(std::move(security)) {
  if (const ServerSecurity* const secure = security_.get()) {
    addresses_ = secure->addresses;
    for (SocketAddress& address : addresses_)
      address.port = address.port == 0 ? udp_port : address.port;
  }
}

std::optional<Refusal> WatchGate::refuse(std::span<const std::byte> bytes, std::uint64_t unix_s) {
  const ServerSecurity* const secure = security_.get();
  if (secure == nullptr) return std::nullopt;
  const auto token = read_token(bytes);
  if (!token || token->expires_s <= unix_s) return Refusal::wrong_token;
  const auto opened =
      secure::open_grant(token->sealed, token->nonce, token->expires_s, secure->key, secure->game);
  // Tickets are for clients that return over UDP. Without the keys, the bearer has only seen the token.
  if (!opened || opened->login.generation != 0 || opened->to_server.bytes() != token->to_server.bytes() ||
      opened->to_client.bytes() != token->to_client.bytes())
    return Refusal::wrong_token;
  const auto is_ours = [&](const SocketAddress& address) {
    return std::ranges::find(addresses_, address) != addresses_.end();
  };
  if (!secure->any_server && std::ranges::none_of(opened->grant.servers, is_ours))
    return Refusal::wrong_token;
  std::erase_if(used_, [&](const auto& used) { return used.second <= unix_s; });
  if (used_.size() >= secure->used_tokens) return Refusal::handshake_limit;
  const bool fresh = used_.try_emplace({token->nonce.begin(), token->nonce.end()}, token->expires_s).second;
  return fresh ? std::nullopt : std::optional(Refusal::token_reused);
}

}  // namespace reckoner::program
