// SPDX-License-Identifier: MIT
#include "web/src/listener/token_entrance.hpp"

#include "net/src/transport/platform.hpp"

namespace reckoner::web {

Result<TokenGate> token_gate(const WebConfig& config, std::uint16_t port) {
  OrInsecure<ServerSecurity> security = config.security;
  if (ServerSecurity* const secure = security.get()) {
    if (secure->addresses.empty() && !secure->any_server) secure->addresses = resolve_host(config.host);
    for (SocketAddress& address : secure->addresses) {
      if (address.port == 0 && config.beside == nullptr) address.port = port;
    }
  }
  return TokenGate::create(security, {.transport = config.beside, .entrance = config.entrance});
}

TokenTime token_time() {
  return {steady_seconds(), unix_milliseconds()};
}

}  // namespace reckoner::web
