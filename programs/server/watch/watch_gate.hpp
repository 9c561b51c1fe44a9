// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/used_tokens.hpp"
#include "net/src/transport/pipe/pipe_server.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/socket_address.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner::program {

/// Decides who may watch: anybody on an insecure server, otherwise the bearer of a token for this server. A
/// token is valid once here, apart from its one use over UDP. A client id has as many views at once as
/// sessions over UDP (ServerSecurity::sessions_per_client): a newer token ends the oldest view.
/// Server::kick() keeps a player out of both. The stream itself must be confidential (TLS), because the token
/// is sent as it is.
class WatchGate {
 public:
  /// `udp_port` replaces a port of 0 in the server's addresses. `used`: what the server's transport remembers
  /// of tokens (NetworkTransport::used_tokens()). Null: the gate remembers on its own.
  WatchGate(OrInsecure<ServerSecurity> security, std::uint16_t udp_port,
            std::shared_ptr<secure::UsedTokens> used = nullptr);

  /// Admits or refuses the bearer of a token. `now_s`: on a monotonic clock. `unix_s`: seconds since 1970.
  [[nodiscard]] pipe::Admission admit(std::span<const std::byte> token, double now_s, std::uint64_t unix_s);
  /// True if the bearer was kicked after the admission.
  [[nodiscard]] bool is_revoked(const PeerLogin& login) const;

  /// Calls `end(seat)` for the views that newer tokens have replaced.
  template <class End>
  void end_replaced(End end) {
    if (used_) used_->take_ended(number_, [&](std::uint32_t seat, bool) { end(seat); });
  }

 private:
  [[nodiscard]] std::optional<secure::OpenedGrant> open(const ConnectToken& token,
                                                        std::uint64_t unix_s) const;

  OrInsecure<ServerSecurity> security_;
  std::vector<SocketAddress> addresses_;
  std::shared_ptr<secure::UsedTokens> used_;  // null on an insecure server
  std::uint32_t number_ = 0;                  // of this gate among those that share `used_`
  std::uint32_t seats_ = 0;                   // number of views so far
};

}  // namespace reckoner::program
