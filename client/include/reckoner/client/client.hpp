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

/// What a client shows of an entity and what it shows it from, side by side: to be drawn over the game, or
/// watched. Plain data; nothing in it is drawn by Reckoner. Both states are in the world, counted from the
/// client's origin, per second of shown time.
struct ShownDebug {
  EntityId id;   ///< which one it is
  State shown;   ///< what is drawn
  State motion;  ///< where the motions that are known have it at the same instant, without the blend
  double shown_time_s = 0.0;   ///< that instant of server time
  double motion_time_s = 0.0;  ///< time stamp of the newest motion, server time
  double age_s = 0.0;          ///< present server time minus that
  double blend_m = 0.0;        ///< how far the blend still holds it off the motion
  double blend_rad = 0.0;      ///< the same of its orientation
  double blend_left_s = 0.0;   ///< until nothing is left of that; 0: no blend is under way
  /// The archetype's, as the server said at the welcome: what is shown is off by no more while the link is
  /// faster than its motion changes, and it is followed at full detail.
  double threshold_m = 0.0;
  double threshold_rad = 0.0;  ///< rad
  bool fading = false;         ///< nobody vouches for its motion any more: it fades to rest
  bool owned = false;          ///< by this client
  EntityId frame{};            ///< whose frame it lives in; null: the world
};

/// How a client that has a Dialer comes back by itself, once it has been in the world (docs/connections.md).
struct ReconnectConfig {
  double silence_s = 5.0;     ///< a connection on which nothing arrived for so long is given up, s
  double first_wait_s = 0.5;  ///< before the first attempt, at most, s
  double growth = 2.0;        ///< each wait is so many times the one before
  double most_wait_s = 10.0;  ///< but no longer, s
  double jitter = 0.5;        ///< so much of each wait is left to chance, 0 to 1: not all shall come at once
  double attempt_s = 6.0;     ///< an attempt that has not come through by then has failed, s
  double give_up_s = 0.0;     ///< then the client is disconnected for good, s; 0: never
};

/// How a client runs.
struct ClientConfig {
  std::vector<Archetype> archetypes{1};  ///< the same kinds, in the same order, as on the server
  PlayoutConfig playout;                 ///< when to show entities, and how fast to blend
  double ack_interval_s = 0.05;          ///< what arrived is acknowledged at least this often, s; at most 0.1
  double silence_s = 1.0;                ///< a connection silent for longer fades motion to rest, s
  /// The same for one entity, of which the server has told nothing, nor that there is nothing to tell, for so
  /// long, s: to this client it cannot send all that it should.
  double unconfirmed_s = 5.0;
  double owned_updates_per_second = 0.0;  ///< budget of each entity that this client owns; 0: its thresholds
  ReconnectConfig reconnect;              ///< for clients that have a Dialer
  /// Where the client says what happens: joined, refused or lost (and why), its clock stepped, what was
  /// refused of the server. Empty: nowhere.
  LogSink log{};
};

/// Returns the first invalid setting, in one line that names it, its value and its range; nullopt if all are
/// valid. Numbers must be finite. docs/REFERENCE.md lists the ranges.
[[nodiscard]] RECKONER_CLIENT_API std::optional<Error> find_invalid_setting(const ClientConfig& config);
/// Returns the first invalid playout setting, in one line that names it, its value and its range; nullopt if
/// all are valid.
[[nodiscard]] RECKONER_CLIENT_API std::optional<Error> find_invalid_setting(const PlayoutConfig& playout);

enum class ClientStatus : std::uint8_t {
  connecting,    ///< no answer yet
  joining,       ///< connected; asked to be let in
  joined,        ///< in the world
  refused,       ///< the server said no, see Client::refusal()
  disconnected,  ///< the connection ended, or never came about
  reconnecting,  ///< was in the world, and is on its way back: what is shown goes on, and fades to rest
};

/// Something that happened to the world as this client sees it, oldest first from Client::poll_event().
struct ClientEvent {
  /// What happened.
  enum class Kind : std::uint8_t {
    joined,
    spawned,
    despawned,
    teleported,
    fields_changed,  ///< of a visible entity; `fields` says which
    given,           ///< the entity is this client's from now on: tell move() what it does
    taken,           ///< it is not any more
    corrected,       ///< the server does not believe what it did: go on from Client::owned()
    server_closed,   ///< the server went down on purpose
    disconnected,    ///< it is over: the client does not come back by itself
    lost,            ///< the connection is lost, and the client on its way back
    resumed,         ///< it is back in its session: nothing is lost that was sent reliably, either way
    /// It is back, but the server knew nothing of its session: it was restarted, or the client away for too
    /// long. All there was has despawned, what follows is another world, and what was sent reliably may not
    /// have arrived (ClientStats::messages_abandoned).
    restarted,
  };
  Kind kind = Kind::joined;  ///< what happened
  EntityId entity;           ///< that it happened to; null if to the client itself
  std::uint32_t fields = 0;  ///< a bit each, bit 0 for the first
};

/// What stays the same about an entity while it lives.
struct EntityInfo {
  std::size_t archetype = 0;  ///< number of its kind, as declared on both sides
  std::string name;           ///< as the server's game gave it, at most 64 bytes of UTF-8
};

/// An entity as it is to be drawn in this frame.
struct ShownEntity {
  EntityId id;                ///< which one it is
  State shown;                ///< pose and its derivatives, continuous from frame to frame
  double shown_time_s = 0.0;  ///< the instant of server time that the pose means to show
  double age_s = 0.0;         ///< present server time minus the time stamp of the motion in use
  /// The route on whose curve the pose lies; null if it is free, or being blended. Lives as long as the
  /// client's session.
  const Route* route = nullptr;
  EntityId frame{};  ///< whose frame it lives in; null: the world
  State local{};  ///< as `shown`, in that frame: what stands still there, stands still. A route is in it, too
};

/// Everything that is to be drawn in this frame, as arrays: the same entity at the same place in each.
struct ShownPoses {
  std::span<const EntityId> ids;            ///< in no order, each once
  std::span<const glm::dvec3> positions;    ///< m
  std::span<const glm::quat> orientations;  ///< unit
  double shown_time_s = 0.0;                ///< the instant of server time that they mean to show
};

/// What a client counted since it was made.
struct ClientStats {
  std::uint64_t datagrams_received = 0;  ///< with state, whatever was in them
  std::uint64_t datagrams_lost = 0;      ///< gaps in the sequence that were never filled
  std::uint64_t updates_applied = 0;     ///< motions that became what is shown, or were blended in
  std::uint64_t updates_stale = 0;       ///< older than what was known, or of an entity that is gone
  std::uint64_t datagrams_stale = 0;     ///< repeated, or far too late; their updates were not read
  std::uint64_t malformed = 0;           ///< payloads and messages refused that no honest server sends
  std::uint64_t unknown_references = 0;  ///< datagrams refused: they refer to motions that are not known here
  std::uint64_t state_bytes_received = 0;   ///< payloads of state, without headers, bytes
  std::uint64_t field_changes_applied = 0;  ///< values of user fields
  std::uint64_t field_changes_stale = 0;    ///< known already, overtaken, or of an entity that is gone
  std::uint64_t corrections = 0;            ///< of entities that this client owns
  std::uint64_t messages_received = 0;      ///< game messages, queued for poll_message()
  std::uint64_t messages_refused = 0;       ///< gone, because too many waited
  std::uint64_t messages_sent = 0;          ///< handed to the transport
  std::uint64_t messages_dropped = 0;       ///< not sent
  std::uint64_t messages_abandoned = 0;     ///< reliable ones, not confirmed when their session ended
  std::uint64_t connections_lost = 0;       ///< and come back from, or not
  /// Payloads and messages that were not taken in, by reason. Some are merely late.
  RefusalCounts refusals;
  double round_trip_s = 0.0;  ///< smallest of the recent ones
  double delay_s = 0.0;       ///< how far behind server time entities are shown at present
};

struct ClientTestSwitches;  // of measurements and tests

/// The showing side: keeps every remote entity where it should be drawn, continuous in position and velocity.
///
/// Per frame: receive() with the local time, handle events, draw frame(). Local time is any clock that runs
/// in seconds and never goes back; server time is estimated from what arrives.
///
/// Belongs to one thread at a time. The transport or dialer must outlive it and serve it alone.
class RECKONER_CLIENT_API Client {
 public:
  /// Uses the one connection of `transport`, which knows the server's address. The client joins as soon as
  /// the transport is connected. Fails with find_invalid_setting() if the configuration is invalid.
  [[nodiscard]] static Result<Client> create(ClientConfig config, Transport& transport);
  /// Connects with the first receive(). If a client that has joined loses its connection, it reconnects by
  /// itself (ClientConfig::reconnect, docs/connections.md). Fails with find_invalid_setting() if the
  /// configuration is invalid.
  [[nodiscard]] static Result<Client> create(ClientConfig config, Dialer& dialer);
  /// Like create(), for a configuration that is known to be valid. If it is invalid, this prints the error
  /// and ends the program.
  Client(ClientConfig config, Transport& transport);
  /// Like create(), for a configuration that is known to be valid. If it is invalid, this prints the error
  /// and ends the program.
  Client(ClientConfig config, Dialer& dialer);
  ~Client();
  Client(Client&& other) noexcept;             ///< `other` is then good only for assignment and destruction
  Client& operator=(Client&& other) noexcept;  ///< `other` is then good only for assignment and destruction

  /// Takes in what arrived and acknowledges it.
  void receive(double local_s);

  /// Every visible entity as it is to be shown at local time `local_s`, in order of slot. The span is valid
  /// until the next call of any non-const member. Empty before the clock is known.
  [[nodiscard]] std::span<const ShownEntity> frame(double local_s);

  /// The poses of frame() as arrays, for many entities: sampled all at once, some ten times as fast. The same
  /// to 1e-9 of a position's size and 1e-6 rad. Call either or both; the spans are valid as frame()'s.
  [[nodiscard]] ShownPoses sample(double local_s);

  /// Whether what is shown stands still, for a menu, or a picture; the server and the others go on. While it
  /// does, frame() and sample() give what was shown at `local_s`, the instant of the pause, at rest: without
  /// what has gone since, and what has come since appears afterwards. Go on calling receive(), and poll. When
  /// the pause is over, what is shown sets out from there and catches up with the others in half a second at
  /// most, continuous in position and velocity (but for what has teleported). It is not known then what this
  /// client saw (Server::pose_seen_by()). For a pause or a slow motion of all, let the clocks that server and
  /// clients are called with stand still, or run slowly: ScaledClock.
  void set_paused(bool paused, double local_s);

  /// Shows by another configuration from now on, in place of ClientConfig::playout: another mode, delay or
  /// blend. What is shown goes over without a jump in place, turn or speed: its time runs up to a quarter
  /// slower, or faster, until the delay is the new one (200 ms take 1.6 s). On the way an entity is shown as
  /// the present is, at first, or at last. The server is told, so that it sends what the mode needs; what
  /// this client saw (Server::pose_seen_by()) it does not know for half a second or so after it has changed
  /// from the present to the past or back. Returns false and changes nothing if find_invalid_setting()
  /// refuses the settings.
  bool set_playout(const PlayoutConfig& playout, double local_s);

  /// By what it shows: as it was made with, or as set_playout() was told last.
  [[nodiscard]] const PlayoutConfig& playout() const;

  /// Shifts the world's origin, for games that keep it near their camera: from now on what is shown, and what
  /// correct() and move() take, counts from this point of the server's world, m. Nothing else changes, so
  /// that nothing jumps for who looks from a camera that is shifted with it. Routes (ShownEntity::route) stay
  /// where they are. False, and no change, if the point is none.
  bool set_origin(const glm::dvec3& origin);

  /// The next event, oldest first; nothing when all have been told. Poll every frame.
  [[nodiscard]] std::optional<ClientEvent> poll_event();

  /// How far it has come with its server, as of the last receive().
  [[nodiscard]] ClientStatus status() const;
  /// Why, if refused or disconnected, or why the last attempt failed; empty otherwise.
  [[nodiscard]] const std::string& refusal() const;
  /// How long the client has been on its way back, s; 0 if it is not.
  [[nodiscard]] double lost_for_s(double local_s) const;

  /// Name and archetype of an entity that is or was just shown; null if unknown. Valid as frame()'s span.
  [[nodiscard]] const EntityInfo* info(EntityId id) const;

  /// The value of a user field (Archetype::fields, by its number) at the instant that the last frame()
  /// showed; in present mode the newest. Null for an unknown id or field. Valid as frame()'s span.
  [[nodiscard]] const FieldValue* field(EntityId id, std::size_t field) const;

  /// Sends a message to the server. Reliable: it arrives, after all that were sent so before, unless the
  /// session ends (ClientEvent::restarted); it can also be sent on the way back, and waits then; at most
  /// kMaxReliableBytes. Unreliable: it travels with the next receive() and may get
  /// lost; at most kMaxUnreliableBytes. The stamp is told to the server's game: the time, of the server, s,
  /// at which the player saw what it is about, perhaps (ShownEntity::shown_time_s). False, and nothing is
  /// sent, before the client has joined, for an empty or too large message or an insane stamp, and if too
  /// many wait.
  bool send(std::span<const std::byte> payload, Delivery delivery,
            std::optional<double> time_s = std::nullopt);

  /// The next message of the server. Those with a stamp come when what is shown has come to it, the others at
  /// once. The payload is valid until the next call. Poll every frame: what waits is bounded, and what is
  /// beyond is gone (ClientStats::messages_refused).
  [[nodiscard]] std::optional<GameMessage> poll_message();

  /// Estimated server time at local time `local_s`; nothing before the first answer.
  [[nodiscard]] std::optional<double> server_time_s(double local_s) const;

  /// Hands a corrected pose back (pushed out of a wall, set on the ground): blending goes on from there.
  bool correct(EntityId id, const State& shown, double local_s);

  /// What an entity that this client owns is doing at local time `local_s`: call it every frame, after
  /// receive(). It is shown just so, without delay; what of it the server must be told is sent at once.
  /// In the frame of another entity, if one is given: `state` is then as that frame is turned and moves, and
  /// is shown where the frame is shown. Another frame than before: it goes over (into_frame() and
  /// out_of_frame() with ShownEntity::shown of the frames say what it is there). False, and no change, if the
  /// client does not own it, the state is insane or beyond the archetype's limits, the frame is not known
  /// here, lives in the entity itself or too deep, and from a correction until its event was polled.
  bool move(EntityId id, const State& state, double local_s, EntityId frame = {});

  /// Where an entity that this client owns is to go on from at `local_s`, when it was given or corrected:
  /// what the server has it doing, carried on, in the frame owned_frame(). Nothing if it does not own it.
  [[nodiscard]] std::optional<State> owned(EntityId id, double local_s) const;
  /// The frame of that; null: the world, or nothing that it owns.
  [[nodiscard]] EntityId owned_frame(EntityId id) const;

  /// What is shown of an entity beside the motion that it is blended onto, for drawing over the game and for
  /// watching; as of the last frame() or sample(). Nothing for what was not shown then.
  [[nodiscard]] std::optional<ShownDebug> debug(EntityId id) const;

  /// What was counted since it was made. Lives as long as the client; changes with every call that does
  /// something.
  [[nodiscard]] const ClientStats& stats() const;

  /// Says goodbye, for good. Keep servicing the transport for a moment afterwards.
  void leave();

 private:
  friend RECKONER_CLIENT_API Client make_test_client(ClientConfig config, Transport& transport,
                                                     const ClientTestSwitches& switches);

  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
