// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "reckoning/src/prediction/motion_fit.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <reckoner/cluster/cluster_config.hpp>
#include <reckoner/net/archetype.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/state.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::cluster {

// What processes of a world send each other. Readers trust nothing: a malformed message is refused as a
// whole. docs/cluster.md describes the format.

/// Version of the format of messages and tables. A process of another version cannot join a world. Raise it
/// also when the encoding of motions changes (kProtocolVersion).
inline constexpr std::uint32_t kBusLayout = 3;

inline constexpr std::size_t kMaxGameDataBytes = 4096;   ///< the game's own data of an entity
inline constexpr std::size_t kMaxBusBytes = 256 * 1024;  ///< largest message
inline constexpr std::size_t kBatchBytes = 48 * 1024;    ///< a larger batch is split
inline constexpr std::size_t kMaxMailBytes = 16 * 1024;  ///< largest game message
inline constexpr std::size_t kMaxMailWaiting = 32;       ///< game messages with an entity, in each direction
inline constexpr std::size_t kMaxCorrespondents = 256;   ///< clients in correspondence with one entity
/// Slots in a block of ids. Simulators take whole blocks from the world.
inline constexpr std::uint32_t kSlotsInBlock = 256;

/// What readers and writers of entities need to know of the world.
struct WorldCodec {
  std::vector<Archetype> archetypes;
  std::vector<Quantisation> quantisation;

  explicit WorldCodec(std::vector<Archetype> kinds);
};

/// Everything that viewers know about an entity.
struct EntityRecord {
  EntityId id;
  std::uint32_t epoch = 0;
  std::uint32_t archetype = 0;
  std::string name;
  std::uint32_t groups = kAllGroups;
  Relevance relevance = Relevance::by_distance;
  std::uint32_t cell = 0;  ///< index of its cell
  Tick tick = 0;           ///< time stamp of the motion
  QuantisedState motion;   ///< its frame is part of it
  std::vector<FieldValue> fields;
};

/// A game message in flight between a client and an entity.
struct Letter {
  std::uint32_t number = 0;  ///< counted from 1 for each client, entity and direction
  std::vector<std::byte> payload;
};

/// The correspondence of an entity with one client, as its holder keeps it.
struct Correspondence {
  ClusterClient client;
  std::uint32_t received = 0;   ///< number of the last message from the client that reached the game
  std::uint32_t sent = 0;       ///< number of the last message to the client
  std::vector<Letter> waiting;  ///< messages to the client that are not acknowledged yet
};

/// What only the holder of an entity knows, and its successor needs.
struct EntityBaggage {
  ProcessId holder;
  std::uint64_t revision = 0;   ///< of the entity's key in the table of epochs; 0: not written yet
  State state;                  ///< exact
  Tick tick = 0;                ///< of `state`
  Tick checkpoint_tick = 0;     ///< of the last checkpoint
  std::uint32_t route = 0;      ///< RouteId::value of the route that it follows; 0: none
  std::vector<std::byte> data;  ///< the game's own data
  MotionFit::Priors priors;     ///< what was learned about its motion
  std::vector<Correspondence> mail;
};

/// A motion of an entity that readers know already.
struct MotionRecord {
  EntityId id;
  std::uint32_t epoch = 0;
  std::uint32_t archetype = 0;
  Tick tick = 0;
  QuantisedState motion;
};

/// Why a batch contains a full description.
enum class Cause : std::uint8_t { refresh = 0, spawned = 1, handed_over = 2, adopted = 3 };

struct DescribedRecord {
  Cause cause = Cause::refresh;
  EntityRecord entity;
};

struct FieldsRecord {
  EntityId id;
  std::uint32_t epoch = 0;
  std::uint32_t archetype = 0;
  std::vector<FieldValue> fields;
};

/// The entity has ended, or is in another cell now.
struct GoneRecord {
  EntityId id;
  std::uint32_t epoch = 0;
  std::optional<std::uint32_t> to_cell;  ///< empty: it has ended
};

/// What one process writes about the entities in one cell in one tick.
struct Batch {
  std::uint32_t cell = 0;
  ProcessId writer;
  bool holds_cell = false;       ///< false: a guest, which holds entities there until they are handed over
  std::uint32_t cell_epoch = 0;  ///< newest epoch of the cell that the writer knows
  std::uint32_t sequence = 0;    ///< counted for each writer and cell
  Tick tick = 0;
  std::uint32_t entities = 0;  ///< number of entities that the writer holds in the cell
  bool snapshot = false;       ///< describes all of them, up to `sequence`
  bool last_part = true;       ///< of a snapshot in several messages
  std::vector<DescribedRecord> described;
  std::vector<MotionRecord> motions;
  std::vector<FieldsRecord> fields;
  std::vector<GoneRecord> gone;
};

/// Four times a second, every process tells the others that it lives.
struct Heartbeat {
  ProcessId process;
  std::string name;
  bool simulator = false;
  bool gateway = false;
  std::uint32_t entities = 0;         ///< number of held entities
  std::vector<std::uint32_t> cells;   ///< indices of held cells, or of the cells a gateway shows
  std::vector<std::uint32_t> epochs;  ///< their epochs
  double delay_s = 0.0;               ///< of a gateway: 90th percentile of the delay to its clients, s
  bool leaving = false;               ///< it hands everything over, and takes nothing
};

/// Asks a writer for a snapshot.
struct Ask {
  ProcessId from;
  std::uint32_t cell = 0;
};

// The handover of an entity.
struct Offer {
  ProcessId from;
  EntityRecord entity;
  EntityBaggage baggage;
};
struct Accept {
  ProcessId from;
  EntityId id;
  std::uint32_t epoch = 0;  ///< of the offer
};
struct Commit {
  ProcessId from;
  EntityRecord entity;  ///< with the epoch of the new holder
  EntityBaggage baggage;
  MotionFit::Memory
      memory;  ///< with it, the new holder predicts as well as the old one from the first tick on
};
struct Done {
  ProcessId from;
  EntityId id;
  std::uint32_t epoch = 0;
};

// The handover of a cell. The receiver answers an offer with an acceptance.
struct CellOffer {
  ProcessId from;
  std::uint32_t cell = 0;
  std::uint32_t epoch = 0;
};
struct CellAccept {
  ProcessId from;
  std::uint32_t cell = 0;
  std::uint32_t epoch = 0;
};
struct CellCommit {
  ProcessId from;
  std::uint32_t cell = 0;
  std::uint32_t epoch = 0;  ///< of the new holder
  std::uint64_t lease_revision = 0;
  std::uint64_t epoch_revision = 0;
};

/// Game messages between a client and an entity, oldest first.
struct Mail {
  ProcessId from;
  ClusterClient client;
  EntityId entity;
  bool to_client = false;
  std::vector<Letter> letters;  ///< with consecutive numbers
};
struct MailReceived {
  ProcessId from;
  ClusterClient client;
  EntityId entity;
  bool to_client = false;    ///< direction of the acknowledged messages
  std::uint32_t number = 0;  ///< every message up to this one has arrived
};

using BusPayload = std::variant<Batch, Heartbeat, Ask, Offer, Accept, Commit, Done, CellOffer, CellAccept,
                                CellCommit, Mail, MailReceived>;

/// Writes a message. Empty if it is larger than kMaxBusBytes.
[[nodiscard]] RECKONER_CLUSTER_API std::vector<std::byte> encode(const BusPayload& message,
                                                                 const WorldCodec& codec);
/// Reads a message; nullopt if it is malformed.
[[nodiscard]] RECKONER_CLUSTER_API std::optional<BusPayload> decode(std::span<const std::byte> bytes,
                                                                    const WorldCodec& codec);

// Values of the tables.

/// A lease of a cell or a name.
struct LeaseValue {
  ProcessId holder;  ///< null: released
};
/// The epoch of a cell or an entity.
struct EpochValue {
  std::uint32_t epoch = 0;
  ProcessId holder;
  std::uint32_t generation = 0;  ///< of the entity; 0 for a cell
  bool operator==(const EpochValue&) const = default;
};
/// The epoch of the next holder. Never 0. Only a damaged table contains the largest epoch; after it, epochs
/// begin again, because the revision of the table decides which of two is newer.
[[nodiscard]] inline std::uint32_t next_epoch(std::uint32_t epoch) {
  return epoch == UINT32_MAX ? 1 : epoch + 1;
}
/// The last checkpoint of a slot; without an entity if it has ended.
struct CheckpointValue {
  struct Content {
    EntityRecord entity;
    EntityBaggage baggage;
  };
  std::optional<Content> content;
};
/// What all processes agree on.
struct WorldValue {
  std::uint32_t layout = kBusLayout;
  std::uint32_t archetypes = 0;  ///< hash
  std::uint32_t routes = 0;      ///< hash
  double tick_rate_hz = 0.0;
  double cell_m = 0.0;
  std::uint32_t columns = 0;
  std::uint32_t rows = 0;
  double epoch_s = 0.0;  ///< when tick 0 was, s of the clock of all processes
};
/// How many blocks of slots are taken.
struct IdsValue {
  std::uint32_t blocks = 0;
};

[[nodiscard]] RECKONER_CLUSTER_API std::vector<std::byte> encode_value(const LeaseValue& value);
[[nodiscard]] RECKONER_CLUSTER_API std::vector<std::byte> encode_value(const EpochValue& value);
[[nodiscard]] RECKONER_CLUSTER_API std::vector<std::byte> encode_value(const WorldValue& value);
[[nodiscard]] RECKONER_CLUSTER_API std::vector<std::byte> encode_value(const IdsValue& value);
[[nodiscard]] RECKONER_CLUSTER_API std::vector<std::byte> encode_value(const CheckpointValue& value,
                                                                       const WorldCodec& codec);
[[nodiscard]] RECKONER_CLUSTER_API std::optional<LeaseValue> decode_lease(std::span<const std::byte> bytes);
[[nodiscard]] RECKONER_CLUSTER_API std::optional<EpochValue> decode_epoch(std::span<const std::byte> bytes);
[[nodiscard]] RECKONER_CLUSTER_API std::optional<WorldValue> decode_world(std::span<const std::byte> bytes);
[[nodiscard]] RECKONER_CLUSTER_API std::optional<IdsValue> decode_ids(std::span<const std::byte> bytes);
[[nodiscard]] RECKONER_CLUSTER_API std::optional<CheckpointValue> decode_checkpoint(
    std::span<const std::byte> bytes, const WorldCodec& codec);

}  // namespace reckoner::cluster
