// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <glm/vec3.hpp>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/call_result.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/route.hpp>
#include <reckoner/reckoning/state.hpp>
#include <reckoner/server/entity_debug.hpp>
#include <reckoner/server/ownership_rules.hpp>
#include <reckoner/server/prediction.hpp>
#include <reckoner/server/recipients.hpp>
#include <reckoner/server/relevance.hpp>
#include <reckoner/server/rewind.hpp>
#include <reckoner/server/server_config.hpp>
#include <reckoner/server/server_event.hpp>
#include <reckoner/server/server_stats.hpp>
#include <reckoner/server/session_stats.hpp>
#include <reckoner/server/short_lived.hpp>
#include <reckoner/server/traffic.hpp>

namespace reckoner {

/// The publishing side. It knows the true state of every entity and decides what to send to each client.
///
/// Call run_due_ticks() whenever data may have arrived or a tick is due, and change entities in its step:
/// spawn, move, teleport, despawn. The sooner you call it, the more precise the clocks of the clients are. A
/// game with a loop of its own calls receive() and tick() instead. The caller provides the time: use any
/// clock on which tick k is due at epoch_s + k / tick_rate_hz.
///
/// A function that returns a CallResult or a SpawnResult changes nothing if it fails, and the result contains
/// the reason (describe()).
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
  /// relative to that frame.
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
  /// Fails if the client is unknown.
  CallResult refuse_prediction(ClientId client, std::uint32_t key);

  /// Sets the true state of an entity at the next tick, relative to the frame that it is in. Call it in every
  /// tick while the entity moves: an entity whose position has not changed for a tenth of a second is at
  /// rest, whatever its velocity is. If the velocity is zero although positions change, the server estimates
  /// it (Archetype::velocity). Over some ticks, the positions may be at most as fast as the archetype's top
  /// speed. They may be ahead by one second at that speed, because games step with their own clocks. Declare
  /// longer jumps with teleport().
  CallResult move(EntityId id, const State& truth);

  /// Like move(), but the entity jumps to the new state: clients do not blend. If a client owns the entity,
  /// it is notified and continues from the new state.
  CallResult teleport(EntityId id, const State& truth);

  /// Removes an entity. Other entities in the frame of the removed entity move to the next outer frame, as
  /// with enter_frame(). From then on, move() takes their states relative to the outer frame. If such an
  /// entity rested in the frame, or would be too fast for its archetype in the outer frame, it stops. If it
  /// would be outside of the world, it is removed, too. Fails if the id is unknown.
  CallResult despawn(EntityId id);

  /// Lets a client predict an entity: the client's game steps it with the player's inputs, at once, and the
  /// server's game decides what happens. The client is corrected if its result for a tick differs from the
  /// server's state by more than `rules` allow. Several clients may predict one entity, for example a ball,
  /// and a client several entities, at most kMaxPredicted. The prediction begins when the client knows the
  /// entity (ClientEvent::prediction_began). Meanwhile, this client gets no motions of it. Call it again to
  /// change the rules. Fails if an id is unknown, the entity is short-lived or owned, or a rule is out of its
  /// range.
  CallResult let_predict(EntityId id, ClientId client, const PredictionRules& rules = {});
  /// The client shows the entity like those of others from now on. Fails if it does not predict the entity.
  CallResult stop_prediction(EntityId id, ClientId client);
  /// Sets bytes of the game that belong to the exact state of an entity, at most kMaxGameStateBytes: stamina,
  /// a cooldown, whether it touches the ground. They travel with each correction, and a client whose bytes
  /// differ is corrected. Call it together with move().
  CallResult set_game_state(EntityId id, std::span<const std::byte> bytes);
  /// What a player does in the next tick. Call it once for each client and tick, between receive() and
  /// tick(). Empty if the client is unknown.
  [[nodiscard]] PlayerInput input(ClientId client);
  /// Figures of a client's inputs and predictions; nullopt if the client is unknown.
  [[nodiscard]] std::optional<PredictionStats> prediction_stats(ClientId client) const;

  /// Makes a client the owner of an entity, in place of any earlier owner. From then on, the client's game
  /// moves the entity (Client::move()) within `rules` and the limits of the archetype. Motions are published
  /// with the owner's time stamps. If the entity is not relevant to the client yet, ownership begins when it
  /// becomes relevant. The entity stays in its frame until the owner changes the frame (set_boardable()).
  /// Fails if an id is unknown, the entity is short-lived or predicted, or a number in `rules` is out of its
  /// range.
  CallResult give(EntityId id, ClientId owner, const OwnershipRules& rules = {});
  /// Returns an entity to the server, which continues from state(). Fails if no client owns it.
  CallResult revoke(EntityId id);
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
  /// not sent. Fails if the id is unknown.
  CallResult set_user_value(EntityId id, std::uint64_t value);
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
  /// the frame's entity (Relevance::never, groups) does not see the entities in it.
  ///
  /// Fails if an id is unknown, a client owns the entity (it then decides in which frame the entity is), the
  /// frame's entity is short-lived, or is the entity itself or inside it, or if frames would be nested too
  /// deep. Also fails if the entity exceeds the speed or the world size of its archetype in the new frame.
  CallResult enter_frame(EntityId id, EntityId frame);

  /// Sets whether owners may move their entities into the frame of this entity (Client::move()), for example
  /// a ship, a platform or a car. No entity is boardable by default, because an owner could otherwise be
  /// carried by everything that moves. The entity may itself have an owner. The game can put any entity into
  /// any frame, boardable or not. Fails if the id is unknown, or the entity is short-lived.
  CallResult set_boardable(EntityId id, bool boardable);

  /// The entity in whose frame `id` is; null if it is in the world frame or the id is unknown.
  [[nodiscard]] EntityId frame_of(EntityId id) const;

  /// The newest true state of an entity, converted to the world frame. Nullopt if the id is unknown.
  [[nodiscard]] std::optional<State> in_world(EntityId id) const;

  /// Sets the origin of the game's coordinates, m (for large worlds). From then on, states and views in the
  /// world frame and the result of in_world() are relative to this point. Entities stay where they are, and
  /// clients notice nothing. Archetype::world_size_m, routes and published() stay relative to the first
  /// origin. Fails if the point is not finite.
  CallResult set_origin(const glm::dvec3& origin);

  /// Sets to which clients an entity is relevant; the default is Relevance::by_distance. Fails if the id is
  /// unknown.
  CallResult set_relevance(EntityId id, Relevance relevance);
  /// Sets the relevance of an entity for one client. It overrides the general relevance of the entity.
  /// Fails if an id is unknown.
  CallResult set_relevance(ClientId client, EntityId id, Relevance relevance);

  /// Sets the groups of an entity; the default is kAllGroups. Fails if the id is unknown.
  CallResult set_groups(EntityId id, std::uint32_t groups);
  /// Sets the groups of a client; the default is kAllGroups. Fails if the id is unknown.
  CallResult set_groups(ClientId client, std::uint32_t groups);

  /// Sets the position of a client's eye, m, from which InterestConfig measures distances. Call it as the eye
  /// moves. Fails if the client is unknown or the position is not finite.
  CallResult set_view(ClientId client, const glm::dvec3& eye);

  /// Sets a user field of an entity from the next tick on. `field` is the index of the field in
  /// Archetype::fields. The server sends the value to every client that knows the entity, until the value has
  /// arrived. If the value changes quickly, a client may receive only the last value. A value that is equal
  /// after rounding to the field's step costs nothing. Fails if the id or the field is unknown, or the value
  /// has another type or is out of range.
  CallResult set_field(EntityId id, std::size_t field, const FieldValue& value);

  /// The value of a user field as clients receive it; nullopt if the id or the field is unknown.
  [[nodiscard]] std::optional<FieldValue> field(EntityId id, std::size_t field) const;

  /// Sends a message to a client. A reliable message, at most kMaxReliableBytes, arrives in the order of
  /// sending unless the session ends. An unordered reliable message arrives as well, exactly once, but does
  /// not wait for messages before it. An unreliable message, at most kMaxUnreliableBytes, is sent with a
  /// datagram of the next two ticks if the byte budget has room for the message, and may get lost. If
  /// `time_s` is set, the client delivers the message when it shows this server time, s.
  ///
  /// A client delivers a reliable message, also an unordered one, after it has received the spawns that the
  /// server sent before the message (tick() sends them), and ends an entity after it has delivered the
  /// reliable messages that were sent before the entity ended. Unreliable messages have no order with spawns
  /// and ends.
  ///
  /// Reliable messages, unreliable ones and fields together use at most half of the client's byte budget, so
  /// that they cannot displace motions. Reliable messages beyond that wait here.
  ///
  /// Fails if the client is unknown, the message is empty or too long, the stamp is invalid, more than
  /// 256 KiB or 1024 reliable messages are waiting or in flight, or too many unreliable ones wait. An
  /// unreliable message also fails while the client has no connection.
  CallResult send(ClientId client, std::span<const std::byte> payload, Delivery delivery,
                  std::optional<double> time_s = std::nullopt);

  /// Sends a message to all clients. Returns the number of clients to which it was sent.
  std::size_t broadcast(std::span<const std::byte> payload, Delivery delivery,
                        std::optional<double> time_s = std::nullopt);
  /// Sends a message to several clients, each as with send(): all but one, a list, those near a point, or
  /// those that see an entity. Returns the number of clients to which it was sent. This number may be 0: it
  /// does not count clients for which send() would fail, for example because too many messages wait for them.
  ///
  /// Fails and sends nothing if the message or the stamp is invalid, the entity is unknown, or the area is
  /// not finite or has a negative radius. Call it before despawn() of the entity.
  Result<std::size_t, CallError> broadcast(const Recipients& to, std::span<const std::byte> payload,
                                           Delivery delivery, std::optional<double> time_s = std::nullopt);

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
  /// again after it was within half the thresholds for a tenth of a second. Fails if an id is unknown,
  /// or if a client owns the entity.
  CallResult follow(EntityId id, RouteId route);

  /// Lets an entity move freely from the next tick on. Fails if it follows no route or is unknown.
  CallResult leave_route(EntityId id);

  /// Like move(), for an entity that is exactly on the route that it follows. The server then need not fit
  /// the distance and the speed.
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

  /// Processes the data that has arrived, and runs all ticks that are due. `now_s` is the present server
  /// time, s. Before each tick, calls `step(tick_time_s)` with the server time of the tick, s: the game moves
  /// its entities to where they are at that time. Returns the number of ticks. Replaces receive() and
  /// tick(). After a long stop of the program it runs all ticks that were missed. If `step` throws, the next
  /// call begins with the same tick. `step` must not call this function, receive() or tick().
  template <class Step>
  std::size_t run_due_ticks(double now_s, Step&& step) {
    receive(now_s);
    std::size_t ticks = 0;
    for (; is_tick_due(); ++ticks) {
      step(tick_time_s(next_tick()));
      tick(now_s);
    }
    return ticks;
  }

  /// True if the next tick is due at the present server time, which the last receive() or tick() has set. A
  /// time that these refuse (ServerStats::times_refused) makes no tick due.
  [[nodiscard]] bool is_tick_due() const;

  /// The tick that the next call of tick() will run.
  [[nodiscard]] Tick next_tick() const;
  /// When a tick is due, s of server time: epoch_s + tick / tick_rate_hz.
  [[nodiscard]] double tick_time_s(Tick tick) const;

  /// Returns the oldest event that was not polled yet, or nullopt. Poll in every tick until it returns
  /// nullopt. At most 16,384 events wait; the server then discards the oldest
  /// (ServerStats::events_discarded). A game that needs no events need not poll.
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
  /// The figures of a client's session and connection. Takes time in proportion to the entities that the
  /// client follows. Nullopt if the client has no session.
  [[nodiscard]] std::optional<SessionStats> session_stats(ClientId client) const;
  /// The number of entities.
  [[nodiscard]] std::size_t entity_count() const;
  /// Counters since the creation of the server. The reference is valid as long as the server exists.
  [[nodiscard]] const ServerStats& stats() const;
  /// The archetypes of the configuration, for find_archetype() and for the names of traffic(). Valid as long
  /// as the server exists.
  [[nodiscard]] std::span<const Archetype> archetypes() const;
  /// What was sent to all clients since the creation of the server, by content, archetype and field: what
  /// costs bandwidth. Takes some microseconds and allocates memory, so call it for reports and not in each
  /// tick. It does not include the messages that a client gets after its session has ended
  /// (closing_count()), nor the headers of the transport, UDP and IP.
  [[nodiscard]] SentTraffic traffic() const;
  /// What was sent about one entity since its spawn, summed over all clients. Nullopt if the id is unknown.
  [[nodiscard]] std::optional<EntityTraffic> traffic_of(EntityId id) const;

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
  /// says. Reports ServerEvent::client_left for each session. Fails if the client is unknown or the reason is
  /// too long.
  CallResult kick(ClientId client, std::string_view reason);

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

  struct Impl;  ///< the implementation; no installed header defines it

 private:
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
