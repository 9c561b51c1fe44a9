// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/socket_address.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// How a game message is sent.
enum class Delivery : std::uint8_t {
  reliable,    ///< always arrives, in the order of sending; arrives late if the connection loses data
  unreliable,  ///< never waits for other messages; may be lost or arrive in another order
  /// Always arrives, exactly once, and does not wait for other messages. A later message may arrive before
  /// it. A `reliable` message still arrives after all messages of both reliable kinds that were sent before
  /// it.
  reliable_unordered,
};

/// Maximum sizes of game messages, bytes. The limit for unreliable messages is lower, because an unreliable
/// message shares one datagram with motions.
inline constexpr std::size_t kMaxReliableBytes = 16 * 1024;
inline constexpr std::size_t kMaxUnreliableBytes = 1000;

/// Maximum size of the game's data in the spawn of a short-lived entity, bytes.
inline constexpr std::size_t kMaxSpawnDataBytes = 256;

[[nodiscard]] constexpr std::size_t max_message_bytes(Delivery delivery) {
  return delivery == Delivery::unreliable ? kMaxUnreliableBytes : kMaxReliableBytes;
}

/// Largest absolute value of a message's time stamp, in either direction. Time stamps are server time, s.
inline constexpr double kMaxStamp = 1e12;
[[nodiscard]] constexpr bool is_valid_stamp(double time_s) {
  return time_s >= -kMaxStamp && time_s <= kMaxStamp;  // false for NaN
}

/// A message from the game at the other end. Reckoner does not check the payload. The game must check it,
/// because the sender may be hostile.
struct GameMessage {
  /// On the server, this is the client that sent the message. On a client it is null, because the server sent
  /// the message.
  ClientId sender;
  std::span<const std::byte> payload{};  ///< at least 1 byte; valid until the next call of poll_message()
  std::optional<double> time_s;          ///< time stamp that the sender set, server time, s; nullopt: none
};

/// Version of the wire format. It increases with every change after which an older build would misread the
/// data. A version number is never used again.
inline constexpr std::uint16_t kProtocolVersion = 15;

/// Maximum size of a datagram that a Transport carries, bytes. With all headers, it is smaller than every
/// common path MTU.
inline constexpr std::size_t kMaxDatagramBytes = 1200;

/// Maximum size of the reason that a kicked player is told (Server::kick()), bytes.
inline constexpr std::size_t kMaxKickReasonBytes = 255;

/// An event of a transport.
struct TransportEvent {
  /// Type of the event.
  enum class Kind : std::uint8_t {
    connected,     ///< both ends can send from now on
    disconnected,  ///< the connection ended or could not be established
    received,      ///< a datagram arrived
  };

  Kind kind = Kind::received;  ///< type of the event
  PeerId peer;                 ///< the connection
  /// Number that the other end sent. connected, at a server: the protocol version of the client; 0: unknown.
  /// disconnected: the reason.
  std::uint32_t reason = 0;
  std::span<const std::byte> payload{};  ///< received data; valid until the next call on the transport
  /// How long a received datagram waited in this machine before service() read it, s. A client that calls
  /// update() once per picture needs this time to estimate the server's clock exactly. 0: unknown. "udp"
  /// knows it for clients on Linux; every NetworkTransport knows it everywhere if it has a receive thread.
  double waited_s = 0.0;
};

/// Counters of a transport since its creation.
struct TransportStats {
  std::uint64_t datagrams_sent = 0;          ///< UDP datagrams, including those without a payload
  std::uint64_t datagrams_received = 0;      ///< UDP datagrams, including those without a payload
  std::uint64_t payload_bytes_sent = 0;      ///< bytes passed to send()
  std::uint64_t payload_bytes_received = 0;  ///< bytes returned by poll()
  /// Bytes, including the headers of the transport, of UDP (8 bytes) and of IP (IPv4: 20 bytes, IPv6: 40).
  std::uint64_t wire_bytes_sent = 0;
  std::uint64_t wire_bytes_received = 0;  ///< bytes, with the same headers as wire_bytes_sent
  std::uint64_t refused = 0;  ///< payloads and datagrams that were refused: on arrival, or by send()
  RefusalCounts refusals;     ///< number of refusals for each reason; their sum is `refused`
  /// How often a peer moved to another address, proved that it uses this address and continued.
  std::uint64_t address_changes = 0;
  /// Number of challenges that a server of the transport "udp" has sent. Each answers one request to join. A
  /// flood of requests with forged addresses shows here.
  std::uint64_t challenges = 0;
  /// Number of datagrams that the operating system dropped. It drops empty and overlong datagrams, and every
  /// datagram that arrives while the receive buffer is full. 0 if the system does not report this number.
  std::uint64_t system_drops = 0;
  std::uint64_t service_errors = 0;  ///< errors of the socket or of one peer; other peers are not affected

  /// Adds one refusal to `refused` and `refusals`.
  void refuse(Refusal why) {
    ++refused;
    ++refusals[why];
  }
  /// Adds each counter of `other`.
  TransportStats& operator+=(const TransportStats& other) {
    datagrams_sent += other.datagrams_sent;
    datagrams_received += other.datagrams_received;
    payload_bytes_sent += other.payload_bytes_sent;
    payload_bytes_received += other.payload_bytes_received;
    wire_bytes_sent += other.wire_bytes_sent;
    wire_bytes_received += other.wire_bytes_received;
    refused += other.refused;
    refusals += other.refusals;
    address_changes += other.address_changes;
    challenges += other.challenges;
    system_drops += other.system_drops;
    service_errors += other.service_errors;
    return *this;
  }
};

/// The login of a peer, and the host that the peer uses. A server needs it to limit how many sessions one
/// player has, and to keep out a player whom the game has kicked. Copy it: it stays useful after the
/// connection has ended.
struct PeerLogin {
  /// The backend's number for the client (ConnectGrant::client_id). Nullopt if the peer needed no token.
  std::optional<std::uint64_t> client_id{};
  std::array<std::byte, 16> id{};  ///< equal for a token and all its tickets; zeros without a token
  /// How many sessions the client id may have at once (ServerSecurity::sessions_per_client). 0: any number.
  /// The client id then does not identify a player.
  std::uint32_t sessions_per_client = 0;
  /// Number of the entrance: 0 for the transport of a game, 1 for the live view of reckoner-server. The
  /// sessions of a client id are counted separately for each.
  std::uint8_t entrance = 0;
  /// True: revoke_login() has made the login invalid while the peer was connecting. Do not let the peer join.
  bool is_revoked = false;
  /// The host that limits count (IpAddress::limited_host()). Unspecified if the transport does not know it.
  IpAddress host{};

  /// Returns true if both have one token, or tickets that descend from one token.
  [[nodiscard]] bool is_same_login(const PeerLogin& other) const {
    return client_id && client_id == other.client_id && id == other.id;
  }
  /// Returns true if both belong to one player. False if client ids do not identify players.
  [[nodiscard]] bool is_same_player(const PeerLogin& other) const {
    return client_id && client_id == other.client_id && sessions_per_client > 0;
  }
};

/// Carries datagrams between a server and its clients, and nothing else. A datagram may be lost, repeated or
/// overtaken by another one; everything that must arrive is sent again by the caller. A caller does not need
/// to know which implementation it uses. Not thread-safe. No function throws.
class RECKONER_NET_API Transport {
 public:
  virtual ~Transport() = default;

  /// Advances the time to `now_s`, sends queued data and reads the data that has arrived. `now_s` is the time
  /// of any monotonic clock, s. A transport over real sockets may ignore it and read the machine's clock.
  virtual void service(double now_s) = 0;

  /// Removes and returns the oldest waiting event. Returns nullopt if no event waits.
  [[nodiscard]] virtual std::optional<TransportEvent> poll() = 0;

  /// Queues a datagram for sending. Returns false and sends nothing if the peer is no longer connected or if
  /// the size is not allowed. A datagram of 1 to max_datagram_bytes() is allowed. A larger one, up to
  /// kMaxDatagramBytes, is passed only for a message of the game that needs it. A queued datagram may be
  /// lost.
  virtual bool send(PeerId peer, std::span<const std::byte> datagram) = 0;

  /// Returns the size of the largest datagram to this peer, bytes; at most kMaxDatagramBytes. 0 if the peer
  /// is not connected.
  [[nodiscard]] virtual std::size_t max_datagram_bytes(PeerId peer) const = 0;

  /// True if datagrams to and from this peer never overtake each other, as on a stream. One that takes
  /// long is then still in flight, until a later one has arrived. By default false.
  [[nodiscard]] virtual bool is_ordered(PeerId peer) const {
    (void)peer;
    return false;
  }

  /// Ends a connection. The other end receives `reason`, unless the network loses it. When the connection is
  /// closed, poll() returns a disconnected event with the reason 0.
  virtual void disconnect(PeerId peer, std::uint32_t reason) = 0;

  /// Returns the login of a connected peer. The default knows nothing and returns an empty login.
  [[nodiscard]] virtual PeerLogin login(PeerId peer) const {
    (void)peer;
    return {};
  }

  /// Makes a login invalid, also one whose peer is no longer connected. Its token and its tickets admit
  /// nobody any more. If the client id identifies a player, this applies to everything that the backend has
  /// issued for the client id until now, whether it was used or not; what the backend issues later is valid.
  /// Existing connections continue: call disconnect() for them. Without tokens, and by default, this does
  /// nothing.
  virtual void revoke_login(const PeerLogin& login) { (void)login; }

  /// Returns why a client cannot reach its server, if this machine knows, for example because the server's
  /// name has no address, or because the server uses another transport. The text is a part of a sentence, for
  /// use in an error message; Client::refusal() contains it. Empty if nothing is known, and by default.
  [[nodiscard]] virtual std::string problem() const { return {}; }

  /// Returns the counters since the transport was created. The reference is valid as long as the transport.
  [[nodiscard]] virtual const TransportStats& stats() const = 0;

 protected:
  Transport() = default;
  /// Copies the base class. Only a derived class can call it.
  Transport(const Transport&) = default;
  /// Assigns the base class. Only a derived class can call it.
  Transport& operator=(const Transport&) = default;
};

/// Limits on the traffic from peers. Traffic above a limit is dropped and counted (TransportStats::refusals);
/// other peers are not affected. A game client that sends its motions and messages 60 times a second uses
/// less than a tenth of the default rates. The byte rates include the headers of the transport. For the
/// four rates, 0 means that there is no limit. The other limits must not be 0.
struct TransportLimits {
  double datagrams_per_second = 2000.0;   ///< maximum rate of datagrams from one peer, 1/s
  double bytes_per_second = 1'000'000.0;  ///< maximum rate of bytes from one peer, B/s
  /// Maximum total rate of datagrams from all peers with one address, 1/s. A household or a school
  /// behind a NAT has one IPv4 address. All of an IPv6 /64 counts as one address.
  double address_datagrams_per_second = 8000.0;
  /// Maximum total rate of bytes from all peers with one address (IPv6: one /64), B/s.
  double address_bytes_per_second = 4'000'000.0;
  /// Maximum size of a burst, given as the time that the burst would take at the full rate, s. For example, a
  /// burst arrives when a stalled connection works again.
  double burst_s = 2.0;
  /// Maximum number of events that wait for poll(). At the limit, service() stops reading from the socket.
  std::size_t waiting_events = 64 * 1024;
  /// Maximum total payload of the events that wait for poll(), bytes. The last message may exceed it. With
  /// the default, 32 peers can each send at the maximum rate for one second.
  std::size_t waiting_event_bytes = 32 * 1024 * 1024;
  /// Maximum time without data from a peer, s. After this time, the peer is disconnected. Reckoner's clients
  /// send at least four times a second.
  double silence_s = 10.0;
};

/// Returns an error for the first invalid limit, or nullopt if all are valid. A limit is invalid if it is not
/// finite or outside its valid range.
[[nodiscard]] RECKONER_NET_API std::optional<Error> find_invalid_setting(const TransportLimits& limits);

}  // namespace reckoner
