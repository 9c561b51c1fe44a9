// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// How a game message is sent.
enum class Delivery : std::uint8_t {
  reliable,    ///< arrives in the order of sending; late on a bad link
  unreliable,  ///< arrives without waiting for other messages or not at all; the order may change
};

/// Maximum sizes of game messages, bytes. An unreliable message shares a datagram with motions.
inline constexpr std::size_t kMaxReliableBytes = 16 * 1024;
inline constexpr std::size_t kMaxUnreliableBytes = 1000;

[[nodiscard]] constexpr std::size_t max_message_bytes(Delivery delivery) {
  return delivery == Delivery::reliable ? kMaxReliableBytes : kMaxUnreliableBytes;
}

/// Largest absolute time stamp of a message, in either direction: server time, s.
inline constexpr double kMaxStamp = 1e12;
[[nodiscard]] constexpr bool is_valid_stamp(double time_s) {
  return time_s >= -kMaxStamp && time_s <= kMaxStamp;  // false for NaN
}

/// A message from the game at the other end. Reckoner does not interpret the payload, and the game must not
/// trust it.
struct GameMessage {
  /// On the server: the sending client; on a client: null, because the server is the sender.
  ClientId sender;
  std::span<const std::byte> payload{};  ///< at least 1 byte; valid until the next call of poll_message()
  std::optional<double> time_s;          ///< server time stamp from the sender, s; nullopt: none
};

/// Version of the wire format. It increases with every change that an older build would misread. Numbers are
/// never reused.
inline constexpr std::uint16_t kProtocolVersion = 7;

/// Maximum size of a state datagram, bytes. With all headers it is below every common path MTU.
inline constexpr std::size_t kMaxStateBytes = 1200;

/// Maximum size of the reason that a kicked player is told (Server::kick()), bytes.
inline constexpr std::size_t kMaxKickReasonBytes = 255;

/// Maximum size of a message on the control channel, bytes. Both ends refuse a larger one.
inline constexpr std::size_t kMaxControlBytes = 32 * 1024;

enum class Channel : std::uint8_t {
  control = 0,  ///< reliable and ordered
  state = 1,    ///< may be lost, repeated or reordered; never waits for other data
};

/// An event of a transport.
struct TransportEvent {
  /// Type of the event.
  enum class Kind : std::uint8_t {
    connected,     ///< both ends can send from now on
    disconnected,  ///< the connection ended or could not be established
    received,      ///< a payload arrived
  };

  Kind kind = Kind::received;            ///< type of the event
  PeerId peer;                           ///< the connection
  Channel channel = Channel::state;      ///< channel of a received payload
  std::uint32_t reason = 0;              ///< connected, disconnected: the number that the other end sent
  std::span<const std::byte> payload{};  ///< received data; valid until the next call on the transport
  /// How long a received state payload waited in the machine before service() read it, s. A client that
  /// calls receive() once per frame needs this for an exact clock. 0: unknown.
  double waited_s = 0.0;
};

/// Counters of a transport since its creation.
struct TransportStats {
  std::uint64_t datagrams_sent = 0;          ///< UDP datagrams, including the transport's own
  std::uint64_t datagrams_received = 0;      ///< UDP datagrams, including the transport's own
  std::uint64_t payload_bytes_sent = 0;      ///< bytes passed to send()
  std::uint64_t payload_bytes_received = 0;  ///< bytes returned by poll()
  std::uint64_t wire_bytes_sent = 0;         ///< bytes with the headers of the transport, UDP and IPv4
  std::uint64_t wire_bytes_received = 0;     ///< bytes with the headers of the transport, UDP and IPv4
  std::uint64_t refused = 0;          ///< payloads and datagrams that were refused on arrival or not sent
  RefusalCounts refusals;             ///< `refused`, by reason
  std::uint64_t address_changes = 0;  ///< peers that continued after they proved a new address
  /// Datagrams that the operating system dropped: empty or overlong ones, and all that arrived while its
  /// receive buffer was full. 0 if the system does not report this number.
  std::uint64_t system_drops = 0;
  std::uint64_t service_errors = 0;  ///< errors of the socket or of one peer; the other peers continue

  /// Counts a refusal, in `refused` and `refusals`.
  void refuse(Refusal why) {
    ++refused;
    ++refusals[why];
  }
  /// Adds the counters.
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
    system_drops += other.system_drops;
    service_errors += other.service_errors;
    return *this;
  }
};

/// Carries payloads between a server and its clients. One implementation uses ENet; others run in virtual
/// time, and their callers cannot tell the difference. Not thread-safe. No function throws.
class RECKONER_NET_API Transport {
 public:
  virtual ~Transport() = default;

  /// Advances the time to `now_s`, sends queued data and receives arrived data. `now_s` is in seconds on any
  /// monotonic clock; a transport over real sockets may read its own clock.
  virtual void service(double now_s) = 0;

  /// Returns the oldest event, or nullopt.
  [[nodiscard]] virtual std::optional<TransportEvent> poll() = 0;

  /// Queues a payload for sending. Returns false and sends nothing if the peer is gone or the payload is
  /// larger than the channel allows. On the state channel, true does not guarantee delivery.
  virtual bool send(PeerId peer, Channel channel, std::span<const std::byte> payload) = 0;

  /// Maximum size of a state payload to this peer, bytes; at most kMaxStateBytes.
  [[nodiscard]] virtual std::size_t max_state_bytes(PeerId peer) const = 0;

  /// Ends a connection after all queued reliable data has arrived. The other end receives `reason`. A
  /// disconnected event follows here when the connection is closed.
  virtual void disconnect(PeerId peer, std::uint32_t reason) = 0;

  /// Makes the token and all tickets void with which the peer was admitted: it cannot connect with them again.
  /// Call it before disconnect(). Without tokens it does nothing.
  virtual void revoke_login(PeerId peer) { (void)peer; }

  /// Counters since the transport was created. Valid as long as the transport.
  [[nodiscard]] virtual const TransportStats& stats() const = 0;

 protected:
  Transport() = default;
  /// For derived classes.
  Transport(const Transport&) = default;
  /// For derived classes.
  Transport& operator=(const Transport&) = default;
};

/// Limits on the traffic from peers. Traffic above a limit is dropped and counted (TransportStats::refusals);
/// other peers are not affected. A game client that sends 60 times a second, with its own motions and
/// messages, stays below a tenth of the defaults. Rates count arriving datagrams with the headers of ENet and
/// Reckoner. 0: no limit.
struct TransportLimits {
  double datagrams_per_second = 2000.0;   ///< from one peer, 1/s
  double bytes_per_second = 1'000'000.0;  ///< from one peer, B/s
  /// From all peers at one IPv4 address together (for example a household or a school behind a NAT), 1/s.
  double address_datagrams_per_second = 8000.0;
  double address_bytes_per_second = 4'000'000.0;  ///< from all peers at one IPv4 address together, B/s
  double burst_s = 2.0;  ///< burst size, in seconds at the full rate; for links that stalled
  /// Maximum size of a received control message, bytes; also limits its number of fragments. At most
  /// kMaxControlBytes.
  std::size_t message_bytes = kMaxControlBytes;
  /// Maximum data of one peer, in bytes, that arrived but waits for a lost packet. A peer that exceeds it is
  /// disconnected, because the missing data could no longer be received. A Reckoner peer sends at most 128
  /// KiB beyond a missing packet.
  std::size_t waiting_bytes = 512 * 1024;
  /// Maximum control data that one peer has not acknowledged, bytes. A peer that exceeds it is disconnected.
  std::size_t backlog_bytes = 8 * 1024 * 1024;
  /// Maximum number of events waiting for poll(). At the limit, no more data is read from the socket.
  std::size_t waiting_events = 64 * 1024;
  /// Maximum payload bytes of the events waiting for poll(). One more message may exceed it. The default
  /// holds one second of data from 32 peers that send at their limits.
  std::size_t waiting_event_bytes = 32 * 1024 * 1024;
  /// A peer that sends nothing for this time is disconnected, s. Reckoner's clients send at least
  /// four times a second.
  double silence_s = 10.0;
};

/// Returns the first invalid limit (not finite, negative, or too small for any data), or nullopt.
[[nodiscard]] RECKONER_NET_API std::optional<Error> find_invalid_setting(const TransportLimits& limits);

}  // namespace reckoner
