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
#include <reckoner/net/ids.hpp>
#include <reckoner/net/log.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/route.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// How the server handles a motion from an owner that is physically impossible for the entity.
enum class OwnerPolicy : std::uint8_t {
  accept,   ///< accept it if it is inside the world: the owner is trusted
  correct,  ///< replace it by the nearest possible motion and notify the owner
  refuse,   ///< ignore it; the previous motion continues and comes to rest
};

/// What happens to an entity when its owner leaves.
enum class OwnerGone : std::uint8_t {
  rest,     ///< it comes to rest within half a second and belongs to the server
  despawn,  ///< it despawns
};

/// Limits of an entity that a client owns. Its archetype has two more: the top speed and the world's size.
struct OwnershipRules {
  OwnerPolicy policy = OwnerPolicy::correct;  ///< how impossible motions are handled
  OwnerGone gone = OwnerGone::rest;           ///< what happens when the owner leaves
  /// Largest acceleration, m/s^2. A body that hits a wall at 10 m/s and stops within a tick has 600.
  double max_acceleration_mps2 = 1000.0;
  double max_updates_per_s = 120.0;  ///< motions above this rate are ignored, 1/s
  /// The owner may move the entity into a frame only if the entity is at most this far from the frame's
  /// middle, m. An entity in a frame moves with it. 0: the owner may not change the frame.
  double frame_reach_m = 100.0;
  double silence_s = 1.0;  ///< the entity comes to rest if its owner is silent for this time, s
};

/// Counts of motions of entities that clients own, since the server was created.
struct OwnershipStats {
  std::uint64_t accepted = 0;    ///< accepted motions
  std::uint64_t corrected = 0;   ///< motions beyond the limits that were replaced
  std::uint64_t refused = 0;     ///< motions beyond the limits that were ignored
  std::uint64_t late = 0;        ///< motions older than a second or than an accepted one; harmless
  std::uint64_t ahead = 0;       ///< motions with a time stamp in the future
  std::uint64_t too_many = 0;    ///< motions above max_updates_per_s
  std::uint64_t void_terms = 0;  ///< motions of entities that the client does not own, or no longer owns
};

/// To which clients an entity is relevant.
enum class Relevance : std::uint8_t {
  by_distance,  ///< to clients that are near enough, see InterestConfig
  always,       ///< to all clients, for example the ball or the flag
  never,        ///< to no client
};

/// Entities and clients have a bit mask of groups. A client sees only entities that share a group with it
/// (teams, floors of a building, separate worlds). The filter applies at any distance.
inline constexpr std::uint32_t kAllGroups = 0xffffffffu;

/// Which entities are relevant to a client, and with which level of detail. Distances count from the client's
/// eye (Server::set_view()).
struct InterestConfig {
  /// Entities up to this distance are relevant, m. 0: all entities are, at any distance. If it is above 0, a
  /// client without an eye sees only entities that are always relevant.
  double radius_m = 0.0;
  /// A relevant entity stays relevant until it is further away than the radius by this share of it, so that
  /// nothing flickers at the edge. Also applies to levels of detail.
  double hysteresis = 0.15;
  /// From these distances on, the publish threshold is 4 and 16 times as large, m. 0: never. Distant errors
  /// look small.
  std::array<double, 2> level_distance_m{0.0, 0.0};
  /// How often a client's relevant entities are determined, s. An entity that spawns within the radius
  /// appears at once.
  double interval_s = 0.2;
};

/// An entity's true state and its published state as of the last tick, for debug drawing and monitoring.
/// Plain data; Reckoner draws nothing.
///
/// Both states are in the world and count from the server's origin. If the entity is in another entity's
/// frame, the true state of that frame converts both. So their difference is the entity's own error.
struct EntityDebug {
  EntityId id;             ///< the entity
  State truth;             ///< the newest state from the game
  State published;         ///< the state of the published motion at the same time, without a blend
  double age_s = 0.0;      ///< the tick's time minus the time stamp of the published motion, s
  double error_m = 0.0;    ///< distance between `truth` and `published`, m
  double error_rad = 0.0;  ///< angle between the orientations of `truth` and `published`, rad
  /// The largest allowed error_m at present, m: the archetype's threshold times the level's factor (1, 4 or
  /// 16), scaled by a budget if there is one.
  double threshold_m = 0.0;
  double threshold_rad = 0.0;  ///< the largest allowed error_rad at present, rad
  std::uint8_t level = 0;      ///< the finest level of detail with subscribers, to which these values apply
  std::size_t clients = 0;     ///< number of clients that receive the entity, at any level
  EntityId frame{};            ///< the entity in whose frame it is; null: it is in the world frame
  bool on_route = false;       ///< true if the published motion is along a route
  bool owned = false;          ///< true if a client owns the entity
};

/// The pose of an entity that a client was showing.
struct SeenPose {
  EntityId entity;  ///< the entity
  Pose pose;        ///< in the world, from the server's origin
};

/// Configuration of a server. The defaults suit a game with up to a few dozen players.
struct ServerConfig {
  double tick_rate_hz = 60.0;            ///< ticks per second
  double epoch_s = 0.0;                  ///< server time of tick 0, s
  std::vector<Archetype> archetypes{1};  ///< with different names; every client has equal ones
  std::uint32_t max_clients = 64;        ///< clients at once; more are refused
  std::uint32_t max_entities = 65'536;   ///< entities at once, at most kMaxEntities
  /// Bytes per second to one client at most, including headers. 0: as much as the client's link carries.
  std::size_t bytes_per_second = 256'000;
  /// True: send less to a client whose link carries less. The server learns this from delay and loss, which
  /// takes a new client's first second. False: for a LAN or a measurement.
  bool follow_link = true;
  double heartbeat_s = 0.25;    ///< a datagram goes to every client at least this often, s
  double join_timeout_s = 5.0;  ///< a connection that does not ask to join is closed after this time, s
  /// How long a client that lost its connection may resume its session over another connection, s. It keeps
  /// its id, and no reliable message is lost in either direction. 0: the session ends at once. If the server
  /// is full, the longest-disconnected session is evicted.
  double resume_s = 60.0;
  /// Budget of updates per second and entity; the threshold adapts to it (token bucket). 0: no budget. At
  /// most one of updates_per_second and fixed_rate_hz may be above 0. If both are 0, Archetype::threshold_m
  /// decides when to publish.
  double updates_per_second = 0.0;
  double fixed_rate_hz = 0.0;  ///< publish every entity at this even rate, Hz; 0: no fixed rate
  InterestConfig interest;     ///< which entities are relevant to which client; default: all to all
  /// How far back pose_seen_by() and rewind() go, s. This bounds lag compensation: older shots
  /// find nothing. It applies to the time of the shot and to the time that the client was showing then. 0: no
  /// lag compensation; clients do not report what they show.
  double rewind_s = 0.0;
  /// Number of threads that publish and encode, including the caller's. 0: one for each core of the machine.
  /// The sent data does not depend on it.
  unsigned threads = 1;
  /// Receives log records: clients that joined, were refused (with the reason) or left; clients whose link
  /// carries too little; refused data. Empty: no log.
  LogSink log{};
};

/// Returns the first invalid setting, in one line that names it, its value and its range; nullopt if all are
/// valid. Numbers must be finite. docs/REFERENCE.md lists the ranges.
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
    client_lost,      ///< the connection was lost; the client may resume (resume_s), but owns nothing now
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
  circle,         ///< the frame's entity is this entity, or is in its frame
  too_deep,       ///< the entity, or an entity in its frame, would be in more than kMaxFrameDepth frames
  owned,          ///< a client owns the entity and decides in which frame it is
  out_of_limits,  ///< in that frame, the entity exceeds the speed or the world size of its archetype
};

/// Why motions were published. Each motion counts once, for the first cause that applied.
struct PublishCauses {
  std::uint64_t first = 0;     ///< the first motion of an entity, or of a level with a new subscriber
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
  PublishCauses published_for;           ///< `publishes`, by cause
  std::uint64_t updates_sent = 0;        ///< motions passed to the transport, counted for each client
  std::uint64_t full_updates_sent = 0;   ///< those of updates_sent that do not refer to a baseline
  std::uint64_t repairs_sent = 0;        ///< those of updates_sent that replace a lost datagram
  std::uint64_t datagrams_sent = 0;      ///< state datagrams passed to the transport, to all clients
  std::uint64_t state_bytes_sent = 0;    ///< payload bytes of state datagrams, without headers
  std::uint64_t update_bits_sent = 0;    ///< bits of updates in state datagrams, without datagram headers
  std::uint64_t route_updates_sent = 0;  ///< those of updates_sent that are on a route
  std::uint64_t route_bits_sent = 0;     ///< those of update_bits_sent that are on a route
  std::uint64_t route_entity_ticks = 0;  ///< sum over all ticks of the entities published on a route
  std::uint64_t field_changes_sent = 0;  ///< field values passed to the transport, counted for each client
  std::uint64_t field_repairs_sent = 0;  ///< those of field_changes_sent that replace a lost datagram
  std::uint64_t field_bits_sent = 0;     ///< bits of user fields in state datagrams
  std::uint64_t messages_sent = 0;       ///< game messages passed to the transport, counted for each client
  std::uint64_t messages_dropped = 0;    ///< game messages not sent: no room, or too many in flight
  std::uint64_t messages_received = 0;   ///< game messages from clients, queued for poll_message()
  std::uint64_t messages_refused = 0;    ///< game messages discarded because their client sent too many
  std::uint64_t datagrams_lost = 0;      ///< datagrams found lost by acknowledgement or time-out
  std::uint64_t malformed = 0;           ///< refused payloads that no honest client sends
  /// Refused payloads, and refused motions and reports in payloads, by reason. Some are only late.
  RefusalCounts refusals;
};
/// Adds every counter of `part` to `total`, for example to sum up several servers in one process.
RECKONER_SERVER_API PublishCauses& operator+=(PublishCauses& total, const PublishCauses& part);
RECKONER_SERVER_API ServerStats& operator+=(ServerStats& total, const ServerStats& part);

struct ServerTestSwitches;  // of measurements and tests

/// The publishing side. It knows the true state of every entity and decides what to send to each client.
///
/// In each tick: change entities (spawn, move, teleport, despawn), then call tick(). Call receive() whenever
/// data may have arrived; the sooner, the more precise are the clients' clocks. The caller provides the time:
/// use any clock on which tick k is due at epoch_s + k / tick_rate_hz.
///
/// Belongs to one thread at a time. The transport must outlive the server and serve no other one.
class RECKONER_SERVER_API Server {
 public:
  /// Serves the clients of `transport`, which is listening already. Fails with find_invalid_setting() if the
  /// configuration is invalid.
  [[nodiscard]] static Result<Server> create(ServerConfig config, Transport& transport);
  ~Server();
  Server(Server&& other) noexcept;             ///< afterwards `other` may only be assigned or destroyed
  Server& operator=(Server&& other) noexcept;  ///< afterwards `other` may only be assigned or destroyed

  /// Adds an entity in the next tick. Clients receive `name`, at most 64 bytes. If `frame` is not null, the
  /// entity begins in that entity's frame (enter_frame()), and `state` is relative to it. Returns null if
  /// there are max_entities already, if the archetype or the state is invalid, or if enter_frame() would
  /// refuse the frame.
  [[nodiscard]] EntityId spawn(std::size_t archetype, const std::string& name, const State& state,
                               EntityId frame = {});

  /// Sets the true state of an entity at the next tick, relative to the frame that it is in. Returns false
  /// and changes nothing if the id is unknown, the state is invalid, or a client owns the entity.
  bool move(EntityId id, const State& truth);

  /// Like move(), but the entity jumps to the new state: clients do not blend. If a client owns the entity,
  /// it is notified and continues from the new state.
  bool teleport(EntityId id, const State& truth);

  /// Removes an entity. Entities in its frame move to the frame that it was in, as with enter_frame(); use
  /// move() in that frame from then on. An entity that would be too fast there for its archetype stops. An
  /// entity that would be outside of the world is removed, too. Returns false if the id is unknown.
  bool despawn(EntityId id);

  /// Makes a client the owner of an entity, in place of any earlier owner. From then on, the client's game
  /// moves the entity (Client::move()) within `rules` and the limits of the archetype. Motions are published
  /// with the owner's time stamps. If the entity is not relevant to the client yet, ownership begins when it
  /// is. The entity stays in its frame until the owner changes it. Returns false if an id is unknown.
  bool give(EntityId id, ClientId owner, const OwnershipRules& rules = {});
  /// Returns an entity to the server, which continues from state(). Returns false if no client owns it.
  bool revoke(EntityId id);
  /// The owner of an entity; nullopt if no client owns it.
  [[nodiscard]] std::optional<ClientId> owner(EntityId id) const;
  /// The state of an entity at the next tick: the newest one from the game or, if a client owns the entity,
  /// from the owner. Nullopt if the id is unknown.
  [[nodiscard]] std::optional<State> state(EntityId id) const;
  /// Counters of entities that clients own. Valid as long as the server.
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

  /// Moves an entity into the frame of another one from the next tick on (a passenger on a ship, a turret on
  /// a tank), or with a null `frame` into the world. From then on, move() takes states relative to that
  /// frame, and motions are sent, predicted and blended in it. Frames can be nested up to kMaxFrameDepth
  /// deep.
  ///
  /// The entity stays where it is in the world. Its position, velocity (with that of the turning frame),
  /// acceleration and orientation are converted with the newest true states of all frames. If the game moves
  /// the frame before the tick, the entity moves with it. The entity leaves its route; a route that it
  /// follows later is relative to the frame. An entity without orientation turns with its frame.
  ///
  /// A client that sees the entity also sees the frame's entity, at any distance. A client that must not see
  /// the frame's entity (Relevance::never, groups) does not see the entities in it. If the result is not
  /// `done`, nothing changes.
  [[nodiscard]] FrameResult enter_frame(EntityId id, EntityId frame);

  /// The entity in whose frame `id` is; null if it is in the world frame or the id is unknown.
  [[nodiscard]] EntityId frame(EntityId id) const;

  /// The newest true state, in the world frame; nullopt if the id is unknown.
  [[nodiscard]] std::optional<State> in_world(EntityId id) const;

  /// Sets the origin of the game's coordinates, m (for large worlds). From then on, states and views in the
  /// world frame and the result of in_world() count from this point. Entities stay where they are, and
  /// clients notice nothing. Archetype::world_size_m, routes and published() still count from the first
  /// origin. Returns false and changes nothing if the point is not finite.
  bool set_origin(const glm::dvec3& origin);

  /// Sets to which clients an entity is relevant; by default to those near enough. Returns false if the id is
  /// unknown.
  bool set_relevance(EntityId id, Relevance relevance);
  /// Sets the relevance of an entity for one client, which then overrides the general one. Returns false if
  /// an id is unknown.
  bool set_relevance(ClientId client, EntityId id, Relevance relevance);

  /// Sets the groups of an entity; by default kAllGroups. Returns false if the id is unknown.
  bool set_groups(EntityId id, std::uint32_t groups);
  /// Sets the groups of a client; by default kAllGroups. Returns false if the id is unknown.
  bool set_groups(ClientId client, std::uint32_t groups);

  /// Sets the position of a client's eye, m, from which InterestConfig measures distances. Call it as the eye
  /// moves. Returns false if the client is unknown or the position is not finite.
  bool set_view(ClientId client, const glm::dvec3& eye);

  /// Sets a user field (its index in Archetype::fields) as of the next tick. The value is sent to every
  /// client that knows the entity until it arrives. Of quick changes, a client may receive only the last. A
  /// value that is equal after rounding to the field's step costs nothing. Returns false and changes nothing
  /// if the id or the field is unknown, or the value has another type or is out of range.
  bool set_field(EntityId id, std::size_t field, const FieldValue& value);

  /// The value of a user field as clients receive it; nullopt if the id or the field is unknown.
  [[nodiscard]] std::optional<FieldValue> field(EntityId id, std::size_t field) const;

  /// Sends a message to a client. A reliable message, at most kMaxReliableBytes, arrives in the order of
  /// sending unless the session ends. An unreliable message, at most kMaxUnreliableBytes, is sent with the
  /// datagrams of the next two ticks if the byte budget has room for it, and may get lost. With a time stamp,
  /// the client delivers the message when it shows that server time, s.
  ///
  /// Returns false and sends nothing if the client is unknown, the message is empty or too large, the stamp
  /// is invalid, more than 256 KiB or 1024 reliable messages are in flight, or too many unreliable ones wait.
  bool send(ClientId client, std::span<const std::byte> payload, Delivery delivery,
            std::optional<double> time_s = std::nullopt);

  /// Sends a message to all clients. Returns the number of clients to which it was sent.
  std::size_t broadcast(std::span<const std::byte> payload, Delivery delivery,
                        std::optional<double> time_s = std::nullopt);

  /// The oldest message from a client that was not polled yet, or nullopt. Its payload is valid until the
  /// next call. Poll after every receive(): each client has a limited queue, and messages beyond it are
  /// discarded (ServerStats::messages_refused).
  [[nodiscard]] std::optional<GameMessage> poll_message();

  /// The pose of an entity that a client was showing at server time `time_s`, for hit tests (lag
  /// compensation). The time is the client's own estimate of server time: Client::server_time_s(), or the
  /// stamp of its message. The server runs the client's code on the motions that the client had applied by
  /// then, with its mode, delay and blend. Call it when the message about the hit arrives.
  ///
  /// Nullopt if the client did not show the entity, if the time is in the future or more than
  /// ServerConfig::rewind_s ago, or if the shown pose is unknown: for half a second after the client's clock
  /// stepped or its connection was silent. Changes by the client's game (Client::correct()) are not included.
  [[nodiscard]] std::optional<Pose> pose_seen_by(ClientId client, EntityId entity, double time_s) const;

  /// pose_seen_by() for all entities that the client was showing, in order of slot. Empty if nothing is
  /// known. Valid until the next call.
  [[nodiscard]] std::span<const SeenPose> rewind(ClientId client, double time_s);

  /// Adds a route and sends it once to every client, including clients that join later. It exists as long as
  /// the server. Fails if Route::make() fails, beyond kMaxRoutes or kMaxRouteParts, and if the route does not
  /// fit into a message.
  [[nodiscard]] Result<RouteId> add_route(const RouteDefinition& definition);

  /// Lets an entity follow a route. Continue to call move(). While the position and the orientation (if the
  /// archetype has one) are within the archetype's thresholds of the route, the entity is published as a
  /// distance, a speed and an acceleration along the route. When it leaves the thresholds, free motions are
  /// published. When it was within half the thresholds for a tenth of a second, it is back on the route.
  /// Returns false if an id is unknown.
  bool follow(EntityId id, RouteId route);

  /// Lets an entity move freely from the next tick on. Returns false if it follows no route or is unknown.
  bool leave_route(EntityId id);

  /// Like move(), for an entity that is exactly on the route that it follows, so nothing has to be fitted.
  /// Returns false and changes nothing if the entity follows no route or the numbers are invalid.
  bool move_along(EntityId id, const RouteState& along);

  /// A route; null if the id is unknown. Valid as long as the server.
  [[nodiscard]] const Route* route(RouteId id) const;

  /// Processes arrived data. `now_s` is the present server time, s; it may lie between ticks.
  void receive(double now_s);

  /// Runs the next tick, whose server time is tick_time_s(): publishes and sends. `now_s` is the present
  /// server time, s. A late tick has its own time stamp but is sent at `now_s`. If the tick after it is due
  /// already, that one sends the datagrams. At most three ticks in a row leave their datagrams to the next.
  void tick(double now_s);

  /// The tick that the next call of tick() will run.
  [[nodiscard]] Tick next_tick() const;
  /// When a tick is due, s of server time: epoch_s + tick / tick_rate_hz.
  [[nodiscard]] double tick_time_s(Tick tick) const;

  /// The oldest event that was not polled yet, or nullopt. Poll every tick.
  [[nodiscard]] std::optional<ServerEvent> poll_event();

  /// The client's connection in the transport (EnetTransport::identity()); null if the client is unknown or
  /// has no connection at present.
  [[nodiscard]] PeerId peer(ClientId client) const;

  [[nodiscard]] std::size_t client_count() const;  ///< connected clients
  /// The number of entities.
  [[nodiscard]] std::size_t entity_count() const;
  /// Counters since the creation. Valid as long as the server.
  [[nodiscard]] const ServerStats& stats() const;

  /// The newest published motion of an entity as clients decode it, for drawing and for tests. It is relative
  /// to its own frame member; its route, if any, belongs to the server. Nullopt before the first tick.
  [[nodiscard]] std::optional<Motion> published(EntityId id) const;

  /// The true and the published state of an entity, for debug drawing. Call it after tick(). It takes some
  /// hundred nanoseconds. Nullopt if the id is unknown, and before the entity's first tick.
  [[nodiscard]] std::optional<EntityDebug> debug(EntityId id) const;

  /// Notifies every client that the server shuts down, and admits no more clients. Continue to call receive()
  /// for a moment.
  void shutdown();

 private:
  friend RECKONER_SERVER_API Server make_test_server(ServerConfig config, Transport& transport,
                                                     const ServerTestSwitches& switches);

  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
