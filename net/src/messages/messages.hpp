// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/route_codec.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

inline constexpr std::size_t kMaxNameBytes = 64;

/// Why a connection was refused or ended; travels as the low byte of a disconnect's reason.
enum class EndReason : std::uint8_t {
  none = 0,             ///< the other end was lost
  version = 1,          ///< protocol versions differ; the server's is in `detail`
  archetypes = 2,       ///< archetypes were declared differently
  full = 3,             ///< no more clients are taken
  malformed = 4,        ///< what was sent makes no sense
  join_timeout = 5,     ///< connected, but never asked to join
  server_shutdown = 6,  ///< the server goes down on purpose
  left = 7,             ///< the client left on purpose, and will not come back to this session
  replaced = 8,         ///< the same client has joined anew, with a newer token or ticket
};

/// A reason with a number that explains it, as it travels in 32 bits.
struct EndCode {
  EndReason reason = EndReason::none;  ///< why
  std::uint32_t detail = 0;            ///< at most 24 bits
};
[[nodiscard]] RECKONER_NET_API std::uint32_t pack(const EndCode& code);
[[nodiscard]] RECKONER_NET_API EndCode unpack_end_code(std::uint32_t packed);

/// One line for a person.
[[nodiscard]] RECKONER_NET_API std::string describe(const EndCode& code);

/// Client to server, first of all: may I come in? The version stands first in every version of this message.
struct JoinMessage {
  std::uint16_t version = kProtocolVersion;  ///< of the protocol, as the client speaks it
  std::uint32_t archetype_hash = 0;          ///< archetype_hash() of the client's
  bool shows_past = false;  ///< buffered mode: what it is sent is interpolated, not predicted from
  double blend_s = 0.0;     ///< how long a correction takes, 0 to kMostBlendS
};
inline constexpr double kMostBlendS = 600.0;

/// Tolerances, limits and codes of one archetype, as the server has set them.
struct ArchetypeLimits {
  double threshold_m = 0.0;    ///< m, > 0
  double threshold_rad = 0.0;  ///< rad, > 0
  double max_speed_mps = 0.0;  ///< m/s, > 0
  double world_size_m = 0.0;   ///< m, > 0
  CodeParameters codes;        ///< of residuals
};

/// Server to client: you are in. Everything that decoding depends on.
struct WelcomeMessage {
  ClientId client;             ///< as whom the server knows the one it welcomes
  double tick_rate_hz = 0.0;   ///< of the server, 1 to 1000
  double epoch_s = 0.0;        ///< server time of tick 0
  Tick tick = 0;               ///< the last that ran
  double longest_gap_s = 0.0;  ///< between updates, that a client in buffered mode should be able to bridge
  bool rewinds = false;        ///< the client is to say what it shows (ShowingReport)
  std::vector<ArchetypeLimits> archetypes;  ///< in the order of their declaration
};

/// Server to client: an entity begins, with its first motion.
struct SpawnMessage {
  EntityId entity;                    ///< which begins
  std::uint8_t archetype = 0;         ///< number of its kind
  std::string name;                   ///< at most kMaxNameBytes
  Tick tick = 0;                      ///< when this client is told; the motion may be older
  Tick motion_tick = 0;               ///< time stamp of the motion
  std::uint8_t level = 0;             ///< of detail, that the motion was published at
  std::uint8_t orientation_bits = 0;  ///< of the archetype; must match the welcome
  QuantisedState state;               ///< its first motion
  std::vector<std::byte> fields;      ///< the user fields as write_values() has them; empty without fields
};

/// Server to client: an entity has ended.
struct DespawnMessage {
  EntityId entity;  ///< which ends
  Tick tick = 0;    ///< the first at which it is no longer there
};

/// Server to client: a route, before anything that is on it. Its numbers travel as they are, 64 bits each, so
/// that both ends make the same curve: about 1360 points, or 450 TCB keys, fit into a message of
/// kMaxControlBytes; a route with more cannot be sent. What is read has known enumerators, finite numbers and
/// at most kMaxRoutePoints points; whether it makes a route is for Route::make() to say.
struct RouteMessage {
  RouteId route;               ///< ids arrive in order, from 1
  RouteDefinition definition;  ///< of the next route: numbers count up from 1
};

/// Server to client: whose an entity is.
struct OwnershipMessage {
  /// What there is to say of it.
  enum class News : std::uint8_t {
    taken = 0,      ///< it is not the client's any more
    given = 1,      ///< it is the client's, which goes on from `state`
    corrected = 2,  ///< it is, but is somewhere else: `state`
    again = 3,      ///< it is, and says again what it does; viewers_s is news, perhaps
  };
  EntityId entity;                    ///< that it is about
  News news = News::taken;            ///< what there is to say
  std::uint8_t term = 0;              ///< of ownership, below kTerms; new with every gift and correction
  double viewers_s = 0.0;             ///< how long updates take from the server to most who follow it
  Tick motion_tick = 0;               ///< time stamp of the motion; only if given or corrected, as the next
  std::uint8_t orientation_bits = 0;  ///< of the archetype; must match the welcome
  QuantisedState state;               ///< the motion to go on from
};

/// Either way: a reliable message of the game, 1 to kMaxReliableBytes.
struct GameDataMessage {
  std::vector<std::byte> payload;  ///< the game's bytes
  std::optional<double> time_s;    ///< what the sender stamped it with, server time; is_valid_stamp()
};

/// By what a client and a server know a session again when it goes on over another connection. Whoever knows
/// it is taken for the client: 128 bits that nobody guesses.
struct SessionKey {
  std::uint64_t high = 0;  ///< its first 64 bits
  std::uint64_t low = 0;   ///< the others
  /// Bit by bit.
  bool operator==(const SessionKey&) const = default;
  /// False for none.
  [[nodiscard]] explicit operator bool() const { return (high | low) != 0; }
};

/// Server to client, not counted among its messages: the session stands. In front of the welcome, in answer
/// to a resume message, and now and then, so that the client need not keep what has been taken in and may
/// send more (ReliableQueue::kClientWindow).
struct SessionMessage {
  SessionKey key;           ///< of the session; none: the server takes nobody back
  std::uint32_t taken = 0;  ///< reliable messages of the client's that were taken in so far
  Tick tick = 0;            ///< the last that ran
};

/// Client to server, in front of the join message: the session that I had goes on, if it still can. Then the
/// answer is a session message; else the join message is answered, and a new session begins.
struct ResumeMessage {
  ClientId client;          ///< as the welcome said
  SessionKey key;           ///< of the session
  std::uint32_t taken = 0;  ///< messages of the server's that were taken in so far
};

/// Client to server: how it shows others from now on, which at first was as the join message said. The newest
/// counts.
struct PlayoutMessage {
  bool interpolates = false;  ///< from motion to motion; else what is shown follows the newest
  /// It can wait for the end of a gap, and never predicts if all goes well. Only if it interpolates; not yet,
  /// or no more, while it goes over from the present to the past or back.
  bool shows_past = false;
  double blend_s = 0.0;  ///< how long a correction takes, 0 to kMostBlendS
  /// Bit by bit.
  bool operator==(const PlayoutMessage&) const = default;
};

/// Everything that goes over the control channel.
using ControlMessage =
    std::variant<JoinMessage, WelcomeMessage, SpawnMessage, DespawnMessage, RouteMessage, GameDataMessage,
                 OwnershipMessage, SessionMessage, ResumeMessage, PlayoutMessage>;

/// Encodes into `buffer` and returns the bytes used; empty if the buffer is too small.
[[nodiscard]] RECKONER_NET_API std::span<const std::byte> encode(const ControlMessage& message,
                                                                 std::span<std::byte> buffer);

/// Decodes the first of the messages that a payload carries, one after the other, each from a whole byte on,
/// and moves `bytes` on to the next; nothing, and no bytes left, if it is malformed in any way.
[[nodiscard]] RECKONER_NET_API std::optional<ControlMessage> take_control(std::span<const std::byte>& bytes);

/// Whether a message of the server's is among those that both ends count (docs/WIRE.md, 5.5): all are but
/// those that begin a session, or tell of it.
[[nodiscard]] RECKONER_NET_API bool is_counted(const ControlMessage& message);

/// Decodes a payload of just one message; nothing if the bytes are malformed in any way.
[[nodiscard]] RECKONER_NET_API std::optional<ControlMessage> decode_control(std::span<const std::byte> bytes);

/// Follows a pair of 32-bit counters that wrap (UDP payload bytes and datagrams) and makes 64-bit totals of
/// them, with UDP's and IPv4's headers. Must look before a counter has gone all the way round.
class WireCounter {
 public:
  static constexpr std::uint64_t kUdpIpBytes = 28;

  void look(std::uint32_t payload_bytes, std::uint32_t datagrams) {
    // Unsigned differences are right across the wrap.
    const std::uint32_t more_bytes = payload_bytes - std::exchange(payload_bytes_, payload_bytes);
    const std::uint32_t more_datagrams = datagrams - std::exchange(datagrams_, datagrams);
    total_datagrams_ += more_datagrams;
    total_bytes_ += more_bytes + more_datagrams * kUdpIpBytes;
  }

  [[nodiscard]] std::uint64_t datagrams() const { return total_datagrams_; }
  [[nodiscard]] std::uint64_t bytes() const { return total_bytes_; }

 private:
  std::uint32_t payload_bytes_ = 0;
  std::uint32_t datagrams_ = 0;
  std::uint64_t total_datagrams_ = 0;
  std::uint64_t total_bytes_ = 0;
};

// The messages section of a datagram, either way: for every message a set bit, its stamp if it has one, its
// length and its bytes; a clear bit after the last.

/// The messages of one datagram, in one piece of memory that is used again.
struct MessageBatch {
  /// Where a message lies in `bytes`, and the server time that it belongs to, s, if it has one.
  struct Item {
    std::size_t offset = 0;        ///< in `bytes`
    std::size_t size = 0;          ///< of the payload, bytes
    std::optional<double> time_s;  ///< server time that it belongs to, s, if it has one
  };
  std::vector<Item> items;       ///< in the order in which they were written
  std::vector<std::byte> bytes;  ///< all payloads, one behind the other

  /// Forgets the messages and keeps the memory.
  void clear() {
    items.clear();
    bytes.clear();
  }
  /// Of one of `items`. Valid until the batch changes.
  [[nodiscard]] std::span<const std::byte> payload(const Item& item) const {
    return std::span{bytes}.subspan(item.offset, item.size);
  }
};

/// Bits of a message in the section.
[[nodiscard]] RECKONER_NET_API std::size_t message_bits(std::size_t payload_bytes, bool stamped);

/// One message of 1 to kMaxUnreliableBytes, with the set bit before it.
RECKONER_NET_API void write_message(BitWriter& writer, std::span<const std::byte> payload,
                                    std::optional<double> time_s);

/// Replaces `batch` by the whole section, its end included. Whatever is wrong fails the reader.
RECKONER_NET_API void read_messages(BitReader& reader, MessageBatch& batch);

}  // namespace reckoner
