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

/// Version of the wire format. Every change that an older build would misread raises it; no number is reused.
inline constexpr std::uint16_t kProtocolVersion = 7;

/// The largest state datagram that is ever sent, bytes: below every usual path MTU with all headers on top.
inline constexpr std::size_t kMaxStateBytes = 1200;

/// The largest message that the control channel carries, bytes. A larger one is refused at both ends.
inline constexpr std::size_t kMaxControlBytes = 32 * 1024;

enum class Channel : std::uint8_t {
  control = 0,  ///< reliable and in order
  state = 1,    ///< may be lost, repeated or overtaken; never delayed for another's sake
};

/// Something that happened on a transport.
struct TransportEvent {
  /// What happened.
  enum class Kind : std::uint8_t {
    connected,     ///< both ends can send from now on
    disconnected,  ///< neither can any more, or the connection never came about
    received,      ///< a payload arrived
  };

  Kind kind = Kind::received;            ///< what happened
  PeerId peer;                           ///< on whose connection
  Channel channel = Channel::state;      ///< of a received payload
  std::uint32_t reason = 0;              ///< of a connect or a disconnect: the number that the other end gave
  std::span<const std::byte> payload{};  ///< valid until the next call on the transport
};

/// What a transport counted since it was made.
struct TransportStats {
  std::uint64_t datagrams_sent = 0;          ///< as the network sees them (UDP), the transport's own included
  std::uint64_t datagrams_received = 0;      ///< the same the other way
  std::uint64_t payload_bytes_sent = 0;      ///< as handed to send()
  std::uint64_t payload_bytes_received = 0;  ///< as poll() gave them out
  std::uint64_t wire_bytes_sent = 0;         ///< with the headers of the transport, UDP and IPv4
  std::uint64_t wire_bytes_received = 0;     ///< the same the other way
  std::uint64_t refused = 0;                 ///< payloads and datagrams that were not taken in, or not sent
  RefusalCounts refusals;                    ///< the same by reason
  std::uint64_t address_changes = 0;         ///< peers that proved to be at another address, and went on
  /// Datagrams that the system dropped before they came here: empty ones, such as are too long, and all that
  /// came while its buffer was full. 0 where it does not tell.
  std::uint64_t system_drops = 0;
  std::uint64_t service_errors = 0;  ///< errors of the socket or of one peer; the others go on

  /// Counts something that was not taken in, in both counts.
  void refuse(Refusal why) {
    ++refused;
    ++refusals[why];
  }
  /// Adds field by field.
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

/// Carries payloads between a server and its clients. One implementation runs over ENet, others in virtual
/// time; nobody above can tell which. An instance belongs to one thread at a time. Nothing throws.
class RECKONER_NET_API Transport {
 public:
  virtual ~Transport() = default;

  /// Moves time on to `now_s`, sends what waits and takes in what has arrived. Seconds on any clock that
  /// never goes back; a transport over real sockets may read its own.
  virtual void service(double now_s) = 0;

  /// The next event, oldest first, or nothing.
  [[nodiscard]] virtual std::optional<TransportEvent> poll() = 0;

  /// Hands a payload over for sending. False if the peer is gone or the payload is larger than the channel
  /// carries: nothing was sent then. True promises no delivery on the state channel.
  virtual bool send(PeerId peer, Channel channel, std::span<const std::byte> payload) = 0;

  /// Largest payload that the state channel takes to this peer, bytes, at most kMaxStateBytes.
  [[nodiscard]] virtual std::size_t max_state_bytes(PeerId peer) const = 0;

  /// Ends a connection after what was sent reliably has arrived. The other end is told `reason`; a
  /// disconnected event follows here when it is over.
  virtual void disconnect(PeerId peer, std::uint32_t reason) = 0;

  /// What was counted since it was made. Lives as long as the transport.
  [[nodiscard]] virtual const TransportStats& stats() const = 0;

 protected:
  Transport() = default;
  /// For those that derive from it.
  Transport(const Transport&) = default;
  /// The same.
  Transport& operator=(const Transport&) = default;
};

/// What peers may make a server take in. What exceeds it is dropped, and counted (TransportStats::refusals);
/// others do not notice. What a game's clients send at 60 frames a second with motions of their own and
/// messages stays below a tenth of the defaults. Rates count datagrams as they arrive, with ENet's and our
/// own headers; 0: no limit.
struct TransportLimits {
  double datagrams_per_second = 2000.0;   ///< of one peer
  double bytes_per_second = 1'000'000.0;  ///< of one peer
  /// Of all peers at one IPv4 address together: a household, a school behind a NAT.
  double address_datagrams_per_second = 8000.0;
  double address_bytes_per_second = 4'000'000.0;  ///< the same in bytes
  double burst_s = 2.0;  ///< so many seconds' worth may come at once, after a link stood still
  /// The largest control message that is taken in, bytes, and with it the number of fragments; at most
  /// kMaxControlBytes.
  std::size_t message_bytes = kMaxControlBytes;
  /// Of one peer: what arrived and waits for something that was lost, bytes; then it is given up, as what is
  /// missing could not be taken in any more. A peer of Reckoner's has sent
  /// no more than 128 KiB beyond what is missing.
  std::size_t waiting_bytes = 512 * 1024;
  /// Of one peer: control messages that it does not acknowledge, bytes; then it is given up.
  std::size_t backlog_bytes = 8 * 1024 * 1024;
  /// Events that wait to be polled; then nothing more is read from the socket.
  std::size_t waiting_events = 64 * 1024;
  /// The same by what they carry, bytes; one more may come, as long as a message. A second's worth of 32
  /// peers that send all they may.
  std::size_t waiting_event_bytes = 32 * 1024 * 1024;
  /// A peer that sent nothing for so long is gone, s, from 1 to 3600. Clients of Reckoner's speak four times
  /// a second.
  double silence_s = 10.0;
};

/// What of them makes no sense: not finite, negative, or no room for anything. Nothing: all is well.
[[nodiscard]] RECKONER_NET_API std::optional<Error> fault_in(const TransportLimits& limits);

}  // namespace reckoner
