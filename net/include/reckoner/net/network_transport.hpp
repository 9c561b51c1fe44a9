// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/log.hpp>
#include <reckoner/net/socket_address.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// Selects a connection without security: anybody may join, the server is not authenticated, and nothing is
/// encrypted. Use it only in a LAN or a test. It is never the default; the caller must write its name.
struct Insecure {};

/// Either security settings or Insecure. It has no default constructor, so that every caller must
/// decide.
template <class Security>
class OrInsecure {
 public:
  /// Selects security with these settings.
  OrInsecure(Security security) : security_(std::move(security)) {}
  /// Selects no security.
  OrInsecure(Insecure) {}

  /// Returns the settings, or null if insecure. The pointer is valid as long as this object.
  [[nodiscard]] const Security* get() const { return security_ ? &*security_ : nullptr; }
  /// Returns the settings for modification, or null if insecure. The pointer is valid as long as this object.
  [[nodiscard]] Security* get() { return security_ ? &*security_ : nullptr; }

 private:
  std::optional<Security> security_;
};

namespace secure {
class UsedTokens;
}

/// Settings of a server with security. The server admits a client only if the client presents a valid, unused
/// token (issue_token()) and knows the token's keys. All datagrams are encrypted and authenticated.
///
/// A returning client replaces its own older session:
/// - If it presents a ticket, its older connection ends with EndReason::replaced.
/// - If it presents a token and would then exceed sessions_per_client, the login with the oldest token ends.
///   Only logins of this client id count. The tickets of the ended login become invalid.
struct ServerSecurity {
  SecretKey key;           ///< must equal the key of the backend that issues tokens
  std::uint64_t game = 0;  ///< must equal the `game` of issue_token()
  /// Addresses under which clients reach this server, including the addresses of relays. A token must contain
  /// at least one of them. Port 0 means the port in use. Empty: the server uses ListenConfig::host, which
  /// must then be one specific address.
  std::vector<SocketAddress> addresses{};
  /// True: the server does not check the addresses in a token. It accepts a token for any server that uses
  /// this key.
  bool any_server = false;
  /// Maximum number of connections from one address. For this and all other limits per address, a /64 network
  /// of IPv6 counts as one address, because a household gets a whole /64.
  std::uint32_t peers_per_address = 16;
  /// Maximum rate of new sessions with valid tokens from one address, 1/s. A burst may contain as many
  /// sessions as the rate allows in ten seconds, and at least one. 0: no limit.
  double handshakes_per_second = 10.0;
  /// Maximum rate of new sessions with valid tokens from all addresses together, 1/s. A burst may contain as
  /// many sessions as the rate allows in one second. 0: no limit.
  double tokens_per_second = 2000.0;
  /// How long after its last connection a client may resume without a new token, s. During a connection, the
  /// server sends a new ticket every ticket_s / 12 seconds.
  double ticket_s = 3600.0;
  double half_open_s = 5.0;  ///< a new session without a connection ends after this time, s
  /// Maximum number of concurrent sessions of one client id; 0: no limit.
  std::uint32_t sessions_per_client = 1;
  /// Maximum number of logins that the server remembers. A login is a token together with all tickets that
  /// were derived from this token. The server needs this memory to refuse a token that is presented twice. It
  /// forgets a login ticket_s after the token and all its tickets have expired. At the limit, the server
  /// accepts no new token until it forgets a login. Connected clients and clients that resume with a ticket
  /// are not affected. Each login needs about 400 bytes. It is also the maximum number of client ids whose
  /// kick the server remembers (Server::kick()); beyond that, it forgets the oldest kick.
  std::size_t used_tokens = 262'144;
  std::size_t used_tokens_per_client = 256;  ///< maximum number of remembered logins of one client id
};

/// What a client presents to join a secure server.
struct ClientSecurity {
  ConnectToken token;      ///< from the backend or from NetworkTransport::ticket(); usable once
  std::uint64_t game = 0;  ///< must equal ServerSecurity::game
  /// Secret from SecretKey::make(). A client needs it to present one token several times, if it does not know
  /// whether the server accepted the token. All attempts with one token must use one secret, which proves
  /// that they come from one client. Each attempt still gets its own session keys. Empty: the transport
  /// generates a secret and does not reveal it, so that the token cannot be presented again.
  SecretKey secret{};
};

/// How many more connections than clients a server should accept. With a spare connection, a full server can
/// send a further client the reason for the refusal. A client can also reconnect before its old connection
/// has ended.
inline constexpr std::uint32_t kSpareConnections = 8;

/// Settings of a server's transport.
struct ListenConfig {
  /// Address or name to listen on. Empty: all addresses of the machine, IPv6 and IPv4 on one port, or only
  /// IPv4 if the machine has no IPv6 or the transport is "enet". "0.0.0.0": all IPv4 addresses. "::": all
  /// IPv6 addresses and no IPv4 address.
  std::string host;
  std::uint16_t port = 0;  ///< UDP port; 0: any free port, see NetworkTransport::port()
  /// Maximum number of connections, at least 1. A server needs kSpareConnections more connections than
  /// clients. "enet" has room for at most 4095.
  std::uint32_t max_peers = 64;
  /// Security settings, which define the clients that the server admits. Insecure{}: the server admits
  /// everybody and does not encrypt.
  OrInsecure<ServerSecurity> security;
  TransportLimits limits{};  ///< limits on received traffic
  LogSink log{};             ///< receives log records; empty: no log
  /// Name of the transport. Both ends must use the same one. Empty: "udp" with security, "enet" without.
  /// - "udp": Reckoner's own, over IPv4 and IPv6, with or without security.
  /// - "enet": ENet, over IPv4 and without security only.
  std::string transport{};
  /// True: a thread of the transport reads the socket as soon as data arrives, also while the game does
  /// something else. Only NetworkTransport::listen() uses this; see receive threads there.
  bool receive_thread = false;
};

/// Returns an error for the first invalid setting, or nullopt. The function does not use the network, so it
/// cannot check whether the address and the port are available.
[[nodiscard]] RECKONER_NET_API std::optional<Error> find_invalid_setting(const ListenConfig& config);

/// Memory functions for the network library that the transport "enet" uses. If `allocate` returns null, the
/// library may end the process. Every thread that uses a transport may call these functions.
struct NetworkAllocator {
  /// Allocates memory, like malloc().
  void* (*allocate)(std::size_t bytes) = nullptr;
  /// Releases memory, like free().
  void (*release)(void* memory) = nullptr;
};

/// Sets ENet's allocator in this process. If the game itself uses ENet, this use is affected, too. The
/// default is malloc() and free(). All other allocations of Reckoner use operator new, which a game may
/// replace. Returns false and changes nothing if a transport "enet" exists or if one of the two functions is
/// null.
[[nodiscard]] RECKONER_NET_API bool set_network_allocator(const NetworkAllocator& allocator);

/// Looks up a host name. Returns the addresses with port 0, the preferred one first; empty if there is none.
/// It may block for many seconds, so a transport calls it on another thread. It must not throw.
using ResolveHost = std::function<std::vector<SocketAddress>(const std::string& host)>;

/// The system's look-up (getaddrinfo()), which every transport uses by default. Also accepts addresses.
[[nodiscard]] RECKONER_NET_API std::vector<SocketAddress> resolve_host(const std::string& host);

/// Settings of a client's connection. `security` has no default, so that every caller must decide:
/// ConnectConfig{.host = "game.example", .port = 26000, .security = Insecure{}}.
struct ConnectConfig {
  /// Name or address of the server, IPv4 or IPv6 without brackets. Empty: only NetworkDialer accepts it, and
  /// uses the servers listed in the token.
  std::string host{};
  std::uint16_t port = 0;  ///< UDP port of the server, above 0; not used if `host` is empty
  /// Must match the server: a token for a server with security, otherwise Insecure{}.
  OrInsecure<ClientSecurity> security;
  LogSink log{};            ///< receives log records; empty: no log
  std::string transport{};  ///< name of the transport, as in ListenConfig::transport
  /// True: a thread of the transport reads the socket as soon as data arrives, as in
  /// ListenConfig::receive_thread.
  bool receive_thread = false;
  ResolveHost resolve{};  ///< the look-up of names; empty: resolve_host()
  /// Version of the wire format, not 0. The server's connected event contains it. Only for programs that
  /// speak another wire format than class Client.
  std::uint16_t version = kProtocolVersion;
};

/// A transport over a real network. It adds connecting, identities, tickets and waiting to Transport. An
/// object is not thread-safe, but two threads may use two different transports.
///
/// Receive threads: with `receive_thread`, a thread of the transport reads the socket, sends again what was
/// lost and answers the other end, whatever the game does meanwhile. This has two uses:
/// - The clocks are exact if the game calls update() only once per picture, also on systems without receive
///   time stamps of the kernel (TransportEvent::waited_s).
/// - The connection stays alive while the game loads a map and calls neither update() nor receive().
///
/// The game uses the transport as without the thread: from one thread at a time, and log records and events
/// come only on that thread. The events wait until the game calls service(). TransportLimits::waiting_events
/// and waiting_event_bytes bound their memory; beyond these limits, the data waits in the socket. A signal
/// does not end wait(). The destructor ends the thread; this takes up to 10 ms.
class RECKONER_NET_API NetworkTransport : public Transport {
 public:
  /// Opens a socket to which clients can connect. Fails if the port is in use, the address is unknown or a
  /// setting is invalid. Also fails if the server does not know its addresses (ServerSecurity::addresses),
  /// because it could not check tokens. Fails if the system has no thread for ListenConfig::receive_thread.
  [[nodiscard]] static Result<std::unique_ptr<NetworkTransport>> listen(const ListenConfig& config);

  /// Starts to connect to a server. Later, poll() returns a connected event, or a disconnected event if the
  /// server has not answered within 5 s, or has refused or ignored the token. Fails at once if the host or
  /// the token is empty, the port or the version is 0, the transport does not serve such a connection, or the
  /// system has no thread left.
  ///
  /// The function does not wait for the look-up of a name: a thread of its own does it, within the 5 s, and
  /// if there is no usable address, poll() returns a disconnected event. If there are several addresses, the
  /// client tries one every 250 ms, IPv6 and IPv4 in turn, and keeps the first that answers (RFC 8305). In a
  /// network with NAT64 and without IPv4, it reaches an IPv4 address through its translated IPv6 address (RFC
  /// 7050).
  [[nodiscard]] static Result<std::unique_ptr<NetworkTransport>> connect(const ConnectConfig& config);

  /// Returns true if a token has expired by this machine's clock.
  [[nodiscard]] static bool is_expired(const ConnectToken& token);

  /// Returns the identity in the token of a peer. Returns nullopt without security, or if the peer is no
  /// longer connected.
  [[nodiscard]] virtual std::optional<ClientIdentity> identity(PeerId peer) const = 0;

  /// Returns the newest ticket from the server. With this ticket, the client can resume once without a token
  /// from the backend. A ticket does not contain server addresses. Returns nullopt on a server, and on a
  /// client before the server has admitted it.
  [[nodiscard]] virtual std::optional<ConnectToken> ticket() const = 0;

  /// Returns what the server remembers of used tokens, for another entrance of the server that accepts
  /// tokens, too (TokenGateConfig::transport). The class is internal. Null without security, on a client, and
  /// with a receive thread, because the object is not thread-safe.
  [[nodiscard]] virtual std::shared_ptr<secure::UsedTokens> used_tokens() const;

  /// Returns the UDP port in use.
  [[nodiscard]] virtual std::uint16_t port() const = 0;

  /// Sends queued data. Then sleeps until data arrives, a signal interrupts the process or `seconds` have
  /// passed. Call service() afterwards.
  virtual void wait(double seconds) = 0;

  /// Sleeps until data arrives or `seconds` have passed, but sends and reads nothing. May also return early.
  /// Unlike all other functions, another thread may use the transport meanwhile. A receive thread calls this.
  /// The default sleeps for at most 1 ms.
  virtual void sleep_until_readable(double seconds);
};

}  // namespace reckoner
