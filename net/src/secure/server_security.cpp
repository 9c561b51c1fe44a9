// SPDX-License-Identifier: MIT
#include "net/src/secure/server_security.hpp"

#include "net/src/transport/limits/limit_settings.hpp"

#include <string>
#include <utility>
#include <vector>

namespace reckoner {
namespace {

Error unnamed() {
  return Error{
      "addresses is empty and the server listens on every address; list the addresses that tokens name, or "
      "set "
      "any_server"};
}

// A token must name one of these addresses. Empty: tokens for any server are valid.
Result<std::vector<SocketAddress>> addresses_of(const ServerSecurity& security, const SocketAddress& bound) {
  if (security.any_server) return std::vector<SocketAddress>{};
  std::vector<SocketAddress> addresses = security.addresses;
  if (addresses.empty() && bound.host.is_any()) return unnamed();
  if (addresses.empty()) addresses.push_back(bound);
  for (SocketAddress& address : addresses) {
    if (address.port == 0) address.port = bound.port;
  }
  return addresses;
}

}  // namespace

std::optional<Error> find_invalid_setting(const ServerSecurity& security, bool on_every_address) {
  if (!security.key) return Error{"the key is empty"};
  if (security.any_server && !security.addresses.empty())
    return Error{"any_server is set and addresses is not empty; only one is allowed"};
  for (const SocketAddress& address : security.addresses) {
    if (address.host.is_any() || address.host.is_multicast())
      return Error{"addresses contains " + host_text(address) + ", which no token can name"};
  }
  if (auto error = find_invalid<ServerSecurity>(kSecuritySettings, security)) return error;
  if (on_every_address && security.addresses.empty() && !security.any_server) return unnamed();
  return std::nullopt;
}

Result<secure::GateConfig> gate_config(const ServerSecurity& security, const SocketAddress& bound) {
  auto addresses = addresses_of(security, bound);
  if (!addresses) return Error{addresses.error()};
  return secure::GateConfig{.key = security.key,
                            .game = security.game,
                            .addresses = std::move(*addresses),
                            .most_sessions_per_host = security.peers_per_address,
                            .handshakes_per_second = security.handshakes_per_second,
                            .begun_per_second = security.tokens_per_second,
                            .half_open_s = security.half_open_s,
                            .ticket_s = security.ticket_s,
                            .tokens = token_limits(security)};
}

secure::UsedTokens::Limits token_limits(const ServerSecurity& security) {
  return {security.used_tokens, security.used_tokens_per_client, security.sessions_per_client};
}

}  // namespace reckoner
