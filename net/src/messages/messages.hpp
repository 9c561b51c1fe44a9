// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/route_codec.hpp"
#include "net/src/messages/join.hpp"
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

/// Why a connection was refused or ended. On the wire it is the low byte of the reason of a disconnect.
enum class EndReason : std::uint8_t {
  none = 0,             ///< the connection was lost
  version = 1,          ///< the protocol versions differ; `detail` is the server's
  archetypes = 2,       ///< the declared archetypes differ
  full = 3,             ///< the server has as many clients as it accepts
  malformed = 4,        ///< a received message was malformed
  join_timeout = 5,     ///< the client connected and sent no request to join in time
  server_shutdown = 6,  ///< the server was shut down
  left = 7,             ///< the client left and will not resume this session
  replaced = 8,         ///< the same client joined again with a newer token or ticket
  kicked = 9,           ///< the server's game ended the session; a KickMessage with the reason arrives before
  token = 10,  ///< the server refused or ignored the token; `detail` is a TokenFault; only inside a client
};

/// A reason and a number that explains it; 32 bits on the wire.
struct EndCode {
  EndReason reason = EndReason::none;  ///< the reason
  std::uint32_t detail = 0;            ///< meaning depends on the reason; at most 24 bits
};
[[nodiscard]] RECKONER_NET_API std::uint32_t pack(const EndCode& code);
[[nodiscard]] RECKONER_NET_API EndCode unpack_end_code(std::uint32_t packed);

/// The reason in one line of text.
[[nodiscard]] RECKONER_NET_API std::string describe(const EndCode& code);

/// The server's tolerances, limits and codes for one archetype.
struct ArchetypeLimits {
  double threshold_m = 0.0;    ///< m, > 0
  double threshold_rad = 0.0;  ///< rad, > 0
  double max_speed_mps = 0.0;  ///< m/s, > 0
  double world_size_m = 0.0;   ///< m, > 0
  CodeParameters codes;        ///< for coding residuals
};

/// Server to client, the first message of a session. Contains everything that the client needs to decode
/// datagrams. It travels in datagrams with nothing but reliable messages, because the client can read no
/// others before it has it.
struct WelcomeMessage {
  ClientId client;            ///< id of this client
  SessionKey key;             ///< key of the session; none: the server does not resume sessions
  double tick_rate_hz = 0.0;  ///< tick rate of the server, Hz, 1 to 1000
  double epoch_s = 0.0;       ///< server time of tick 0
  Tick tick = 0;              ///< the last tick that ran
  double longest_gap_s =
      0.0;  ///< longest expected time between updates, s; an interpolating client delays by at least this
  bool rewinds = false;                     ///< the client must send ShowingReports
  std::vector<ArchetypeLimits> archetypes;  ///< in order of declaration
};

/// Server to client: the client processes the following reliable messages only when it has the spawns up to
/// this number, or knows that their entities have ended. So no message about an entity arrives before the
/// entity.
struct AfterSpawnsMessage {
  std::uint32_t number = 0;  ///< Spawn::number
};

/// Server to client: a route. Arrives before every motion on it. Numbers are sent as unchanged 64-bit
/// doubles, so that both ends compute the same curve. About 1360 points, or 450 TCB keys, fit into
/// kMaxReliableMessageBytes; longer routes cannot be sent. A decoded message has known enumerators, finite
/// numbers and at most kMaxRoutePoints points. Route::make() checks the rest.
struct RouteMessage {
  RouteId route;               ///< ids arrive in order and start at 1
  RouteDefinition definition;  ///< points and settings of the route
};

/// Server to client: the ownership of an entity changed, or the server repeats or corrects its state.
struct OwnershipMessage {
  /// What changed.
  enum class Change : std::uint8_t {
    revoked = 0,    ///< the client no longer owns the entity
    given = 1,      ///< the client owns the entity; it starts from `state`
    corrected = 2,  ///< the client owns it, but the server has moved it to `state`
    repeated = 3,   ///< the client owns it and must send its motion again; viewers_s may have changed
  };
  EntityId entity;                  ///< the entity
  Change change = Change::revoked;  ///< what changed
  std::uint8_t term = 0;  ///< number of the ownership, below kTerms; every grant and correction has a new one
  double viewers_s = 0.0;  ///< time that updates take from the server to most of the entity's viewers, s
  Tick motion_tick = 0;    ///< tick of the motion; this and the next two members only if given or corrected
  std::uint8_t orientation_bits = 0;  ///< of the archetype; must match the welcome message
  QuantisedState state;               ///< the motion from which the client continues
};

/// Both directions: a reliable message of the game, 1 to kMaxReliableBytes.
struct GameDataMessage {
  std::vector<std::byte> payload;  ///< the game's bytes
  std::optional<double> time_s;    ///< the sender's time stamp, server time, s; is_valid_stamp()
};

/// Both directions: a message of the game that need not wait for messages before it.
struct UnorderedMessage {
  GameDataMessage data;  ///< the game's message
  /// Only from the server: the client processes the message only when it has the spawns up to this number
  /// (AfterSpawnsMessage). An AfterSpawnsMessage of its own would be another message, for which it would have
  /// to wait.
  std::optional<std::uint32_t> after_spawns;
};

/// Client to server: how the client shows remote entities from now on. The message replaces the settings in
/// the request to join or in an earlier playout message.
struct PlayoutMessage {
  bool interpolates = false;  ///< true: it interpolates between motions; false: it follows the newest motion
  /// True if the delay is so long that the client need not predict. It can be true only if `interpolates` is
  /// true. It is false while the client changes between the present and the past.
  bool shows_past = false;
  BlendSettings blend;  ///< how it blends corrections in; the duration is 0 to kMaxBlendS
  bool operator==(const PlayoutMessage&) const = default;
};

/// Server to client, the last message of the stream: the server's game ends the session.
struct KickMessage {
  std::string reason;  ///< for the player, at most kMaxKickReasonBytes of UTF-8; may be empty
};

/// Any reliable message.
using ReliableMessage = std::variant<WelcomeMessage, AfterSpawnsMessage, RouteMessage, GameDataMessage,
                                     OwnershipMessage, PlayoutMessage, KickMessage, UnorderedMessage>;

/// Size of the largest encoded ReliableMessage, bytes.
inline constexpr std::size_t kMaxReliableMessageBytes = 32 * 1024;

/// Encodes a message into `buffer` and returns the used bytes. Returns an empty span if the buffer is too
/// small.
[[nodiscard]] RECKONER_NET_API std::span<const std::byte> encode(const ReliableMessage& message,
                                                                 std::span<std::byte> buffer);

/// True if the bytes are those of an UnorderedMessage, as its kind says. The rest may be malformed or
/// missing. `message` must not be empty.
[[nodiscard]] RECKONER_NET_API bool is_unordered(std::span<const std::byte> message);

/// Decodes a message. Returns nullopt if it is malformed.
[[nodiscard]] RECKONER_NET_API std::optional<ReliableMessage> decode_reliable(
    std::span<const std::byte> bytes);

// The messages section of a datagram, in both directions: for every message a set bit, its stamp if it has
// one, its length and its bytes; a clear bit after the last.

/// The messages of one datagram. The object keeps its memory from one datagram to the next.
struct MessageBatch {
  /// One message.
  struct Item {
    std::size_t offset = 0;        ///< offset of the payload in `bytes`
    std::size_t size = 0;          ///< size of the payload, bytes
    std::optional<double> time_s;  ///< its time stamp, server time, s
  };
  std::vector<Item> items;       ///< in the order of the section
  std::vector<std::byte> bytes;  ///< all payloads, one after the other

  /// Removes all messages and keeps the memory.
  void clear() {
    items.clear();
    bytes.clear();
  }
  /// The payload of one of `items`. Valid until the batch changes.
  [[nodiscard]] std::span<const std::byte> payload(const Item& item) const {
    return std::span{bytes}.subspan(item.offset, item.size);
  }
};

/// Size of a message in the section, bits.
[[nodiscard]] RECKONER_NET_API std::size_t message_bits(std::size_t payload_bytes, bool stamped);

/// Writes one message of 1 to kMaxUnreliableBytes, with the set bit before it.
RECKONER_NET_API void write_message(BitWriter& writer, std::span<const std::byte> payload,
                                    std::optional<double> time_s);

/// Reads the whole section, including its end, into `batch`. Malformed bytes fail the reader.
RECKONER_NET_API void read_messages(BitReader& reader, MessageBatch& batch);

}  // namespace reckoner
