// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/client/playout.hpp>
#include <reckoner/net/archetype.hpp>
#include <reckoner/net/call_result.hpp>
#include <reckoner/net/dialer.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/log.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// What a client shows of an entity, and the motion behind it, for debug drawing and monitoring. Plain data;
/// Reckoner draws nothing. Both states are in the world, count from the client's origin, and are per second
/// of shown time.
struct ShownDebug {
  EntityId id;                 ///< the entity
  State shown;                 ///< the drawn state
  State motion;                ///< the state of the known motions at the same time, without the blend
  double shown_time_s = 0.0;   ///< the shown instant, s of server time
  double motion_time_s = 0.0;  ///< time stamp of the newest motion, s of server time
  double age_s = 0.0;          ///< present server time minus motion_time_s, s
  double blend_m = 0.0;        ///< distance between `shown` and `motion`, m
  double blend_rad = 0.0;      ///< angle between the orientations of `shown` and `motion`, rad
  double blend_left_s = 0.0;   ///< time until the blend ends, s; 0: there is no blend
  /// The archetype's threshold from the server, m. The shown error stays within it while the link is faster
  /// than the motion changes, and the entity has the finest level of detail.
  double threshold_m = 0.0;
  double threshold_rad = 0.0;  ///< the archetype's threshold of the orientation, rad
  bool fading = false;         ///< true if its motion is no longer confirmed, so that it fades to rest
  bool owned = false;          ///< true if this client owns it
  EntityId frame{};            ///< the entity in whose frame it is; null: it is in the world frame
};

/// How a client with a Dialer reconnects after it has joined once (docs/connections.md).
struct ReconnectConfig {
  double silence_s = 5.0;     ///< a connection on which nothing arrived for this time is lost, s
  double first_wait_s = 0.5;  ///< longest wait before the first attempt, and before each other server, s
  double growth = 2.0;        ///< factor of the wait each time when all servers were tried in vain
  double most_wait_s = 10.0;  ///< longest wait before any attempt, s
  double jitter = 0.5;        ///< share of each wait that is random, so that clients spread out
  double attempt_s = 6.0;     ///< an attempt that has not succeeded after this time has failed, s
  double give_up_s = 0.0;     ///< the client stops its attempts after this time, s; 0: never
};

/// Configuration of a client.
struct ClientConfig {
  std::vector<Archetype> archetypes{1};  ///< equal to the server's, in equal order
  PlayoutConfig playout;                 ///< which instant to show, and how fast to blend
  double ack_interval_s = 0.05;          ///< received datagrams are acknowledged this often, s
  double silence_s = 1.0;  ///< all motion fades to rest if the connection is silent for longer, s
  /// An entity fades to rest if the server neither updates nor confirms it for this time, s. That happens if
  /// the server cannot send this client everything that it should.
  double unconfirmed_s = 5.0;
  /// Budget of updates per second of each entity that this client owns. 0: its thresholds decide.
  double owned_updates_per_second = 0.0;
  /// Largest number of entities that the client keeps at once, so that a faulty or hostile server cannot fill
  /// its memory; 1 to kMaxEntities. The client refuses further entities: they are never shown, also not after
  /// others have ended (ClientStats::entities_refused). At least the number of entities that the server finds
  /// relevant for one client, and those that have just ended.
  std::uint32_t max_entities = 65'536;
  ReconnectConfig reconnect;  ///< how a client with a Dialer reconnects
  /// Receives log records: the client joined, was refused or lost its connection (with the reason), its clock
  /// stepped, data from the server was refused. Empty: no log.
  LogSink log{};
};

/// Returns the first invalid setting, in one line that names it, its value and its range; nullopt if all are
/// valid. Numbers must be finite. docs/REFERENCE.md lists the ranges.
[[nodiscard]] RECKONER_CLIENT_API std::optional<Error> find_invalid_setting(const ClientConfig& config);
/// Returns the first invalid playout setting, in one line that names it, its value and its range; nullopt if
/// all are valid.
[[nodiscard]] RECKONER_CLIENT_API std::optional<Error> find_invalid_setting(const PlayoutConfig& playout);

enum class ClientStatus : std::uint8_t {
  connecting,    ///< there is no connection yet
  joining,       ///< connected; the server has not admitted the client yet
  joined,        ///< the server has admitted the client
  refused,       ///< the server refused the client, see Client::refusal()
  disconnected,  ///< the connection ended or could not be established
  reconnecting,  ///< the connection was lost; entities are still shown and fade to rest
};

/// An event in the client's world. Client::poll_event() returns the oldest first.
struct ClientEvent {
  /// The kind of event.
  enum class Kind : std::uint8_t {
    joined,
    spawned,
    despawned,
    teleported,
    fields_changed,  ///< of a visible entity; `fields` says which
    /// This client owns the entity from now on: continue from Client::owned() and call Client::move(). Comes
    /// after `spawned`, as soon as the client can show the entity.
    given,
    revoked,  ///< this client no longer owns the entity
    /// The game must continue from Client::owned(): the server refused the owner's motion, or the client
    /// brought the entity to rest while the game did not move it.
    corrected,
    server_closed,  ///< the server shut down
    disconnected,   ///< the connection has ended, and the client does not reconnect
    lost,           ///< the connection is lost, and the client reconnects
    resumed,        ///< the client has resumed its session; no reliable message is lost in either direction
    /// The client has reconnected, but the server does not know its session: the server was restarted, or the
    /// client was disconnected for too long. All entities have despawned, and a new world follows. Reliable
    /// messages may be lost (ClientStats::messages_abandoned).
    restarted,
    prediction_failed,  ///< the server has not spawned the entity of Client::predict_spawn() in time, or
                        ///< refuses
    /// The shown pose of the entity has jumped, although the server has not teleported it. After a silence, a
    /// pause, a suspension or a jump of the client's clock, the entity was too far from its motion to catch
    /// up within half a second at three times its usual speed (docs/connections.md).
    snapped,
  };
  Kind kind = Kind::joined;  ///< the kind of event
  EntityId entity;           ///< the entity concerned; null if the event concerns the client itself
  std::uint32_t fields = 0;  ///< changed fields, one bit each; bit 0 is the first field
  EntityId predicted{};      ///< of `spawned`: the prediction that `entity` replaces; null if there is none
};

/// Properties of an entity that do not change.
struct EntityInfo {
  std::size_t archetype = 0;      ///< index of its archetype
  std::string name;               ///< name from the server's game, at most 64 bytes of UTF-8
  bool short_lived = false;       ///< a projectile or the like (Server::spawn_short_lived())
  std::vector<std::byte> data{};  ///< of a short-lived entity: bytes from the server's game
  std::optional<double> end_s{};  ///< of a short-lived entity: server time of its end, s, if it is known
};

/// An entity to be drawn in this frame.
struct ShownEntity {
  EntityId id;  ///< the entity
  /// Pose and derivatives in the world. Pose and velocity are continuous from frame to frame. The derivatives
  /// are those of what is drawn: they contain the blend. Client::motion_at() gives the motion without it.
  State shown;
  double shown_time_s = 0.0;  ///< the shown instant, s of server time
  double age_s = 0.0;         ///< present server time minus the time stamp of the motion in use, s
  /// The route on whose curve the pose lies; null if the entity moves freely or is being blended. Valid as
  /// long as the client's session.
  const Route* route = nullptr;
  EntityId frame{};  ///< the entity in whose frame it is; null: it is in the world frame
  State local{};     ///< the shown state relative to that frame. `route` is relative to the frame, too
};

/// The poses to be drawn in this frame, as arrays. An index means one entity in all arrays.
struct ShownPoses {
  std::span<const EntityId> ids;            ///< the entities, in no order, each once
  std::span<const glm::dvec3> positions;    ///< positions, m
  std::span<const glm::quat> orientations;  ///< unit quaternions
  double shown_time_s = 0.0;                ///< the shown instant, s of server time
};

/// Counters of a client since its creation.
struct ClientStats {
  std::uint64_t datagrams_received = 0;     ///< state datagrams that arrived
  std::uint64_t datagrams_lost = 0;         ///< gaps in the sequence numbers that were never filled
  std::uint64_t updates_applied = 0;        ///< motions that were applied
  std::uint64_t updates_stale = 0;          ///< motions older than a known one, or of a despawned entity
  std::uint64_t datagrams_stale = 0;        ///< state datagrams not read: duplicates, or much too late
  std::uint64_t malformed = 0;              ///< refused payloads and messages that no honest server sends
  std::uint64_t unknown_references = 0;     ///< datagrams refused because they refer to unknown motions
  std::uint64_t state_bytes_received = 0;   ///< payload bytes of state datagrams, without headers
  std::uint64_t field_changes_applied = 0;  ///< values of user fields that were applied
  std::uint64_t field_changes_stale = 0;  ///< field values known already, outdated, or of a despawned entity
  std::uint64_t corrections = 0;          ///< corrections of entities that this client owns
  std::uint64_t messages_received = 0;    ///< game messages, queued for poll_message()
  std::uint64_t messages_refused = 0;     ///< game messages discarded because too many waited
  std::uint64_t messages_sent = 0;        ///< game messages passed to the transport
  std::uint64_t messages_dropped = 0;     ///< game messages not sent
  std::uint64_t messages_abandoned = 0;   ///< reliable messages not confirmed when their session ended
  std::uint64_t connections_lost = 0;     ///< lost connections
  /// Entities of the server that the client does not keep: beyond ClientConfig::max_entities, or in the frame
  /// of such an entity.
  std::uint64_t entities_refused = 0;
  /// Times that the client ignored: they were not finite, beyond +-1e12 s, or far from the time before and
  /// not confirmed by the next one. A clock that is set back by more than 0.25 s counts once.
  std::uint64_t times_refused = 0;
  /// Refused payloads and messages, by reason. Some are only late.
  RefusalCounts refusals;
  /// Seconds of the server's clock per second of the game's clock: 1 unless the game's clock is clearly slow
  /// or fast, for example because the game limits its frame times. The client then corrects it.
  double clock_rate = 1.0;
  double round_trip_s = 0.0;  ///< smallest recent round-trip time, s
  double delay_s = 0.0;       ///< present server time minus the shown time, s
};

/// The longest hold of Client::correct(), s.
inline constexpr double kMaxHoldS = 10.0;

struct ClientTestSwitches;  // of measurements and tests

/// The showing side. It computes where to draw every remote entity, continuous in position and velocity.
///
/// In each frame: call receive() with the local time, handle events, and draw frame() for the same time. Call
/// flush() if the game has sent messages. Local time is any clock in seconds. The client estimates server
/// time from arriving data. It corrects a clock that runs at another rate (0.25 to 4), stands still or is
/// set, within about a second. Times that no clock has are ignored (ClientStats::times_refused).
///
/// frame() and the other calls may be ahead of receive(), to show motion a little later than now. Everything
/// is then extrapolated by that lead. If it is longer than 0.25 s, the log has the error `frame is ahead of
/// receive`; a call that is ahead by more than 2 s counts as a call at the time of the call before.
///
/// Belongs to one thread at a time. The transport or dialer must outlive the client and serve no other one.
class RECKONER_CLIENT_API Client {
 public:
  /// Uses the one connection of `transport`, which knows the server's address. The client joins as soon as
  /// the transport is connected. Fails with find_invalid_setting() if the configuration is invalid.
  [[nodiscard]] static Result<Client> create(ClientConfig config, Transport& transport);
  /// Connects with the first receive(). If a client that has joined loses its connection, it reconnects by
  /// itself (ClientConfig::reconnect, docs/connections.md). Fails with find_invalid_setting() if the
  /// configuration is invalid.
  [[nodiscard]] static Result<Client> create(ClientConfig config, Dialer& dialer);
  ~Client();
  Client(Client&& other) noexcept;             ///< afterwards `other` may only be assigned or destroyed
  Client& operator=(Client&& other) noexcept;  ///< afterwards `other` may only be assigned or destroyed

  /// Processes arrived data and acknowledges it. `local_s` is the local time, s.
  void receive(double local_s);

  /// All visible entities at local time `local_s`, in order of slot. The span is valid until the next call of
  /// a non-const member. Empty until the clock is known.
  [[nodiscard]] std::span<const ShownEntity> frame(double local_s);

  /// The poses of frame() as arrays. For many entities this is about ten times as fast. The results differ
  /// from those of frame() by at most 1e-9 of the position's size and 1e-6 rad. Call either function, or
  /// both. The spans are valid until the next call of a non-const member.
  [[nodiscard]] ShownPoses sample(double local_s);

  /// Pauses or continues this client's view, for a menu or a picture. The server and the other clients go on.
  /// During a pause, frame() and sample() return the entities of the pause, at rest: despawned entities stay,
  /// and new ones appear afterwards. Continue to call receive() and to poll. After the pause, entities
  /// continue from their shown poses and catch up within half a second, continuous in position and velocity.
  /// Entities that have teleported jump, and so do those that are too far away to catch up (`snapped`).
  ///
  /// The server does not know what a paused client saw (Server::pose_seen_by()). To pause or to slow down the
  /// whole game, stop or slow the clocks of the server and of all clients instead: ScaledClock.
  void set_paused(bool paused, double local_s);

  /// Changes ClientConfig::playout: the mode, the delay or the blend. The shown poses do not jump in
  /// position, orientation or speed. Shown time runs up to a quarter slower or faster until the delay is the
  /// new one; for 200 ms this takes 1.6 s. A change from or to present mode blends at the beginning or at the
  /// end of that time.
  ///
  /// The server is notified, so that it sends what the mode needs. For about half a second after a change
  /// from or to present mode, it does not know what this client saw (Server::pose_seen_by()). Returns false
  /// and changes nothing if find_invalid_setting() refuses the settings.
  bool set_playout(const PlayoutConfig& playout, double local_s);

  /// The current playout settings, from the configuration or from the last set_playout().
  [[nodiscard]] const PlayoutConfig& playout() const;

  /// Sets the origin of the game's coordinates, m, for games that keep it near their camera. From then on,
  /// shown states and the arguments of correct() and move() count from this point of the server's world.
  /// Nothing else changes, so the picture does not jump if the camera is shifted, too. Routes
  /// (ShownEntity::route) are not shifted. Returns false and changes nothing if the point is not finite.
  bool set_origin(const glm::dvec3& origin);

  /// The oldest event that was not polled yet, or nullopt. Poll every frame, before or after frame():
  /// receive() queues the events of everything that a frame() for the same time shows. A frame() for a later
  /// time may queue more.
  [[nodiscard]] std::optional<ClientEvent> poll_event();

  /// The state of the connection, as of the last receive().
  [[nodiscard]] ClientStatus status() const;
  /// Why the client was refused or disconnected, or why the last attempt failed; otherwise empty.
  [[nodiscard]] const std::string& refusal() const;
  /// How long the client has been reconnecting, s; 0 if it is not.
  [[nodiscard]] double lost_for_s(double local_s) const;

  /// Name and archetype of an entity that is shown or was shown a moment ago; null if it is unknown. Valid
  /// until the next call of a non-const member.
  [[nodiscard]] const EntityInfo* info(EntityId id) const;

  /// Keeps a number for the game with an entity, for example an index or a pointer into its own data. It
  /// exists as long as info(). Returns false if the id is unknown.
  bool set_user_value(EntityId id, std::uint64_t value);
  /// The number of set_user_value(), 0 by default; nullopt if the id is unknown.
  [[nodiscard]] std::optional<std::uint64_t> user_value(EntityId id) const;

  /// The value of a user field (its index in Archetype::fields) at the instant of the last receive() or
  /// frame(). In present mode it is the newest value. Null if the id or the field is unknown. Valid until the
  /// next call of a non-const member.
  [[nodiscard]] const FieldValue* field(EntityId id, std::size_t field) const;

  /// Sends a message to the server. A reliable message, at most kMaxReliableBytes, arrives in the order of
  /// sending unless the session ends (ClientEvent::Kind::restarted). While the client reconnects, it waits.
  /// An unreliable message, at most kMaxUnreliableBytes, may get lost. Both are sent with the next receive(),
  /// or at once with flush(). The server's game receives the time stamp, s of server time; it can be the
  /// instant that the player saw (ShownEntity::shown_time_s).
  ///
  /// Returns false and sends nothing if the client has not joined, the message is empty or too large, the
  /// stamp is invalid, or too many messages wait.
  bool send(std::span<const std::byte> payload, Delivery delivery,
            std::optional<double> time_s = std::nullopt);

  /// Sends now what waits for the next receive(): messages of send(), changed playout settings and
  /// acknowledgements. Call it after the last send() of a frame; otherwise the messages wait for a frame. All
  /// messages since the last call share datagrams. `local_s` is the local time, s. Does nothing without a
  /// connection.
  void flush(double local_s);

  /// The next message from the server, or nullopt. A message with a time stamp is delivered when that time is
  /// shown, others at once. The payload is valid until the next call. Poll every frame: the queue is limited,
  /// and messages beyond it are discarded (ClientStats::messages_refused).
  [[nodiscard]] std::optional<GameMessage> poll_message();

  /// The estimated server time at local time `local_s`, s; nullopt before the first answer.
  [[nodiscard]] std::optional<double> server_time_s(double local_s) const;

  /// Replaces a shown state, for example because the game pushed the entity out of an obstacle. The blend
  /// continues from there, onto the known motion.
  ///
  /// With `hold_s` above 0, the game anticipates a hit that the known motion does not contain, for example of
  /// the player's car and a ball. The entity then continues from `shown` with its velocity and acceleration
  /// until a motion with the hit has arrived (in the buffered modes: until that motion is shown), and blends
  /// onto that motion. If no such motion comes within `hold_s` (at most kMaxHoldS), s, the guess was wrong,
  /// and the entity blends onto the known motion. Good values are a round trip and 0.2 s more; in the
  /// buffered modes, add the delay.
  ///
  /// Returns false if the entity is not shown, this client owns it, the state is invalid, or `hold_s` is out
  /// of range.
  bool correct(EntityId id, const State& shown, double local_s, double hold_s = 0.0);

  /// The motion of an entity at server time `server_time_s` (s), in world coordinates, without blends, chases
  /// and corrections: interpolated between the motions that the client knows, and extrapolated after the
  /// newest one, in every mode. Unlike ShownEntity::shown, its velocity and acceleration are those of the
  /// motion alone. Between two known motions the acceleration is zero. An owned entity continues from its
  /// last move(), and a predicted one from its start. For the motion behind a drawn pose, pass
  /// ShownEntity::shown_time_s.
  ///
  /// Nullopt if the client does not show the entity, or knows nothing of that time: it is before the oldest
  /// motion that the client keeps, at or after the entity's end, or not finite.
  [[nodiscard]] std::optional<State> motion_at(EntityId id, double server_time_s) const;

  /// Sets the state of an entity that this client owns, at local time `local_s`. Call it every frame, after
  /// receive(). The entity is shown in this state without delay, and necessary updates are sent at once. If
  /// the velocity is zero although positions change, other clients get an estimate (Archetype::velocity).
  ///
  /// If `frame` is not null, `state` is relative to that entity's frame, and is shown where the frame is
  /// shown. To change frames, pass another frame; into_frame() and out_of_frame() with ShownEntity::shown of
  /// the frames convert the state. The server's game must have marked the entity that carries the frame
  /// (Server::set_boardable()); otherwise the server corrects the owner. If the entity cannot be moved,
  /// changes nothing and returns the reason.
  CallResult move(EntityId id, const State& state, double local_s, EntityId frame = {});

  /// Like move(), but the entity jumps to the new state: no client blends. For a blink or a portal that the
  /// player's game decides about. The server must allow it (OwnershipRules::max_teleport_m), and otherwise
  /// corrects the owner.
  CallResult teleport(EntityId id, const State& state, double local_s, EntityId frame = {});

  /// Shows an entity at once that this game expects the server to spawn: the player's own projectile. The
  /// entity moves as extrapolated from `state` at local time `local_s`, and frame() contains it. The game
  /// asks the server for the entity, for example with a message about the shot that contains `key`, a number
  /// of its own choice. The server's game calls Server::spawn_short_lived() with this key.
  ///
  /// When the client shows the server's entity, `spawned` is reported with the id that this function has
  /// returned in ClientEvent::predicted, and the entity blends from the predicted pose. If the server refuses
  /// (Server::refuse_prediction()), or the entity does not arrive within `patience_s` (0 to 60 s), the
  /// predicted entity ends with `prediction_failed`. At most 64 at a time.
  [[nodiscard]] SpawnResult predict_spawn(std::size_t archetype, const State& state, std::uint32_t key,
                                          double local_s, double patience_s = 1.0);
  /// Ends a predicted entity without an event. Returns false if there is none with this id.
  bool drop_prediction(EntityId id);

  /// The state from which an owned entity should continue at local time `local_s` after it was given or
  /// corrected, relative to owned_frame(). It is the server's motion, extrapolated. Nullopt if this client
  /// does not own the entity.
  [[nodiscard]] std::optional<State> owned(EntityId id, double local_s) const;
  /// The frame of owned(); null if it is the world frame, or if this client does not own the entity.
  [[nodiscard]] EntityId owned_frame(EntityId id) const;

  /// The shown state of an entity and the motion behind it, as of the last frame() or sample(), for debug
  /// drawing. Nullopt if the entity was not shown then.
  [[nodiscard]] std::optional<ShownDebug> debug(EntityId id) const;

  /// Counters since the creation. Valid as long as the client; every non-const member changes them.
  [[nodiscard]] const ClientStats& stats() const;

  /// Leaves the server for good. Continue to call receive() until status() is disconnected, for as long as
  /// the game is willing to wait, for example 2 s. The client first sends the reliable messages that the
  /// server still lacks, for at most 10 s, and then ends the connection; without such messages, it does so at
  /// once, and the end takes a round trip. If the client is destroyed earlier, the messages are lost, but the
  /// server learns that the client has left if the transport still sends that. The transport must outlive a
  /// client that leaves.
  void leave();

 private:
  friend RECKONER_CLIENT_API Client make_test_client(ClientConfig config, Transport& transport,
                                                     const ClientTestSwitches& switches);
  friend RECKONER_CLIENT_API Client make_test_client(ClientConfig config, Dialer& dialer);

  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
