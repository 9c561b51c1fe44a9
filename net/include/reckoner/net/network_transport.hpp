// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/log.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// Selects a transport without security: anybody may join, the server is not authenticated, and nothing is
/// encrypted. For a LAN or a test. It has no default on purpose; the caller must ask for it by name.
struct Insecure {};

/// Either security settings or Insecure. There is no default, so that every caller decides.
template <class Security>
class OrInsecure {
 public:
  /// Uses `security`.
  OrInsecure(Security security) : security_(std::move(security)) {}
  /// Uses no security.
  OrInsecure(Insecure) {}

  /// The settings; null if insecure. Valid as long as this object.
  [[nodiscard]] const Security* get() const { return security_ ? &*security_ : nullptr; }
  /// The settings, for changes; null if insecure. Valid as long as this object.
  [[nodiscard]] Security* get() { return security_ ? &*security_ : nullptr; }

 private:
  std::optional<Security> security_;
};

namespace secure {
class UsedTokens;
}

/// Settings of a server that admits only clients with a valid, unused token (issue_token()) and its keys. All
/// datagrams are encrypted and authenticated.
///
/// A returning client replaces its own older session:
/// - With a ticket, the client's older connection ends with EndReason::replaced.
/// - With a token that would exceed sessions_per_client, the login of this client id that was issued first
///   ends. Its tickets become invalid.
struct ServerSecurity {
  SecretKey key;           ///< shared with the backend that issues tokens
  std::uint64_t game = 0;  ///< must equal the `game` of issue_token()
  /// Addresses under which clients reach this server, including relays. A token must name one of them. Port 0
  /// means the port in use. Empty: the listening address, which must then be a single address and not all of
  /// the machine's.
  std::vector<ServerAddress> addresses{};
  /// True: do not compare addresses; accept a token for any server if its key is right.
  bool any_server = false;
  std::uint32_t peers_per_address = 16;  ///< maximum number of connections from one IPv4 address
  /// Maximum rate of new sessions with valid tokens from one IPv4 address, 1/s. A burst may be ten seconds'
  /// worth, at least one session. 0: no limit.
  double handshakes_per_second = 10.0;
  /// Maximum rate of new sessions with valid tokens from all addresses together, 1/s. A burst may be one
  /// second's worth. 0: no limit.
  double tokens_per_second = 2000.0;
  /// How long a client may resume without a new token after its last connection, s. The server sends a new
  /// ticket every ticket_s / 12.
  double ticket_s = 3600.0;
  double half_open_s = 5.0;  ///< a session without a connection ends after this time, s
  /// Maximum number of concurrent sessions of one client id; 0: no limit.
  std::uint32_t sessions_per_client = 1;
  /// Maximum number of remembered logins, to refuse a token that is presented twice. A login is a token and
  /// all tickets derived from it. It is remembered until they all have expired, and ticket_s longer. When the
  /// limit is reached, no new token is accepted until one login is forgotten. Connected clients and clients
  /// that resume with a ticket are not affected. About 400 bytes each.
  std::size_t used_tokens = 262'144;
  std::size_t used_tokens_per_client = 256;  ///< maximum number of remembered logins of one client id
};

/// What a client presents to join a secure server.
struct ClientSecurity {
  ConnectToken token;      ///< from the backend or from NetworkTransport::ticket(); valid once
  std::uint64_t game = 0;  ///< must equal ServerSecurity::game
  /// Needed to present a token again if it is unknown whether the server accepted it. Use the same secret for
  /// each attempt (SecretKey::make()): it proves that the attempts come from one client. Each attempt has its
  /// own session keys nevertheless. Empty: the transport generates one and does not reveal it.
  SecretKey secret{};
};

/// The identity that a token gives to its client.
struct ClientIdentity {
  std::uint64_t client_id = 0;  ///< the backend's number for the client
  /// ConnectGrant::user_data, as set by the backend
  std::array<std::byte, ConnectGrant::kUserBytes> user_data{};
};

/// A server accepts this many connections more than clients: to refuse further clients with a reason, and to
/// accept a client that reconnects before its old connection has ended.
inline constexpr std::uint32_t kSpareConnections = 8;

/// Settings of a server's transport.
struct ListenConfig {
  std::string host;        ///< address to listen on; empty: every IPv4 address of the machine
  std::uint16_t port = 0;  ///< UDP port; 0: any free port, see NetworkTransport::port()
  /// Maximum number of connections, at least 1. A server needs a few more than it has clients
  /// (kSpareConnections). More than one ENet host holds need Linux (see ShardedTransport).
  std::uint32_t max_peers = 64;
  /// Which clients are admitted; Insecure{}: everybody, without encryption.
  OrInsecure<ServerSecurity> security;
  TransportLimits limits{};  ///< limits on received traffic; a ShardedTransport applies them to each host
  LogSink log{};             ///< receives log records; empty: no log
  /// Name of the network protocol's implementation; empty: the default. There is one at present, "enet".
  std::string transport{};
};

/// Returns the first invalid setting, or nullopt. Checks only what can be checked without the network.
[[nodiscard]] RECKONER_NET_API std::optional<Error> find_invalid_setting(const ListenConfig& config);

/// Memory functions for the network libraries below the transports. If `allocate` returns null, the process
/// may end. Called by every thread that uses a transport.
struct NetworkAllocator {
  /// Like malloc.
  void* (*allocate)(std::size_t bytes) = nullptr;
  /// Like free.
  void (*release)(void* memory) = nullptr;
};

/// Sets the allocator for the network libraries in this process, including the game's own use of them. The
/// default is malloc and free. Reckoner's other allocations use operator new, which a game may replace.
/// Returns false and changes nothing while a NetworkTransport exists, or if a function is null.
[[nodiscard]] RECKONER_NET_API bool set_network_allocator(const NetworkAllocator& allocator);

/// A transport over a real network: what a program needs beyond sending and receiving. Not thread-safe;
/// different transports are independent.
class RECKONER_NET_API NetworkTransport : public Transport {
 public:
  /// Opens a socket for clients to connect to. Fails if the port is in use, the address is unknown, a setting
  /// is invalid, or the server cannot know which tokens are for it (ServerSecurity::addresses).
  [[nodiscard]] static Result<std::unique_ptr<NetworkTransport>> listen(const ListenConfig& config);

  /// Starts to connect to a server. A connected event follows, or a disconnected event after 5 s. `reason` is
  /// sent with the request; Reckoner's client expects its protocol version there (kProtocolVersion). Fails at
  /// once if the host name does not resolve. `security` must match the server: a token, or Insecure{}. `log`
  /// receives log records; empty: no log. `transport` as in ListenConfig.
  [[nodiscard]] static Result<std::unique_ptr<NetworkTransport>> connect(
      const std::string& host, std::uint16_t port, std::uint32_t reason,
      const OrInsecure<ClientSecurity>& security, const LogSink& log = {}, std::string_view transport = {});

  /// True if a token has expired by this machine's clock.
  [[nodiscard]] static bool is_expired(const ConnectToken& token);

  /// Returns the identity under which a peer was admitted. Nullopt without security, or if the peer is gone.
  [[nodiscard]] virtual std::optional<ClientIdentity> identity(PeerId peer) const = 0;

  /// Returns the newest ticket from the server. A client can resume with it once, without its backend. It
  /// does not contain the servers' addresses. Nullopt before the client is admitted, and on a server.
  [[nodiscard]] virtual std::optional<ConnectToken> ticket() const = 0;

  /// The UDP port in use.
  [[nodiscard]] virtual std::uint16_t port() const = 0;

  /// Sends queued data, then sleeps until data arrives, a signal comes or `seconds` have passed. Call
  /// service() next.
  virtual void wait(double seconds) = 0;
};

}  // namespace reckoner
