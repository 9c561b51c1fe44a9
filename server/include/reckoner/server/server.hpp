// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/call_result.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/log.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/route.hpp>
#include <reckoner/reckoning/state.hpp>
#include <reckoner/server/session_stats.hpp>

namespace reckoner {

/// How the server handles a motion that is physically impossible for the entity. The motion came from the
/// client that owns the entity.
enum class OwnerPolicy : std::uint8_t {
  accept,   ///< trust the owner: accept the motion if it is inside the world
  correct,  ///< replace the motion by the nearest possible one and notify the owner
  refuse,   ///< ignore the motion; the entity continues its previous motion and comes to rest
};

/// What happens to an entity when its owner leaves.
enum class OwnerGone : std::uint8_t {
  rest,     ///< it comes to rest within half a second and belongs to the server
  despawn,  ///< it despawns
};

/// Limits of an entity that a client owns. The entity's archetype has two more limits: the top speed and the
/// size of the world.
struct OwnershipRules {
  OwnerPolicy policy = OwnerPolicy::correct;  ///< how impossible motions are handled
  OwnerGone gone = OwnerGone::rest;           ///< what happens when the owner leaves
  /// Largest acceleration, m/s^2. For example, a body that hits a wall at 10 m/s and stops within a tick of
  /// 1/60 s has 600 m/s^2.
  double max_acceleration_mps2 = 1000.0;
  double max_updates_per_s = 120.0;  ///< most motions per second; the server ignores motions above this rate
  /// The owner may move the entity into the frame of a boardable entity (Server::set_boardable()) only if the
  /// entity is at most this far from the frame's middle, m. An entity in a frame moves with it. 0: the owner
  /// may not change the frame.
  double frame_reach_m = 100.0;
  double silence_s = 1.0;  ///< the entity comes to rest if its owner is silent for this time, s
  /// The owner may declare teleports (Client::teleport()), for example a blink, over at most this distance,
  /// m. 0: it may not. With OwnerPolicy::accept it always may.
  double max_teleport_m = 0.0;
  double teleport_interval_s = 0.0;  ///< least time between two teleports that the owner declares, s
  /// A frame that turns moves the entity at most this fast, m/s, in addition to the entity's own speed. If
  /// the frame turns it faster, the entity leaves the frame. 0: the top speed of the entity's archetype. Does
  /// not apply with OwnerPolicy::accept.
  double max_turning_mps = 0.0;
};

/// Counts of motions of entities that clients own, since the server was created.
struct OwnershipStats {
  std::uint64_t accepted = 0;   ///< accepted motions
  std::uint64_t corrected = 0;  ///< motions beyond the limits that were replaced
  std::uint64_t refused = 0;    ///< motions beyond the limits that were ignored
  /// Motions more than a second late, or older than an accepted motion; harmless.
  std::uint64_t late = 0;
  std::uint64_t ahead = 0;       ///< motions with a time stamp in the future
  std::uint64_t too_many = 0;    ///< motions above max_updates_per_s
  std::uint64_t void_terms = 0;  ///< motions of entities that the client does not own, or no longer owns
  std::uint64_t teleports = 0;   ///< teleports that owners declared and the server accepted
};

/// Decides to which clients an entity is relevant.
enum class Relevance : std::uint8_t {
  by_distance,  ///< relevant to clients that are near enough, see InterestConfig
  always,       ///< relevant to all clients, for example a ball or a flag
  never,        ///< relevant to no client
};

/// The bit mask that contains all groups. Every entity and every client has a bit mask of groups, for example
/// teams, floors of a building or separate worlds. A client sees only entities that share a group with the
/// client, at any distance.
inline constexpr std::uint32_t kAllGroups = 0xffffffffu;

/// Settings that decide which entities are relevant to a client, and at which level of detail. Distances are
/// measured from the client's eye (Server::set_view()).
struct InterestConfig {
  /// Entities up to this distance are relevant, m. 0: entities at any distance are relevant. If the radius is
  /// above 0, a client without an eye sees only entities that are always relevant.
  double radius_m = 0.0;
  /// A relevant entity stays relevant until its distance is above radius_m * (1 + hysteresis). So an entity
  /// near the edge does not appear and disappear all the time. The distances of the levels of detail have the
  /// same hysteresis.
  double hysteresis = 0.15;
  /// Two distances, m. From the first distance on, the publish threshold is 4 times as large; from the second
  /// on, 16 times. The reason is that distant errors look small. 0: this level of detail is not used.
  std::array<double, 2> level_distance_m{0.0, 0.0};
  /// The interval at which the server determines the relevant entities of a client, s. An entity that spawns
  /// within the radius appears at once.
  double interval_s = 0.2;
};

/// The true state and the published state of an entity at the last tick, for debug drawing and monitoring.
/// This is plain data; Reckoner draws nothing.
///
/// Both states are in the world frame and relative to the server's origin. If the entity is in the frame of
/// another entity, both states are converted with the true state of that frame. So the difference of the two
/// states is the entity's own error.
struct EntityDebug {
  EntityId id;             ///< the entity
  State truth;             ///< the newest state from the game
  State published;         ///< the state of the published motion at the time of `truth`, without a blend
  double age_s = 0.0;      ///< the tick's time minus the time stamp of the published motion, s
  double error_m = 0.0;    ///< distance between `truth` and `published`, m
  double error_rad = 0.0;  ///< angle between the orientations of `truth` and `published`, rad
  /// The largest allowed error_m at present, m. It is the threshold of the archetype times the factor of the
  /// level (1, 4 or 16). An update budget, if there is one, scales it further.
  double threshold_m = 0.0;
  double threshold_rad = 0.0;  ///< the largest allowed error_rad at present, rad
  /// The finest level of detail with subscribers; these values apply to this level.
  std::uint8_t level = 0;
  std::size_t clients = 0;  ///< number of clients that receive the entity, at any level
  EntityId frame{};         ///< the entity in whose frame it is; null: it is in the world frame
  bool on_route = false;    ///< true if the published motion is along a route
  bool owned = false;       ///< true if a client owns the entity
};

/// An entity that a client was showing, and the pose at which it was shown.
struct SeenPose {
  EntityId entity;  ///< the entity
  Pose pose;        ///< pose in the world frame, relative to the server's origin
};

/// Whether the server can reconstruct what a client showed at some time (Server::rewind_status()).
enum class RewindStatus : std::uint8_t {
  known,        ///< pose_seen_by() and rewind() answer
  pending,      ///< it depends on a report of the client that is on its way; ask again after the next tick
  unavailable,  ///< it is unknown and stays so, or the time is outside ServerConfig::rewind_s
};

/// Configuration of a server. The defaults suit a game with up to a few dozen players.
struct ServerConfig {
  double tick_rate_hz = 60.0;            ///< ticks per second
  double epoch_s = 0.0;                  ///< server time of tick 0, s
  std::vector<Archetype> archetypes{1};  ///< names must differ; every client must have equal archetypes
  std::uint32_t max_clients = 64;        ///< largest number of clients at once; the server refuses more
  std::uint32_t max_entities = 65'536;   ///< largest number of entities at once, at most kMaxEntities
  /// Most bytes per second to one client, including headers. 0: as much as the client's link carries.
  std::size_t bytes_per_second = 256'000;
  /// True: send less to a client whose link carries less. The server learns the capacity of the link from
  /// delay and loss; this takes about the first second of a client. Set it to false for a LAN or for a
  /// measurement.
  bool follow_link = true;
  /// Datagrams with motions and fields per second to one client, Hz. Motions that are due between two of them
  /// wait, so headers cost less, and updates arrive later. Unreliable messages, and up to 16 spawns and ends
  /// of entities, do not wait, and take the waiting motions along. 0: one in every tick in which something is
  /// due.
  double send_rate_hz = 0.0;
  /// Game messages of one client that reach the game, per second, and their bytes per second. This bounds
  /// what one client can make a game pass on. Reliable messages beyond a rate wait, most of them at the
  /// client, and none is lost. Unreliable messages beyond a rate are refused. The messages of half a second
  /// may come at once. 0: no limit.
  double client_messages_per_second = 256.0;
  std::size_t client_message_bytes_per_second = 32'000;  ///< see client_messages_per_second
  double heartbeat_s = 0.25;    ///< a datagram goes to every client at least this often, s
  double join_timeout_s = 5.0;  ///< a connection that does not ask to join is closed after this time, s
  /// How long a client that lost its connection may resume its session over another connection, s. A resumed
  /// client keeps its id, and no reliable message is lost in either direction. 0: the session ends at once.
  /// If the server is full, the longest-disconnected session is evicted.
  double resume_s = 60.0;
  /// Budget of each entity, updates per second (token bucket). The threshold adapts to the budget. 0: no
  /// budget. At most one of updates_per_second and fixed_rate_hz may be above 0. If both are 0,
  /// Archetype::threshold_m decides when to publish.
  double updates_per_second = 0.0;
  double fixed_rate_hz = 0.0;  ///< publish every entity at this constant rate, Hz; 0: no fixed rate
  InterestConfig interest;     ///< which entities are relevant to which client; by default all to all
  /// How far back pose_seen_by() and rewind() go, s. This bounds lag compensation: older shots find nothing.
  /// The limit applies to the time of the shot, and also to the server time that the client was showing at
  /// that moment. 0: no lag compensation; clients do not report what they show.
  double rewind_s = 0.0;
  /// Number of threads that publish and encode, including the caller's. 0: one for each core of the machine.
  /// The sent data does not depend on the number of threads.
  unsigned threads = 1;
  /// Receives log records: clients that joined, left or were refused (with the reason), clients whose link
  /// carries too little, and refused data. Empty: no log.
  LogSink log{};
};

/// Returns the first invalid setting as one line with the name, the value and the valid range. Returns
/// nullopt if all settings are valid. Numbers must be finite. docs/REFERENCE.md lists the ranges.
[[nodiscard]] RECKONER_SERVER_API std::optional<Error> find_invalid_setting(const ServerConfig& config);

/// An event on the server. Server::poll_event() returns the oldest first.
struct ServerEvent {
  /// The kind of event.
  enum class Kind : std::uint8_t {
    client_joined,
    client_left,      ///< the client left, or lost its connection and did not resume in time
    client_refused,   ///< the client was not admitted; `text` is the reason
    owner_corrected,  ///< motions from the owner of `entity` were beyond the limits and were replaced
    owner_refused,    ///< motions from the owner of `entity` were beyond the limits and were ignored
    client_lost,      ///< the connection was lost; the client may resume (resume_s), but owns no entities now
    client_back,      ///< the client has resumed its session
  };
  Kind kind = Kind::client_joined;  ///< the kind of event
  ClientId client;                  ///< the client concerned; null if it was never admitted
  std::string text;                 ///< the reason as text for a person; empty if there is none
  EntityId entity{};                ///< the entity concerned; null if there is none
};

/// The result of Server::enter_frame().
enum class FrameResult : std::uint8_t {
  done,
  unknown_entity,
  unknown_frame,
  circle,         ///< the new frame belongs to the entity itself, or to an entity in its frame
  too_deep,       ///< the entity, or an entity in its frame, would be in more than kMaxFrameDepth frames
  owned,          ///< a client owns the entity and decides in which frame it is
  out_of_limits,  ///< in the new frame, the entity exceeds the speed or the world size of its archetype
  short_lived,    ///< the frame's entity is short-lived
};

/// Properties of a short-lived entity (Server::spawn_short_lived()).
struct ShortLived {
  /// Server time at which the entity ends, s, if the game knows it: the instant at which a projectile hits a
  /// wall. The server and all clients then end it at this instant. After the next tick, and at most
  /// kMaxShortLifeS after it. Empty: it ends with Server::despawn().
  std::optional<double> end_s;
  /// The game's bytes, which the clients' games receive with the entity (EntityInfo::data). At most
  /// kMaxSpawnDataBytes.
  std::span<const std::byte> data{};
  /// The client whose prediction (Client::predict_spawn()) this entity fulfils; null if there is none.
  ClientId predicted_by{};
  /// The key of that prediction. The client's game sends the key with its request, for example in the message
  /// about the shot.
  std::uint32_t prediction = 0;
};
/// The largest time from the next tick to ShortLived::end_s, s.
inline constexpr double kMaxShortLifeS = 600.0;

/// Why motions were published. Each motion counts once, for the first cause that applied.
struct PublishCauses {
  /// The first motion of an entity, or of a level of detail with a new subscriber.
  std::uint64_t first = 0;
  std::uint64_t owner = 0;     ///< the client that owns the entity sent the motion
  std::uint64_t teleport = 0;  ///< the game declared a teleport
  std::uint64_t frame = 0;     ///< the entity entered or left another entity's frame
  std::uint64_t route = 0;     ///< the entity entered or left a route
  std::uint64_t due = 0;       ///< the error would have reached the threshold, or the budget or rate was due
};

/// Counters of a server since its creation.
struct ServerStats {
  std::uint64_t ticks = 0;               ///< ticks
  std::uint64_t publishes = 0;           ///< published motions; each may go to many clients
  PublishCauses published_for;           ///< the counter `publishes` split by cause
  std::uint64_t updates_sent = 0;        ///< motions passed to the transport, counted for each client
  std::uint64_t full_updates_sent = 0;   ///< part of updates_sent: updates that do not refer to a baseline
  std::uint64_t repairs_sent = 0;        ///< part of updates_sent: updates that replace lost ones
  std::uint64_t datagrams_sent = 0;      ///< state datagrams passed to the transport, to all clients
  std::uint64_t state_bytes_sent = 0;    ///< payload bytes of state datagrams, without headers
  std::uint64_t update_bits_sent = 0;    ///< bits of updates in state datagrams, without datagram headers
  std::uint64_t route_updates_sent = 0;  ///< part of updates_sent: motions on a route
  std::uint64_t route_bits_sent = 0;     ///< part of update_bits_sent: motions on a route
  /// Sum over all ticks. Each tick adds the number of entities that are published on a route in that tick.
  std::uint64_t route_entity_ticks = 0;
  std::uint64_t field_changes_sent = 0;  ///< field values passed to the transport, counted for each client
  std::uint64_t field_repairs_sent = 0;  ///< part of field_changes_sent: values that replace lost ones
  std::uint64_t field_bits_sent = 0;     ///< bits of user fields in state datagrams
  std::uint64_t messages_sent = 0;       ///< game messages accepted by send(), counted for each client
  std::uint64_t messages_dropped = 0;    ///< game messages not sent: no room, or too many in flight
  std::uint64_t messages_received = 0;   ///< game messages from clients, queued for poll_message()
  std::uint64_t messages_refused = 0;    ///< game messages discarded because their client sent too many
  std::uint64_t datagrams_lost = 0;      ///< datagrams that count as lost, by acknowledgements or time-out
  std::uint64_t malformed = 0;           ///< refused payloads that no honest client sends
  /// Times that receive() or tick() ignored: they were not finite, beyond +-2e12 s, or more than a day from
  /// the time before and not confirmed by the next one.
  std::uint64_t times_refused = 0;
  /// Numbers of refused payloads, and of refused motions and reports in payloads, by reason. Some of them
  /// were only late.
  RefusalCounts refusals;
};
/// Adds every counter of `part` to `total`, for example to sum up several servers in one process.
RECKONER_SERVER_API PublishCauses& operator+=(PublishCauses& total, const PublishCauses& part);
RECKONER_SERVER_API ServerStats& operator+=(ServerStats& total, const ServerStats& part);

struct ServerTestSwitches;  // switches for measurements and tests

/// The publishing side. It knows the true state of every entity and decides what to send to each client.
///
/// In each tick: change entities (spawn, move, teleport, despawn), then call tick(). Call receive() whenever
/// data may have arrived. The sooner you call it, the more precise the clocks of the clients are. The caller
/// provides the time: use any clock on which tick k is due at epoch_s + k / tick_rate_hz.
///
/// Only one thread at a time may use a server. The transport must outlive the server, and no other server may
/// use it.
class RECKONER_SERVER_API Server {
 public:
  /// Creates a server for the clients of `transport`, which must be listening already. If the configuration
  /// is invalid, this fails with the error of find_invalid_setting().
  [[nodiscard]] static Result<Server> create(ServerConfig config, Transport& transport);
  ~Server();
  Server(Server&& other) noexcept;             ///< afterwards `other` may only be assigned or destroyed
  Server& operator=(Server&& other) noexcept;  ///< afterwards `other` may only be assigned or destroyed

  /// Adds an entity in the next tick. Clients receive `name`, which has at most 64 bytes. If `frame` is not
  /// null, the new entity begins in the frame of the entity `frame` (see enter_frame()), and `state` is
  /// relative to that frame. If the entity cannot be added, the result is null and contains the reason.
  [[nodiscard]] SpawnResult spawn(std::size_t archetype, const std::string& name, const State& state,
                                  EntityId frame = {});

  /// Adds an entity that lives for seconds, such as a projectile, in the next tick. Clients receive the
  /// game's data with its spawn. If the end is known, they end the entity at that instant, and the server
  /// sends them nothing about it. While many spawns wait for a client's byte budget, those of short-lived
  /// entities go first.
  ///
  /// The server extrapolates `state`, with its acceleration, until the game calls move() or changes the
  /// entity's frame or route. If the entity leaves the world, it ends. Otherwise it is like any other. No
  /// client can own it, and nothing can enter its frame.
  ///
  /// Besides the reasons of spawn(), fails if the data is longer than kMaxSpawnDataBytes, if the data and the
  /// fields of the archetype may exceed 480 bytes together, or if the end is out of range.
  [[nodiscard]] SpawnResult spawn_short_lived(std::size_t archetype, const State& state,
                                              const ShortLived& life = {}, EntityId frame = {});

  /// Tells a client that the server will not spawn the entity that the client has predicted with this key:
  /// the weapon was empty. The client removes its prediction and reports ClientEvent::prediction_failed.
  /// Returns false if the client is unknown.
  bool refuse_prediction(ClientId client, std::uint32_t key);

  /// Sets the true state of an entity at the next tick, relative to the frame that it is in. If that is not
  /// possible, changes nothing and returns the reason. Call it in every tick while the entity moves: an
  /// entity whose position has not changed for a tenth of a second is at rest, whatever its velocity is. If
  /// the velocity is zero although positions change, the server estimates it (Archetype::velocity). Over some
  /// ticks, the positions may be at most as fast as the archetype's top speed. They may be ahead by one
  /// second at that speed, because games step with their own clocks. Declare longer jumps with teleport().
  CallResult move(EntityId id, const State& truth);

  /// Like move(), but the entity jumps to the new state: clients do not blend. If a client owns the entity,
  /// it is notified and continues from the new state.
  CallResult teleport(EntityId id, const State& truth);

  /// Removes an entity. Other entities in the frame of the removed entity move to the next outer frame, as
  /// with enter_frame(). From then on, move() takes their states relative to the outer frame. If such an
  /// entity rested in the frame, or would be too fast for its archetype in the outer frame, it stops. If it
  /// would be outside of the world, it is removed, too. Returns false if the id is unknown.
  bool despawn(EntityId id);

  /// Makes a client the owner of an entity, in place of any earlier owner. From then on, the client's game
  /// moves the entity (Client::move()) within `rules` and the limits of the archetype. Motions are published
  /// with the owner's time stamps. If the entity is not relevant to the client yet, ownership begins when it
  /// becomes relevant. The entity stays in its frame until the owner changes the frame (set_boardable()).
  /// Returns false if an id is unknown.
  bool give(EntityId id, ClientId owner, const OwnershipRules& rules = {});
  /// Returns an entity to the server, which continues from state(). Returns false if no client owns it.
  bool revoke(EntityId id);
  /// The owner of an entity; nullopt if no client owns it.
  [[nodiscard]] std::optional<ClientId> owner(EntityId id) const;
  /// The state of an entity at the next tick: the newest one from the game or, if a client owns the entity,
  /// from the owner. A tick may have replaced its velocities (move()). Nullopt if the id is unknown.
  [[nodiscard]] std::optional<State> state(EntityId id) const;
  /// Counters of motions of entities that clients own. The reference is valid as long as the server exists.
  [[nodiscard]] const OwnershipStats& ownership_stats() const;

  /// All entities, in order of slot. Valid until the next call.
  [[nodiscard]] std::span<const EntityId> entities() const;
  /// The entities at most `radius_m` from `centre`, in order of slot. Counts with the newest true positions
  /// in the world, from the server's origin. Valid until the next call.
  ///
  /// With InterestConfig::radius_m above 0, this examines the moving entities and those at rest nearby,
  /// otherwise all entities.
  [[nodiscard]] std::span<const EntityId> entities_near(const glm::dvec3& centre, double radius_m) const;

  /// Keeps a number for the game with an entity, for example an index or a pointer into its own data. It is
  /// not sent. Returns false if the id is unknown.
  bool set_user_value(EntityId id, std::uint64_t value);
  /// The number of set_user_value(), 0 by default; nullopt if the id is unknown.
  [[nodiscard]] std::optional<std::uint64_t> user_value(EntityId id) const;

  /// Moves an entity into the frame of another entity from the next tick on, for example a passenger on a
  /// ship or a turret on a tank. A null `frame` moves it into the world frame. From then on, move() takes
  /// states relative to the new frame, and motions are sent, predicted and blended in it. Frames can be
  /// nested up to kMaxFrameDepth deep.
  ///
  /// The entity stays where it is in the world. Its position, velocity, acceleration and orientation are
  /// converted with the newest true states of all frames. The conversion of the velocity includes the
  /// rotation of the frame. If the game moves the frame before the tick, the entity moves with it. The entity
  /// leaves its route; a route that it follows later is relative to the frame. An entity without orientation
  /// turns with its frame.
  ///
  /// A client that sees the entity also sees the frame's entity, at any distance. A client that must not see
  /// the frame's entity (Relevance::never, groups) does not see the entities in it. If the result is not
  /// `done`, nothing changes.
  [[nodiscard]] FrameResult enter_frame(EntityId id, EntityId frame);

  /// Sets whether owners may move their entities into the frame of this entity (Client::move()), for example
  /// a ship, a platform or a car. No entity is boardable by default, because an owner could otherwise be
  /// carried by everything that moves. The entity may itself have an owner. The game can put any entity into
  /// any frame, boardable or not. Returns false if the id is unknown, or the entity is short-lived.
  bool set_boardable(EntityId id, bool boardable);

  /// The entity in whose frame `id` is; null if it is in the world frame or the id is unknown.
  [[nodiscard]] EntityId frame(EntityId id) const;

  /// The newest true state of an entity, converted to the world frame. Nullopt if the id is unknown.
  [[nodiscard]] std::optional<State> in_world(EntityId id) const;

  /// Sets the origin of the game's coordinates, m (for large worlds). From then on, states and views in the
  /// world frame and the result of in_world() are relative to this point. Entities stay where they are, and
  /// clients notice nothing. Archetype::world_size_m, routes and published() stay relative to the first
  /// origin. Returns false and changes nothing if the point is not finite.
  bool set_origin(const glm::dvec3& origin);

  /// Sets to which clients an entity is relevant; the default is Relevance::by_distance. Returns false if the
  /// id is unknown.
  bool set_relevance(EntityId id, Relevance relevance);
  /// Sets the relevance of an entity for one client. It overrides the general relevance of the entity.
  /// Returns false if an id is unknown.
  bool set_relevance(ClientId client, EntityId id, Relevance relevance);

  /// Sets the groups of an entity; the default is kAllGroups. Returns false if the id is unknown.
  bool set_groups(EntityId id, std::uint32_t groups);
  /// Sets the groups of a client; the default is kAllGroups. Returns false if the id is unknown.
  bool set_groups(ClientId client, std::uint32_t groups);

  /// Sets the position of a client's eye, m, from which InterestConfig measures distances. Call it as the eye
  /// moves. Returns false if the client is unknown or the position is not finite.
  bool set_view(ClientId client, const glm::dvec3& eye);

  /// Sets a user field of an entity from the next tick on. `field` is the index of the field in
  /// Archetype::fields. The server sends the value to every client that knows the entity, until the value has
  /// arrived. If the value changes quickly, a client may receive only the last value. A value that is equal
  /// after rounding to the field's step costs nothing. Returns false and changes nothing if the id or the
  /// field is unknown, or the value has another type or is out of range.
  bool set_field(EntityId id, std::size_t field, const FieldValue& value);

  /// The value of a user field as clients receive it; nullopt if the id or the field is unknown.
  [[nodiscard]] std::optional<FieldValue> field(EntityId id, std::size_t field) const;

  /// Sends a message to a client. A reliable message, at most kMaxReliableBytes, arrives in the order of
  /// sending unless the session ends. An unreliable message, at most kMaxUnreliableBytes, is sent with a
  /// datagram of the next two ticks if the byte budget has room for the message, and may get lost. If
  /// `time_s` is set, the client delivers the message when it shows this server time, s.
  ///
  /// A client delivers a reliable message after it has received the spawns that the server sent before the
  /// message (tick() sends them), and ends an entity after it has delivered the messages that were sent
  /// before the entity ended. Unreliable messages have no order with spawns and ends.
  ///
  /// Reliable messages, unreliable ones and fields together use at most half of the client's byte budget, so
  /// that they cannot displace motions. Reliable messages beyond that wait here.
  ///
  /// Returns false and sends nothing if the client is unknown, the message is empty or too large, the stamp
  /// is invalid, more than 256 KiB or 1024 reliable messages are waiting or in flight, or too many unreliable
  /// ones wait.
  bool send(ClientId client, std::span<const std::byte> payload, Delivery delivery,
            std::optional<double> time_s = std::nullopt);

  /// Sends a message to all clients. Returns the number of clients to which it was sent.
  std::size_t broadcast(std::span<const std::byte> payload, Delivery delivery,
                        std::optional<double> time_s = std::nullopt);

  /// Returns the oldest message from a client that was not polled yet, or nullopt. The payload is valid until
  /// the next call. Poll after every receive(), because each client has a limited queue. The server discards
  /// messages beyond this limit (ServerStats::messages_refused).
  [[nodiscard]] std::optional<GameMessage> poll_message();

  /// The pose of an entity that a client was showing at server time `time_s`, for hit tests (lag
  /// compensation). The time is the client's own estimate of server time: Client::server_time_s(), or the
  /// stamp of its message. The server computes the pose with the client's code. It uses the motions that the
  /// client had applied at that time, and the mode, delay and blend of the client. Call pose_seen_by() when
  /// the message about the hit arrives. While rewind_status() is `pending`, call it again after the next
  /// tick.
  ///
  /// Nullopt if the client did not show the entity, if rewind_status() is not `known`, or if the reports
  /// about this entity were lost. Changes by the client's game (Client::correct()) are not included.
  [[nodiscard]] std::optional<Pose> pose_seen_by(ClientId client, EntityId entity, double time_s) const;

  /// The results of pose_seen_by() for all entities that the client was showing, in order of slot. Empty if
  /// no pose is known. The span is valid until the next call.
  [[nodiscard]] std::span<const SeenPose> rewind(ClientId client, double time_s);

  /// Tells whether the server can reconstruct what a client was showing at `time_s`, the client's own
  /// estimate of server time. The status is `pending` until the client's report about that time has arrived:
  /// a reliable message may overtake the report. The status is `unavailable` while the client lets motions
  /// fade to rest because its connection is silent, for half a second after that, and for half a second after
  /// the client's clock stepped.
  [[nodiscard]] RewindStatus rewind_status(ClientId client, double time_s) const;

  /// Adds a route and sends it once to every client, including clients that join later. The route exists as
  /// long as the server. Fails if Route::make() fails, if there would be more than kMaxRoutes routes, if the
  /// route has more than kMaxRouteParts parts, or if it does not fit into a message.
  [[nodiscard]] Result<RouteId> add_route(const RouteDefinition& definition);

  /// Lets an entity follow a route. Continue to call move(). While the entity is close to the route, it is
  /// published as a distance, a speed and an acceleration along the route. It is close while its position and
  /// its orientation (if the archetype has one) differ from the route by less than the archetype's
  /// thresholds. When it is no longer close, free motions are published. It is published along the route
  /// again after it was within half the thresholds for a tenth of a second. Returns false if an id is
  /// unknown.
  bool follow(EntityId id, RouteId route);

  /// Lets an entity move freely from the next tick on. Returns false if it follows no route or is unknown.
  bool leave_route(EntityId id);

  /// Like move(), for an entity that is exactly on the route that it follows. The server then need not fit
  /// the distance and the speed. If that is not possible, changes nothing and returns the reason.
  CallResult move_along(EntityId id, const RouteState& along);

  /// A route; null if the id is unknown. The pointer is valid as long as the server exists.
  [[nodiscard]] const Route* route(RouteId id) const;

  /// Processes the data that has arrived. `now_s` is the present server time, s; it may lie between ticks.
  void receive(double now_s);

  /// Runs the next tick, whose server time is tick_time_s(): publishes and sends. `now_s` is the present
  /// server time, s. A late tick has its own time stamp but is sent at `now_s`. If the following tick is
  /// already due, too, this tick sends no datagrams, and the following tick sends them. At most three ticks
  /// in a row send no datagrams.
  void tick(double now_s);

  /// The tick that the next call of tick() will run.
  [[nodiscard]] Tick next_tick() const;
  /// When a tick is due, s of server time: epoch_s + tick / tick_rate_hz.
  [[nodiscard]] double tick_time_s(Tick tick) const;

  /// Returns the oldest event that was not polled yet, or nullopt. Poll in every tick until it returns
  /// nullopt.
  [[nodiscard]] std::optional<ServerEvent> poll_event();

  /// The client's connection in the transport (NetworkTransport::identity()); null if the client is unknown
  /// or has no connection at present.
  [[nodiscard]] PeerId peer(ClientId client) const;

  [[nodiscard]] std::size_t client_count() const;  ///< connected clients
  /// Connections that the server ends and that are not closed yet, for example after kick() and shutdown().
  /// Their clients may still lack reliable messages, or have not confirmed the end. While it is above 0, the
  /// program must continue to call receive().
  [[nodiscard]] std::size_t closing_count() const;
  /// The clients that have a session, in the order of joining, including those that lost their connection and
  /// may resume. Valid until the next call.
  [[nodiscard]] std::span<const ClientId> clients() const;
  /// The figures of a client's session and link. Takes time in proportion to the entities that the client
  /// follows. Nullopt if the client has no session.
  [[nodiscard]] std::optional<SessionStats> session_stats(ClientId client) const;
  /// The number of entities.
  [[nodiscard]] std::size_t entity_count() const;
  /// Counters since the creation of the server. The reference is valid as long as the server exists.
  [[nodiscard]] const ServerStats& stats() const;

  /// The newest published motion of an entity as clients decode it, for drawing and for tests. The motion is
  /// relative to the frame in Motion::frame. If it is on a route, the server owns the route. Nullopt before
  /// the first tick.
  [[nodiscard]] std::optional<Motion> published(EntityId id) const;

  /// The true and the published state of an entity, for debug drawing. Call it after tick(). A call takes
  /// some hundred nanoseconds. Nullopt if the id is unknown, or before the first tick of the entity.
  [[nodiscard]] std::optional<EntityDebug> debug(EntityId id) const;

  /// Ends a client's session. The client gets `reason` (Client::refusal()), at most kMaxKickReasonBytes of
  /// UTF-8, and does not reconnect. receive() sends the reason and the reliable messages before it until the
  /// client has them, for at most 10 s, and then ends the connection (closing_count()). The client may have
  /// lost its connection. If it has joined with a token, its player is kicked: all sessions of its client id
  /// on this server end, and nothing that the backend has issued for the client id until now admits anybody;
  /// what it issues later does. To keep a player out, let the backend issue no new token. If
  /// ServerSecurity::sessions_per_client is 0, only this client's token and tickets become invalid. Without
  /// tokens, anyone may join again. The entities that the client owns are handled as OwnershipRules::gone
  /// says. Reports ServerEvent::client_left for each session. Returns false and does nothing if the client is
  /// unknown or the reason is too long.
  bool kick(ClientId client, std::string_view reason);

  /// Kicks the player with this client id (ConnectGrant::client_id), as kick() does, whether the player has
  /// sessions here or not: it may have just left, or another server of the game may have kicked it. Returns
  /// the number of sessions that have ended. Does nothing and returns 0 if the reason is too long, without
  /// tokens, or if ServerSecurity::sessions_per_client is 0, because a client id then does not identify a
  /// player.
  std::size_t kick_player(std::uint64_t client_id, std::string_view reason);

  /// Ends all sessions, notifies every client that the server shuts down, and admits no more clients.
  ///
  /// Continue to call receive() until closing_count() is 0: it first sends the reliable messages that a
  /// client still lacks, for at most 10 s, and then ends the connection. A client that does not answer is
  /// closed when the transport has lost patience (TransportLimits::silence_s), so limit the time, for example
  /// to 5 s.
  void shutdown();

 private:
  friend RECKONER_SERVER_API Server make_test_server(ServerConfig config, Transport& transport,
                                                     const ServerTestSwitches& switches);

  friend class WorldAccess;  // for the library of clusters

  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
