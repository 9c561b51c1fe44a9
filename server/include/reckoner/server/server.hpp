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

/// What becomes of a motion that an owner sends and that its entity cannot have made.
enum class OwnerPolicy : std::uint8_t {
  accept,   ///< it is shown all the same, as long as it lies in the world: the owner is trusted
  correct,  ///< the nearest that the entity can have made takes its place, and the owner is told
  refuse,   ///< it is not shown; the motion before goes on, and comes to rest
};

/// What becomes of an entity whose owner is gone.
enum class OwnerGone : std::uint8_t {
  rest,     ///< it comes to rest within half a second and belongs to the server
  despawn,  ///< it ends
};

/// What an entity that a client owns may do. Its archetype has the rest: top speed and size of the world.
struct OwnershipRules {
  OwnerPolicy policy = OwnerPolicy::correct;  ///< of motions that it cannot have made
  OwnerGone gone = OwnerGone::rest;           ///< what becomes of it when its owner is gone
  double max_acceleration_mps2 = 1000.0;      ///< a body that hits a wall at 10 m/s within a tick has 600
  double max_updates_per_s = 120.0;           ///< motions beyond are not looked at
  /// So far from the middle of a frame it may be when its owner has it enter that, m; 0: it enters none. Who
  /// is in a frame goes where that goes.
  double frame_reach_m = 100.0;
  double silence_s = 1.0;  ///< nothing heard from the owner for so long: the entity comes to rest, s
};

/// What a server counted of entities that clients own, since it was made.
struct OwnershipStats {
  std::uint64_t accepted = 0;    ///< motions
  std::uint64_t corrected = 0;   ///< they were beyond the limits: another took their place
  std::uint64_t refused = 0;     ///< beyond the limits, not shown
  std::uint64_t late = 0;        ///< older than a second, or than one that was taken in; harmless
  std::uint64_t ahead = 0;       ///< stamps from the future
  std::uint64_t too_many = 0;    ///< beyond max_updates_per_s
  std::uint64_t void_terms = 0;  ///< of entities that are not the client's, or not any more
};

/// Whom an entity concerns.
enum class Relevance : std::uint8_t {
  by_distance,  ///< whoever is near enough, see InterestConfig
  always,       ///< everybody: the ball, the flag
  never,        ///< nobody
};

/// Entities and clients carry a mask of groups; a client sees only entities that share a group with it
/// (teams, floors of a building, worlds side by side). Anything goes through this filter, whatever its
/// distance.
inline constexpr std::uint32_t kAllGroups = 0xffffffffu;

/// Who sees what, and how finely. Distances are from the client's eye (Server::set_view), in m.
struct InterestConfig {
  /// Entities up to here are shown; 0: all are, wherever they are. A client without an eye sees then only
  /// what is always relevant.
  double radius_m = 0.0;
  /// What is shown stays until it is this share further away, so that nothing flickers at the edge. The same
  /// for levels of detail.
  double hysteresis = 0.15;
  /// From these distances on the threshold is 4 and 16 times as large; 0: never. What is far looks small.
  std::array<double, 2> level_distance_m{0.0, 0.0};
  /// How often a client's interest are looked at again, s. What is spawned within them shows at once.
  double interval_s = 0.2;
};

/// What a server knows of an entity and what its clients do, side by side, as of the last tick: to be drawn
/// over the game, or watched. Plain data; nothing in it is drawn by Reckoner.
///
/// Both states are in the world, counted from the server's origin; of one that lives in the frame of another
/// both are carried there by the truth of that frame, so that what lies between them is its own error.
struct EntityDebug {
  EntityId id;             ///< which one it is
  State truth;             ///< as the game told it last
  State published;         ///< where the published motion has it at the same instant, before any blend
  double age_s = 0.0;      ///< the tick's time minus the time stamp of the published motion
  double error_m = 0.0;    ///< from truth to published
  double error_rad = 0.0;  ///< the angle between their orientations
  /// What is allowed of that at present: the archetype's thresholds times the level's factor (1, 4 or 16) and
  /// what a budget makes of it.
  double threshold_m = 0.0;
  double threshold_rad = 0.0;  ///< rad
  std::uint8_t level = 0;      ///< the finest level of detail that somebody follows, which all this is about
  std::size_t clients = 0;     ///< that follow the entity, at whatever level
  EntityId frame{};            ///< whose frame it lives in; null: the world
  bool on_route = false;       ///< its motion runs along a route
  bool owned = false;          ///< a client says what it does
};

/// An entity as a client was showing it.
struct SeenPose {
  EntityId entity;  ///< which one it is
  Pose pose;        ///< in the world, from the server's origin
};

/// How a server runs. The defaults suit a game of up to a few dozen players.
struct ServerConfig {
  double tick_rate_hz = 60.0;            ///< ticks per second, 1 to 1000
  double epoch_s = 0.0;                  ///< server time of tick 0, s
  std::vector<Archetype> archetypes{1};  ///< kinds of entity, 1 to 256; the same names on every client
  std::uint32_t max_clients = 64;        ///< more are refused with EndReason::full
  std::uint32_t max_entities = 65'536;   ///< entities at once
  std::size_t bytes_per_second =
      256'000;  ///< to one client at most, headers included; 0: what its link carries
  /// Whether less is sent where a client's link carries less, found out from delay and loss. It costs a new
  /// client's first second; false: for a LAN, or a measurement.
  bool follow_link = true;
  double heartbeat_s = 0.25;    ///< a datagram goes to every client at least this often
  double join_timeout_s = 5.0;  ///< a connection that does not ask to join is closed
  /// A client whose connection was lost without a goodbye may go on with its session for so long, s, over
  /// another connection: it keeps its id, and nothing is lost of what was sent reliably either way. 0: it is
  /// gone at once. Where there is no more room, who is away makes place.
  double resume_s = 60.0;
  /// What the sender spends. At most one of the two is above zero; neither: Archetype::threshold_m decides.
  double updates_per_second = 0.0;  ///< budget per entity: threshold adapts to it (token bucket)
  double fixed_rate_hz = 0.0;       ///< publish every entity evenly at this rate, whatever it does
  InterestConfig interest;          ///< who sees what; by default everybody sees everything
  /// How far back pose_seen_by() and rewind() go, s, at most 1: neither the instant at which something was
  /// shown nor the instant that it meant lies longer ago, so that nobody shoots from the past. 0: clients are
  /// not asked what they show, and nothing is remembered of it.
  double rewind_s = 0.0;
  /// Threads that publish and encode, the caller's included; 0: one for each of the machine's cores. What is
  /// sent does not depend on it.
  unsigned threads = 1;
  /// Where the server says what happens: clients joined, refused (with the reason), left; fallen behind what
  /// they are owed because their link carries too little; what was refused of them. Empty: nowhere.
  LogSink log{};
};

/// Returns the first invalid setting, in one line that names it, its value and its range; nullopt if all are
/// valid. Numbers must be finite. docs/REFERENCE.md lists the ranges.
[[nodiscard]] RECKONER_SERVER_API std::optional<Error> find_invalid_setting(const ServerConfig& config);

/// Something that happened on the server, oldest first from Server::poll_event().
struct ServerEvent {
  /// What happened.
  enum class Kind : std::uint8_t {
    client_joined,
    client_left,      ///< said goodbye, or was lost and did not come back in time
    client_refused,   ///< `text` says why
    owner_corrected,  ///< motions of `entity` that its owner sent were beyond the limits: it was told
    owner_refused,    ///< the same, and they were not shown
    client_lost,  ///< its connection was lost; it may come back (ServerConfig::resume_s). It owns nothing now
    client_back,  ///< it is back, the same as before
  };
  Kind kind = Kind::client_joined;  ///< what happened
  ClientId client;                  ///< of whom; null for one that was never let in
  std::string text;                 ///< why, for a person, where there is a reason
  EntityId entity{};                ///< that it is about, if any
};

/// What became of Server::enter_frame().
enum class FrameResult : std::uint8_t {
  done,
  unknown_entity,
  unknown_frame,
  circle,         ///< the frame's own entity lives in this one's, or is it
  too_deep,       ///< it, or what lives in it, would be in more than kMaxFrameDepth frames
  owned,          ///< a client owns it, and says itself where it goes
  out_of_limits,  ///< it moves faster, in that frame, or is further away than its archetype may
};

/// Why motions were published: each counts once, under the first that held.
struct PublishCauses {
  std::uint64_t first = 0;     ///< of an entity, or of a level of detail that somebody began to follow
  std::uint64_t owner = 0;     ///< the client that owns the entity sent it
  std::uint64_t teleport = 0;  ///< the game declared one
  std::uint64_t frame = 0;     ///< into the frame of another, or out of it
  std::uint64_t route = 0;     ///< on to a route, or off it
  std::uint64_t due = 0;       ///< it would have been off by the threshold; or the budget, or the rate, asked
};

/// What a server counted since it was made.
struct ServerStats {
  std::uint64_t ticks = 0;               ///< since the start
  std::uint64_t publishes = 0;           ///< motions published, each perhaps to many clients
  PublishCauses published_for;           ///< they add up to publishes
  std::uint64_t updates_sent = 0;        ///< motions handed to the transport, one per client
  std::uint64_t full_updates_sent = 0;   ///< of those, without reference to an earlier motion
  std::uint64_t repairs_sent = 0;        ///< of updates_sent, because an earlier datagram was lost
  std::uint64_t datagrams_sent = 0;      ///< with state, handed to the transport, to all clients
  std::uint64_t state_bytes_sent = 0;    ///< of their payloads, without headers
  std::uint64_t update_bits_sent = 0;    ///< of state_bytes_sent: the updates, without the datagrams' heads
  std::uint64_t route_updates_sent = 0;  ///< of updates_sent: on a route
  std::uint64_t route_bits_sent = 0;     ///< of update_bits_sent: on a route
  std::uint64_t route_entity_ticks = 0;  ///< one for every tick of every entity that is published on a route
  std::uint64_t field_changes_sent = 0;  ///< values of user fields handed to the transport, one per client
  std::uint64_t field_repairs_sent = 0;  ///< of those, because an earlier datagram was lost
  std::uint64_t field_bits_sent = 0;     ///< of state_bytes_sent
  std::uint64_t messages_sent = 0;       ///< game messages handed to the transport, one per client
  std::uint64_t messages_dropped = 0;    ///< not sent: no room, or too much on its way already
  std::uint64_t messages_received = 0;   ///< game messages of clients, queued for poll_message()
  std::uint64_t messages_refused = 0;    ///< of clients that had sent too many: gone
  std::uint64_t datagrams_lost = 0;      ///< found lost by acknowledgement or time-out
  std::uint64_t malformed = 0;           ///< payloads of clients refused that no honest client sends
  /// Payloads, and motions and reports in them, that were not taken in, by reason. Some are merely late.
  RefusalCounts refusals;
};
/// Adds every counter of `part` to `total`: for example of several servers in one process.
RECKONER_SERVER_API PublishCauses& operator+=(PublishCauses& total, const PublishCauses& part);
RECKONER_SERVER_API ServerStats& operator+=(ServerStats& total, const ServerStats& part);

struct ServerTestSwitches;  // of measurements and tests

/// The publishing side: knows the truth about every entity and decides what each client must be told.
///
/// Per tick: change entities (spawn, move, teleport, despawn), then call tick(). Call receive() as often as
/// something may have arrived; the sooner, the better the clients' clocks. Time is always the caller's: any
/// clock on which tick k is due at epoch_s + k / tick_rate_hz.
///
/// Belongs to one thread at a time. The transport must outlive it and serve it alone.
class RECKONER_SERVER_API Server {
 public:
  /// Serves the clients of `transport`, which is listening already. Fails with find_invalid_setting() if the
  /// configuration is invalid.
  [[nodiscard]] static Result<Server> create(ServerConfig config, Transport& transport);
  /// Like create(), for a configuration that is known to be valid. If it is invalid, this prints the error
  /// and ends the program.
  Server(ServerConfig config, Transport& transport);
  ~Server();
  Server(Server&& other) noexcept;             ///< `other` is then good only for assignment and destruction
  Server& operator=(Server&& other) noexcept;  ///< `other` is then good only for assignment and destruction

  /// Brings an entity into the world with the coming tick. `name` (at most 64 bytes) is shown to clients.
  /// With `frame` it begins in that entity's frame (enter_frame()), and `state` is in it. Null if there are
  /// max_entities already, if archetype or state are invalid, and for a frame that enter_frame() would
  /// refuse.
  [[nodiscard]] EntityId spawn(std::size_t archetype, const std::string& name, const State& state,
                               EntityId frame = {});

  /// The truth about an entity at the coming tick, in the frame that it lives in. False (and no change) for
  /// an unknown id, insane numbers, or one that a client owns.
  bool move(EntityId id, const State& truth);

  /// As move(), but nothing in between was visited: clients snap. A client that owns it is told, and goes on
  /// from there.
  bool teleport(EntityId id, const State& truth);

  /// What lives in its frame goes on in the frame that it was in itself, as enter_frame() has it: move() it
  /// there. (What would move too fast there for its archetype stands still; what would be out of the world
  /// ends with it.)
  bool despawn(EntityId id);

  /// Gives an entity to a client, whose game says from now on what it does (Client::move()), within the rules
  /// and the limits of its archetype; or to another client than before. What it does is published with the
  /// owner's time stamps. The client is to follow it already, or as soon as it does. It stays in
  /// the frame that it is in until its owner has it enter another or leave. False for an unknown id.
  bool give(EntityId id, ClientId owner, const OwnershipRules& rules = {});
  /// The entity is the server's again, which goes on from state(). False if no client owns it.
  bool revoke(EntityId id);
  /// Nothing if no client owns it.
  [[nodiscard]] std::optional<ClientId> owner(EntityId id) const;
  /// What the server has an entity doing at the coming tick: what the game said last or, if a client owns it,
  /// its owner. Nothing for an unknown id.
  [[nodiscard]] std::optional<State> state(EntityId id) const;
  /// What was counted of entities that clients own. Lives as long as the server.
  [[nodiscard]] const OwnershipStats& ownership_stats() const;

  /// From the coming tick on the entity lives in the frame of another (a passenger on a ship, a turret on a
  /// tank), or, with null, in the world: move() takes its state there, and whatever is sent, predicted and
  /// blended is in that frame. Frames lie in each other up to kMaxFrameDepth deep. The entity stays where it
  /// is: its truth is carried over by those of all frames as they were told last, in place, velocity (with
  /// that of the turning frame), acceleration and orientation; whoever moves the frame before the tick moves
  /// what is in it too. It leaves its route; one that it follows afterwards is in the frame. An archetype
  /// without orientation turns with its frame. No change if it is not `done`.
  ///
  /// Whoever is shown the entity is shown the frame as well, however far away its middle is; whoever must not
  /// see the frame (Relevance::never, groups) is not shown what is in it.
  [[nodiscard]] FrameResult enter_frame(EntityId id, EntityId frame);

  /// The entity in whose frame it lives; null for the world, or an unknown id.
  [[nodiscard]] EntityId frame(EntityId id) const;

  /// The truth as told last, in the world; nothing for an unknown id.
  [[nodiscard]] std::optional<State> in_world(EntityId id) const;

  /// Shifts the origin that the game counts from (large worlds): from now on what it tells in the world's
  /// frame, views included, and what in_world() gives, counts from this point, m. Entities stay where they
  /// are, clients notice nothing, and Archetype::world_size_m goes on counting from the first origin. Routes
  /// and published() stay in the coordinates of that one. False, and no change, if the point is none.
  bool set_origin(const glm::dvec3& origin);

  /// Whom an entity concerns; by default whoever is near enough. False for an unknown id.
  bool set_relevance(EntityId id, Relevance relevance);
  /// The same for one client, whatever goes for the others.
  bool set_relevance(ClientId client, EntityId id, Relevance relevance);

  /// Groups of an entity or a client (interest.hpp); by default all. False for an unknown id.
  bool set_groups(EntityId id, std::uint32_t groups);
  /// The same for a client; by default all.
  bool set_groups(ClientId client, std::uint32_t groups);

  /// Where a client looks from, m: what is near enough (InterestConfig) is shown to it. Call it as it moves.
  /// False for an unknown client or a place that is none.
  bool set_view(ClientId client, const glm::dvec3& eye);

  /// Sets a user field (Archetype::fields, by its number) as of the coming tick. Every client that knows the
  /// entity is sent it, as often as it takes to arrive; of changes in quick succession perhaps only the last.
  /// False, and no change, for an unknown id or field, or a value of another type or out of range. What is no
  /// change after rounding to the field's step costs nothing.
  bool set_field(EntityId id, std::size_t field, const FieldValue& value);

  /// The value as clients get it; nothing for an unknown id or field.
  [[nodiscard]] std::optional<FieldValue> field(EntityId id, std::size_t field) const;

  /// Sends a message to a client. Reliable: it arrives, after all that were sent so before, unless the
  /// connection ends; at most kMaxReliableBytes. Unreliable: it travels with the datagrams of the next two
  /// ticks, if the byte budget has room for it, and may get lost; at most kMaxUnreliableBytes. With a stamp,
  /// the client gets it when what it shows has come to that server time, s.
  /// False, and nothing is sent, for an unknown client, an empty or too large message, an insane stamp, and
  /// if more than 256 KiB or 1024 reliable messages are on their way, or too many unreliable ones wait.
  bool send(ClientId client, std::span<const std::byte> payload, Delivery delivery,
            std::optional<double> time_s = std::nullopt);

  /// The same to all clients; to how many.
  std::size_t broadcast(std::span<const std::byte> payload, Delivery delivery,
                        std::optional<double> time_s = std::nullopt);

  /// The next message that a client sent, oldest first. Its payload is valid until the next call. Poll after
  /// every receive(): what waits is bounded for each client, and what is beyond is gone
  /// (ServerStats::messages_refused).
  [[nodiscard]] std::optional<GameMessage> poll_message();

  /// What a client was showing of an entity at server time `time_s`, as the client itself estimates server
  /// time (Client::server_time_s(), or the stamp that it put on a message): the pose, computed by the
  /// client's own code from what it had applied by then, its mode, its delay and its blend. For hit tests;
  /// call it when the message about the hit comes. Nothing if the client did not show the entity, the instant
  /// lies in the future or beyond ServerConfig::rewind_s, or what it showed is not known: for half a second
  /// after its clock stepped or its connection was silent. What the game itself changed (Client::correct())
  /// is not in it.
  [[nodiscard]] std::optional<Pose> pose_seen_by(ClientId client, EntityId entity, double time_s) const;

  /// The same for everything that the client was showing, in order of slot; empty if nothing is known. Valid
  /// until the next call.
  [[nodiscard]] std::span<const SeenPose> rewind(ClientId client, double time_s);

  /// Registers a route and sends it to every client, later ones included, once. It stays for the server's
  /// life. Fails, with the reason, on what Route::make() fails on, above kMaxRoutes and kMaxRouteParts, and
  /// if it does not fit into a message (RouteMessage).
  [[nodiscard]] Result<RouteId> add_route(const RouteDefinition& definition);

  /// Says that an entity moves along a route. Keep calling move(): as long as the truth is within the
  /// archetype's thresholds of the route, in place and in facing (an archetype without orientation: in
  /// place), the entity is published as a distance, a speed and an acceleration along it. When it strays it
  /// goes over to free motion by itself, and back when it has been within half the thresholds for a tenth of
  /// a second. False for an unknown id.
  bool follow(EntityId id, RouteId route);

  /// The entity moves freely from the coming tick on. False if it followed no route, or is unknown.
  bool leave_route(EntityId id);

  /// As move(), for an entity that follows a route and is on it, exactly: nothing has to be fitted. `along`
  /// is as Route has it. False (and no change) if it follows none, or the numbers are insane.
  bool move_along(EntityId id, const RouteState& along);

  /// Null if there is none. Valid for the server's life.
  [[nodiscard]] const Route* route(RouteId id) const;

  /// Takes in what arrived. `now_s` is the present server time and may lie between ticks.
  void receive(double now_s);

  /// Publishes and sends for the next tick, whose server time is tick_time_s(). `now_s` is the present server
  /// time: a late tick is stamped with its own time but sent, and answered for, at `now_s`. While the tick
  /// after it is due as well, datagrams are left to that one, for three ticks in a row at most.
  void tick(double now_s);

  /// The tick that the next call of tick() will run.
  [[nodiscard]] Tick next_tick() const;
  /// When a tick is due, s of server time: epoch_s + tick / tick_rate_hz.
  [[nodiscard]] double tick_time_s(Tick tick) const;

  /// The next event, oldest first; nothing when all have been told. Poll every tick.
  [[nodiscard]] std::optional<ServerEvent> poll_event();

  /// The client's connection, as the transport knows it (EnetTransport::identity()); null if it is gone, or
  /// has none at present.
  [[nodiscard]] PeerId peer(ClientId client) const;

  [[nodiscard]] std::size_t client_count() const;  ///< those that are connected
  /// Entities in the world.
  [[nodiscard]] std::size_t entity_count() const;
  /// What was counted since it was made. Lives as long as the server.
  [[nodiscard]] const ServerStats& stats() const;

  /// The motion last published for an entity, as clients decode it, or nothing. For drawing and for tests.
  /// Its route, if any, is the server's; it is in the frame that it says.
  [[nodiscard]] std::optional<Motion> published(EntityId id) const;

  /// An entity's truth beside what is published of it, for drawing over the game and for watching; to be
  /// called after tick(). Costs some hundred nanoseconds. Nothing for an unknown id or before its first tick.
  [[nodiscard]] std::optional<EntityDebug> debug(EntityId id) const;

  /// Tells every client that the server goes down, and lets none in any more. Keep calling receive() for a
  /// moment afterwards.
  void shutdown();

 private:
  friend RECKONER_SERVER_API Server make_test_server(ServerConfig config, Transport& transport,
                                                     const ServerTestSwitches& switches);

  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
