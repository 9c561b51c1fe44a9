// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/pipe_server.hpp>
#include <reckoner/net/socket_address.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// The time at which a TokenGate decides.
struct TokenTime {
  /// Seconds on a monotonic clock. With TokenGateConfig::transport, it must be the clock of the transport:
  /// the machine's monotonic clock, since its own epoch.
  double steady_s = 0.0;
  std::uint64_t unix_ms = 0;  ///< milliseconds since 1970
};

/// Settings of a TokenGate beside ServerSecurity.
struct TokenGateConfig {
  /// The server's transport for clients that do not come through this gate. Gate and transport then remember
  /// used tokens and kicked players together, and ports of 0 in ServerSecurity::addresses mean the port of
  /// the transport. It must have been opened with equal ServerSecurity, and without a receive thread. Only
  /// create() uses it. Null: the gate remembers on its own.
  const NetworkTransport* transport = nullptr;
  /// PeerLogin::entrance of the clients. 0: a token is valid once, through the gate or over the transport,
  /// and a client id has ServerSecurity::sessions_per_client sessions in all. Other numbers, such as 1 for
  /// spectators: a token is valid once here and once over the transport, and the sessions are counted apart.
  std::uint8_t entrance = 0;
};

/// Opens connect tokens and decides who may join, for a server whose clients present their token as bytes
/// over a confidential stream, such as a WebSocket with TLS. A NetworkTransport checks tokens by itself.
///
/// A token is valid once. A client id has at most ServerSecurity::sessions_per_client sessions: a newer token
/// takes the place of the oldest session. A kicked player is refused, unless the backend issued the token
/// after the kick. The gate also applies handshakes_per_second and tokens_per_second. The number of
/// connections from one address is PipeServerConfig::max_peers_per_host. Tickets are not accepted: they are
/// for clients that return over UDP.
///
/// Reads no clock. Belongs to the thread of the server, together with TokenGateConfig::transport. Copies are
/// the same gate.
class RECKONER_NET_API TokenGate {
 public:
  /// Creates a gate. Insecure{}: it admits everybody. Fails if a setting is invalid, if `security` names no
  /// address and any_server is false, or if the transport has no used tokens that the gate could share.
  [[nodiscard]] static Result<TokenGate> create(const OrInsecure<ServerSecurity>& security,
                                                const TokenGateConfig& config = {});

  /// Admits or refuses a client by the bytes of its token. An admission uses up the token. `host`: the
  /// address of the client. The bytes are untrusted. Refusal::wrong_token: they are no token, or the token is
  /// forged, expired or for another server. Refusal::token_reused: it was used, is older than one presented
  /// before, or was issued before a kick. Refusal::handshake_limit: too many tokens, by a limit of
  /// ServerSecurity.
  [[nodiscard]] Admission admit(std::span<const std::byte> token, const IpAddress& host,
                                const TokenTime& time);
  /// True if the login was revoked after its admission. The client must then not join.
  [[nodiscard]] bool is_revoked(const PeerLogin& login) const;
  /// Makes a login invalid, as Transport::revoke_login() says.
  void revoke(const PeerLogin& login, const TokenTime& time);
  /// Returns Admission::session of a client whose place a newer login has taken. End its connection. Returns
  /// each once, and then nullopt.
  [[nodiscard]] std::optional<std::uint32_t> next_replaced();

  /// Returns these functions for a PipeServer, which calls them when they are needed. `time` returns the
  /// present time. The result contains a copy of the gate.
  [[nodiscard]] PipeGate pipe_gate(const std::function<TokenTime()>& time) const;

 private:
  struct Impl;
  explicit TokenGate(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace reckoner
