// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/log.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// Instead of security: anybody may join, nobody knows whom they have joined, and nothing is encrypted. For a
/// LAN or a test; it must be asked for by name.
struct Insecure {};

/// What a transport's security is, or that there is none. There is no default: whoever opens a transport says
/// which.
template <class Security>
class OrInsecure {
 public:
  /// As given.
  OrInsecure(Security security) : security_(std::move(security)) {}
  /// None, as asked for.
  OrInsecure(Insecure) {}

  /// Null: insecure. Lives as long as this.
  [[nodiscard]] const Security* get() const { return security_ ? &*security_ : nullptr; }
  /// The same, to be changed.
  [[nodiscard]] Security* get() { return security_ ? &*security_ : nullptr; }

 private:
  std::optional<Security> security_;
};

namespace secure {
class UsedTokens;
}

/// Whom a server lets in: who shows a token (issue_token()) that nobody showed before, and has its keys.
/// Everything is sealed.
///
/// Who joins takes the place of what the same client had: of its own older connection, which is told
/// (EndReason::replaced), when it comes back with a ticket; of the oldest login of the same client id, whose
/// tickets are then good no more, when it comes with a token and there would be too many.
struct ServerSecurity {
  SecretKey key;           ///< shared with whoever issues tokens
  std::uint64_t game = 0;  ///< as tokens are issued for
  /// Under which clients reach it, a relay's included: a token must name one of them. A port of 0 is the one
  /// in use. Empty: the address it listens on, which must then be one, not all of the machine's.
  std::vector<ServerAddress> addresses{};
  bool any_server = false;               ///< instead: tokens for whatever server will do, if the key is right
  std::uint32_t peers_per_address = 16;  ///< connections from one IPv4 address
  /// Sessions that begin, with good tokens, from one IPv4 address; ten seconds' worth at once, but one at
  /// least. 0: no limit.
  double handshakes_per_second = 10.0;
  /// The same from all addresses together; a second's worth at once. 0: no limit.
  double tokens_per_second = 2000.0;
  /// How long a client may come back by itself after it was last connected, s: it is given a new ticket every
  /// twelfth of that.
  double ticket_s = 3600.0;
  double half_open_s = 5.0;               ///< a session that no connection follows is gone then
  std::uint32_t sessions_per_client = 1;  ///< of one client id at once; 0: no limit
  /// Tokens that are remembered so that nobody uses them again: each, with all tickets that spring from it,
  /// for as long as any of those is good, and an hour (ticket_s). If there are more, no new token is taken
  /// until one is forgotten; who is connected, or comes back with a ticket, does not notice. About 400 bytes
  /// each.
  std::size_t used_tokens = 262'144;
  std::size_t used_tokens_per_client = 256;  ///< the same of one client id
};

/// What a client shows.
struct ClientSecurity {
  ConnectToken token;      ///< from the backend, or EnetTransport::ticket(); good once
  std::uint64_t game = 0;  ///< as on the server
  /// For a token that is shown again because it is not known whether it was taken: the same as before
  /// (SecretKey::make()), by which the server knows that it is the same client. Empty: drawn, and not told.
  SecretKey secret{};
};

/// As whom a token lets its client in.
struct ClientIdentity {
  std::uint64_t client_id = 0;                                  ///< the backend's name for the client
  std::array<std::byte, ConnectGrant::kUserBytes> user_data{};  ///< as the backend put it into the token
};

/// Where ENet's memory comes from: its hosts, peers and packets. `allocate` gives null when there is none
/// left, which ends the process, as in all of ENet. Called by whoever calls a transport, on any thread.
struct EnetAllocator {
  /// As malloc.
  void* (*allocate)(std::size_t bytes) = nullptr;
  /// As free.
  void (*release)(void* memory) = nullptr;
};

/// Sets it for the whole process, ENet of the game's own included; malloc and free by default. All else that
/// Reckoner allocates comes from C++'s operator new, which a game may replace. False, and no change, while
/// there is an ENet transport, or if a function is missing.
[[nodiscard]] RECKONER_NET_API bool set_enet_allocator(const EnetAllocator& allocator);

/// How a listening ENet transport is set up.
struct EnetListenConfig {
  std::string host;        ///< address to listen on; empty: every IPv4 address of the machine
  std::uint16_t port = 0;  ///< UDP port; 0: any free one, see EnetTransport::port()
  std::uint32_t max_peers =
      64;  ///< connections at once, at most 4095 (ENet's own limit); ShardedTransport: more
  OrInsecure<ServerSecurity> security;  ///< whom it lets in, or Insecure{}: anybody, and nothing is sealed
  TransportLimits limits{};             ///< of what peers may send; ShardedTransport: of each host
  LogSink log{};                        ///< where it says what happens; empty: nowhere
};

/// What of it makes no sense, as far as that can be told without the network. Nothing: all is well.
[[nodiscard]] RECKONER_NET_API std::optional<Error> fault_in(const EnetListenConfig& config);

/// Transport over ENet and UDP (IPv4). State goes unsequenced and unreliable, control reliable. ENet's
/// throttle is held open so that it never drops state, a state payload that ENet would turn into reliable
/// fragments is refused, and an error of one peer's never keeps the others from being served. Datagrams that
/// no Reckoner sends are refused before ENet sees them, and counted.
///
/// A peer that sent nothing for 10 s is gone (reason 0), and so is one that takes no control messages in
/// while 8 MiB wait for it (TransportLimits). A transport that is destroyed tells its peers.
///
/// ENet reads the machine's own clock; `now_s` is not used. One thread at a time; different transports are
/// independent.
class RECKONER_NET_API EnetTransport final : public Transport {
 public:
  /// Opens a socket for clients to connect to. Fails if the port is in use, the address is unknown, a limit
  /// makes no sense, or it is not known which tokens are for this server (ServerSecurity::addresses).
  [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> listen(const EnetListenConfig& config);

  /// Starts to connect to a server; a connected event follows, or a disconnected one after 5 s.
  /// `reason` travels with the request (Reckoner's client puts its protocol version there). Fails at once if
  /// the host name does not resolve. `security` is what the server has: a token, or Insecure{}. `log` is
  /// where it says what happens; empty: nowhere.
  [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> connect(
      const std::string& host, std::uint16_t port, std::uint32_t reason,
      const OrInsecure<ClientSecurity>& security, const LogSink& log = {});

  ~EnetTransport() override;
  EnetTransport(const EnetTransport&) = delete;
  EnetTransport& operator=(const EnetTransport&) = delete;

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, Channel channel, std::span<const std::byte> payload) override;
  [[nodiscard]] std::size_t max_state_bytes(PeerId peer) const override;
  void disconnect(PeerId peer, std::uint32_t reason) override;
  /// As Transport::stats(). Lives as long as the transport.
  [[nodiscard]] const TransportStats& stats() const override;

  /// As whom a peer was let in; nothing without security, or if it is gone.
  [[nodiscard]] std::optional<ClientIdentity> identity(PeerId peer) const;

  /// With what a client may come back, once, without its backend: the newest that the server has given it;
  /// nothing before it is let in. The servers' addresses are not in it.
  [[nodiscard]] std::optional<ConnectToken> ticket() const;

  /// Whether a token lets nobody in any more, by this machine's clock.
  [[nodiscard]] static bool is_expired(const ConnectToken& token);

  /// The IPv4 address of a host in digits, for connecting to it more than once; `host` as it is if it is
  /// unknown.
  [[nodiscard]] static std::string numeric_host(const std::string& host);

  /// The UDP port in use.
  [[nodiscard]] std::uint16_t port() const;

  /// Sends what waits, then sleeps until something arrives, a signal comes or `seconds` have passed. Call
  /// service() next.
  void wait(double seconds);

  /// The socket's descriptor, for waiting for several transports at once; to be neither read nor written.
  [[nodiscard]] std::intptr_t socket() const;

 private:
  friend class ShardedTransport;
  /// One of several on the same port, numbered from 0; `bits`: how many bits of a PeerId tell them apart.
  struct Shard {
    std::uint32_t number = 0;
    int bits = 0;
    std::shared_ptr<secure::UsedTokens> used{};  ///< which all have together
  };
  [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> listen(const EnetListenConfig& config,
                                                                     const Shard& shard);
  [[nodiscard]] static std::shared_ptr<secure::UsedTokens> no_tokens_yet(const ServerSecurity& security);
  bool flush(bool always);  ///< sends what waits; true if events wait or something arrived

  struct Impl;
  explicit EnetTransport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
