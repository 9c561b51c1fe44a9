// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/pipe_path.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/socket_address.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// Identifies a stream of a PipeServer, for example one WebSocket. The game chooses the numbers. A number may
/// be used again after PipeServer::closed().
using StreamId = std::uint64_t;

/// The decision about a client that wants to join over a stream.
struct Admission {
  /// Why the client is refused. Nullopt: it is admitted.
  std::optional<Refusal> refusal{};
  /// Login of an admitted client. Empty: nothing is known of the client, so that kicks and limits for players
  /// do not apply to it. The PipeServer adds the host, and asks PipeGate::is_revoked().
  PeerLogin login{};
  /// Content of the client's token. Nullopt if it needed none.
  std::optional<ClientIdentity> identity{};
  /// Number by which PipeGate::next_replaced() names the client. 0: it never does.
  std::uint32_t session = 0;
};

/// Decides which clients a PipeServer admits. For connect tokens, use TokenGate::pipe_gate(). A game with
/// logins of its own supplies these functions itself. They must neither throw nor call the PipeServer.
struct PipeGate {
  /// Admits or refuses the client of a stream. `token` is what the client presents: the bytes of a token, or
  /// nothing. They are untrusted. `host` is the address of the other end. Required.
  std::function<Admission(std::span<const std::byte> token, const IpAddress& host)> admit;
  /// True if the login of an admitted client is no longer valid. Empty: never.
  std::function<bool(const PeerLogin& login)> is_revoked{};
  /// Makes a login invalid (Transport::revoke_login()). Empty: kicked players can come back.
  std::function<void(const PeerLogin& login)> revoke{};
  /// Returns Admission::session of a client whose place a newer login has taken; the PipeServer ends its
  /// connection. Returns each once, and then nullopt. Empty: no login takes another one's place.
  std::function<std::optional<std::uint32_t>()> next_replaced{};
};

/// What a PipeServer does with the streams, which belong to the game. The functions must neither throw nor
/// call the PipeServer.
struct PipeStreams {
  /// Queues a message on a stream; it must not wait. `may_drop`: on a slow stream, drop the message rather
  /// than let the queue grow, because motions that wait are old when they arrive. Other messages must be
  /// kept; a stream gets at most three of them. Returns false if the message was dropped. Required.
  std::function<bool(StreamId stream, std::span<const std::byte> message, bool may_drop)> send;
  /// Closes a stream after its queued messages are sent. Calling closed() afterwards has no effect. Required.
  std::function<void(StreamId stream)> close;
};

/// Settings of a PipeServer.
struct PipeServerConfig {
  /// Maximum number of streams at once, from 1 to 65 535. Streams whose client has not joined count, too.
  std::size_t max_peers = 64;
  /// Maximum number of streams at once from one address, from 1 to 65 535. A /64 network of IPv6 counts as
  /// one address. A household or a school behind a NAT has one IPv4 address.
  std::size_t max_peers_per_host = 16;
  double join_s = 5.0;  ///< a stream that has not joined after this time is closed, from 0.1 to 60 s
  /// Limits on the traffic from peers. silence_s closes a stream on which nothing arrives.
  TransportLimits limits{};
};

/// Returns an error for the first invalid setting, or nullopt if all are valid.
[[nodiscard]] RECKONER_NET_API std::optional<Error> find_invalid_setting(const PipeServerConfig& config);

/// A server's transport over ordered and reliable streams of messages that the game owns, such as WebSockets.
/// It is the counterpart of PipeTransport. To serve clients over UDP, too, use a JoinedTransport.
///
/// The game accepts streams and calls opened(), received() and closed(); the transport sends and closes by
/// PipeStreams. A peer connects when its stream has presented a valid request to join and PipeGate has
/// admitted it. Nothing is encrypted here: use streams with TLS, because tokens are sent as they are. What a
/// hostile client sends is refused and counted, and the stream of a client that goes on is closed.
///
/// Reads no clock: all times are of the clock that the game passes to Server::receive(). Belongs to one
/// thread at a time.
class RECKONER_NET_API PipeServer final : public Transport {
 public:
  /// Size of the largest valid message of a client, bytes. A WebSocket can refuse larger ones before it reads
  /// them.
  static constexpr std::size_t kMaxMessageBytes = 1 + kMaxDatagramBytes;
  static constexpr std::size_t kMaxStatusBytes = 16 * 1024;  ///< size of the largest status text, bytes

  /// Creates a server without streams. Fails if a setting is invalid. `streams` and `gate` must have the
  /// functions that are required.
  [[nodiscard]] static Result<PipeServer> create(const PipeServerConfig& config, PipeStreams streams,
                                                 PipeGate gate);
  ~PipeServer() override;
  /// Takes over the peers of another server, which must not be used any more.
  PipeServer(PipeServer&&) noexcept;
  /// Moves another server into this one.
  PipeServer& operator=(PipeServer&&) noexcept;

  /// A stream is open. `host` is the address of its other end. Returns false if there are too many streams,
  /// in all or from this address, or if the id is in use: the game then closes the stream.
  [[nodiscard]] bool opened(StreamId stream, const IpAddress& host, double now_s);
  /// A whole message has arrived on a stream, `waited_s` before `now_s`. Its bytes are copied. Without effect
  /// if the stream is unknown or was closed.
  void received(StreamId stream, std::span<const std::byte> message, double now_s, double waited_s = 0.0);
  /// From now on, the datagrams of a stream travel in another way, for example over an unreliable data
  /// channel of the browser beside its WebSocket. Messages for which `may_drop` is false must still travel
  /// over the stream. Without effect if the stream is unknown or was closed.
  void set_path(StreamId stream, const PipePath& path);
  /// A stream has ended. Without effect if it is unknown or was closed.
  void closed(StreamId stream);
  /// Adds data that the game itself has refused to the counters, for example a frame that is too large.
  void refused(Refusal why);

  /// Sends a status text (UTF-8) to every peer, for PipeTransport::status(). Slow peers may miss it. A peer
  /// that joins later gets the newest text at once. Without effect above kMaxStatusBytes.
  void send_status(std::string_view text);

  /// Returns the number of streams, including those whose client has not joined.
  [[nodiscard]] std::size_t streams() const;
  /// Returns what the token of a peer says. Nullopt if the peer needed no token or is no longer connected.
  [[nodiscard]] std::optional<ClientIdentity> identity(PeerId peer) const;

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, std::span<const std::byte> datagram) override;
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId peer) const override;
  [[nodiscard]] bool is_ordered(PeerId peer) const override;
  void disconnect(PeerId peer, std::uint32_t reason) override;
  [[nodiscard]] PeerLogin login(PeerId peer) const override;
  void revoke_login(const PeerLogin& login) override;
  [[nodiscard]] const TransportStats& stats() const override;

 private:
  struct Impl;
  explicit PipeServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
