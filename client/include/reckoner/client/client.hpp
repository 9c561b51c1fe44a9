// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <glm/vec3.hpp>

#include <reckoner/client/client_config.hpp>
#include <reckoner/client/client_event.hpp>
#include <reckoner/client/client_stats.hpp>
#include <reckoner/client/playout.hpp>
#include <reckoner/client/prediction.hpp>
#include <reckoner/client/shown.hpp>
#include <reckoner/net/call_result.hpp>
#include <reckoner/net/dialer.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

enum class ClientStatus : std::uint8_t {
  connecting,    ///< there is no connection yet
  joining,       ///< connected; the server has not admitted the client yet
  joined,        ///< the server has admitted the client
  refused,       ///< the server refused the client, see Client::refusal()
  disconnected,  ///< the connection ended or could not be established
  reconnecting,  ///< the connection was lost; entities are still shown and fade to rest
};

/// The longest anticipation of Client::correct(), s.
inline constexpr double kMaxAnticipationS = 10.0;

/// The showing side. It computes where to draw every remote entity, continuous in position and velocity.
///
/// For each picture: call update() with the local time, handle events, and draw shown(). Call flush() if the
/// game has sent messages. Only update() has a time: all other members use the time of the last update(). A
/// game that draws more often than it processes input calls update() before each picture; it is cheap.
///
/// Local time is any clock in seconds. The client estimates server time from arriving data. It corrects a
/// clock that runs at another rate (0.25 to 4), stands still or is set, within about a second. Times that no
/// clock has are ignored (ClientStats::times_refused).
///
/// Belongs to one thread at a time. The transport or dialer must outlive the client and serve no other one.
class RECKONER_CLIENT_API Client {
 public:
  /// Uses the one connection of `transport`, which knows the server's address. The client joins as soon as
  /// the transport is connected. Fails with find_invalid_setting() if the configuration is invalid.
  [[nodiscard]] static Result<Client> create(ClientConfig config, Transport& transport);
  /// Connects with the first update(). If a client that has joined loses its connection, it reconnects by
  /// itself (ClientConfig::reconnect, docs/connections.md). Fails with find_invalid_setting() if the
  /// configuration is invalid.
  [[nodiscard]] static Result<Client> create(ClientConfig config, Dialer& dialer);
  ~Client();
  Client(Client&& other) noexcept;             ///< afterwards `other` may only be assigned or destroyed
  Client& operator=(Client&& other) noexcept;  ///< afterwards `other` may only be assigned or destroyed

  /// Sets the local time, s, of this call and of all following ones, processes arrived data and acknowledges
  /// it. Returns status().
  ClientStatus update(double local_s);

  /// All visible entities at the time of the last update(), in order of slot. The span is valid until the
  /// next call of a non-const member. Empty until the clock is known.
  [[nodiscard]] std::span<const ShownEntity> shown();

  /// The poses of shown() as arrays. For many entities this is about ten times as fast. The results differ
  /// from those of shown() by at most 1e-9 of the position's size and 1e-6 rad. Call either function, or
  /// both. The spans are valid until the next call of a non-const member.
  [[nodiscard]] ShownPoses shown_poses();

  /// Pauses or continues this client's view, for a menu or a picture. The server and the other clients go on.
  /// During a pause, shown() and shown_poses() return the entities of the pause, at rest: despawned entities
  /// stay, and new ones appear afterwards. Continue to call update() and to poll. After the pause, entities
  /// continue from their shown poses and catch up within half a second, continuous in position and velocity.
  /// Entities that have teleported jump, and so do those that are too far away to catch up (`snapped`).
  ///
  /// The server does not know what a paused client saw (Server::pose_seen_by()). To pause or to slow down the
  /// whole game, stop or slow the clocks of the server and of all clients instead: ScaledClock.
  void set_paused(bool paused);

  /// Changes ClientConfig::playout: the mode, the delay or the blend. The shown poses do not jump in
  /// position, orientation or speed. Shown time runs up to a quarter slower or faster until the delay is the
  /// new one; for 200 ms this takes 1.6 s. A change between a buffered mode (is_buffered()) and another one
  /// blends at the beginning or at the end of that time.
  ///
  /// The server is notified, so that it sends what the mode needs. For about half a second after such a
  /// change, it does not know what this client saw (Server::pose_seen_by()). Fails and changes nothing if
  /// find_invalid_setting() refuses the settings.
  CallResult set_playout(const PlayoutConfig& playout);

  /// The current playout settings, from the configuration or from the last set_playout().
  [[nodiscard]] const PlayoutConfig& playout() const;

  /// Sets the origin of the game's coordinates, m, for games that keep it near their camera. From then on,
  /// shown states and the arguments of correct() and move() count from this point of the server's world.
  /// Nothing else changes, so the picture does not jump if the camera is shifted, too. Routes
  /// (ShownEntity::route) are not shifted. Fails and changes nothing if the point is not finite.
  CallResult set_origin(const glm::dvec3& origin);

  /// The oldest event that was not polled yet, or nullopt. Poll after each update(), before or after shown():
  /// update() queues the events of everything that shown() shows. At most 131,072 events wait; the client
  /// then discards the oldest (ClientStats::events_discarded). A game that needs no events need not poll.
  [[nodiscard]] std::optional<ClientEvent> poll_event();

  /// The state of the connection, as of the last update().
  [[nodiscard]] ClientStatus status() const;
  /// Why the client was refused or disconnected, or why the last attempt failed; otherwise empty.
  [[nodiscard]] const std::string& refusal() const;
  /// How long the client has been reconnecting at the last update(), s; 0 if it is not.
  [[nodiscard]] double lost_for_s() const;

  /// Name and archetype of an entity that is shown or was shown a moment ago; null if it is unknown. Valid
  /// until the next call of a non-const member.
  [[nodiscard]] const EntityInfo* info(EntityId id) const;

  /// Keeps a number for the game with an entity, for example an index or a pointer into its own data. It
  /// exists as long as info(). Fails if the id is unknown.
  CallResult set_user_value(EntityId id, std::uint64_t value);
  /// The number of set_user_value(), 0 by default; nullopt if the id is unknown.
  [[nodiscard]] std::optional<std::uint64_t> user_value(EntityId id) const;

  /// The value of a user field (its index in Archetype::fields) at the shown instant of the last update(). In
  /// present and ahead mode it is the newest value. Null if the id or the field is unknown. Valid until the
  /// next call of a non-const member.
  [[nodiscard]] const FieldValue* field(EntityId id, std::size_t field) const;

  /// Sends a message to the server. A reliable message, at most kMaxReliableBytes, arrives in the order of
  /// sending unless the session ends (ClientEvent::Kind::restarted). While the client reconnects, it waits.
  /// An unordered reliable message does not wait for messages before it. An unreliable message, at most
  /// kMaxUnreliableBytes, may get lost. All are sent with the next update(), or at once with flush(). The
  /// server's game receives the time stamp, s of server time; it can be the instant that the player saw
  /// (ShownEntity::shown_time_s).
  ///
  /// Fails and sends nothing if the client has not joined, the message is empty or too long, the stamp is
  /// invalid, or too many messages wait.
  CallResult send(std::span<const std::byte> payload, Delivery delivery,
                  std::optional<double> time_s = std::nullopt);

  /// Sends now what waits for the next update(): messages of send(), changed playout settings and
  /// acknowledgements. Call it after the last send() before a picture; otherwise the messages wait until the
  /// next one. All messages since the last call share datagrams. Does nothing without a connection.
  void flush();

  /// The next message from the server, or nullopt. A message with a time stamp is delivered when that time is
  /// shown, others at once. The payload is valid until the next call. Poll after each update(): the queue is
  /// limited, and messages beyond it are discarded (ClientStats::messages_refused).
  [[nodiscard]] std::optional<GameMessage> poll_message();

  /// The estimated server time at the last update(), s; nullopt before the first answer.
  [[nodiscard]] std::optional<double> server_time_s() const;

  /// Replaces a shown state, for example because the game pushed the entity out of an obstacle. The blend
  /// continues from there, onto the known motion.
  ///
  /// With `anticipated_s` above 0, the game anticipates a hit that the known motion does not contain, for
  /// example of the player's car and a ball. The entity then continues from `shown` with its velocity and
  /// acceleration until a motion with the hit has arrived (in the buffered modes: until that motion is
  /// shown), and blends onto that motion. If no such motion comes within `anticipated_s` (at most
  /// kMaxAnticipationS), s, the guess was wrong, and the entity blends onto the known motion. Good values are
  /// a round trip and 0.2 s more; in the buffered modes, add the delay.
  ///
  /// Fails if the entity is not shown, this client owns it, the state is invalid, or `anticipated_s` is out
  /// of range.
  CallResult correct(EntityId id, const State& shown, double anticipated_s = 0.0);

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

  /// Sets the state of an entity that this client owns, at the time of the last update(). Call it after each
  /// update(). The entity is shown in this state without delay, and necessary updates are sent at once. If
  /// the velocity is zero although positions change, other clients get an estimate (Archetype::velocity).
  ///
  /// If `frame` is not null, `state` is relative to that entity's frame, and is shown where the frame is
  /// shown. To change frames, pass another frame; into_frame() and out_of_frame() with ShownEntity::shown of
  /// the frames convert the state. The server's game must have marked the entity that carries the frame
  /// (Server::set_boardable()); otherwise the server corrects the owner. If the entity cannot be moved,
  /// changes nothing and returns the reason.
  CallResult move(EntityId id, const State& state, EntityId frame = {});

  /// Like move(), but the entity jumps to the new state: no client blends. For a blink or a portal that the
  /// player's game decides about. The server must allow it (OwnershipRules::max_teleport_m), and otherwise
  /// corrects the owner.
  CallResult teleport(EntityId id, const State& state, EntityId frame = {});

  /// The tick that the game must step now, and the player's input in it; nullopt if none is due. `input` is
  /// what the player does now, at most kMaxInputBytes: it is sent for this tick, or with
  /// ClientConfig::input_delay_ticks for a later one. Call it after update() until it returns nullopt, step
  /// the predicted entities with PredictionStep::input, and pass the results to predict(). The first call
  /// begins.
  ///
  /// Ticks are those of the server's game, so that inputs arrive just before the server needs them. Each
  /// comes once, except for some that are left out after a stall. The result is valid until the next call.
  [[nodiscard]] std::optional<PredictionStep> next_step(std::span<const std::byte> input);
  /// What the game has computed for an entity that it predicts: its state after `tick`, a tick of next_step()
  /// or of a correction. `game_state` are the bytes that the server's game sets with
  /// Server::set_game_state(). When each predicted entity has a state for the newest tick, inputs and results
  /// are sent.
  CallResult predict(EntityId id, Tick tick, const State& state, std::span<const std::byte> game_state = {});
  /// The server's states of all predicted entities after one tick, if the game must go back to them, or
  /// nullopt. Call it after update() and before next_step(): restore the entities, step the ticks of
  /// Correction::steps again, and pass the results to predict(). What is shown then goes over into the new
  /// path without a jump. The result is valid until the next call.
  [[nodiscard]] std::optional<Correction> poll_correction();

  /// Shows an entity at once that this game expects the server to spawn: the player's own projectile. The
  /// entity moves as extrapolated from `state` at the last update(), and shown() contains it. The game
  /// asks the server for the entity, for example with a message about the shot that contains `key`, a number
  /// of its own choice. The server's game calls Server::spawn_short_lived() with this key.
  ///
  /// When the client shows the server's entity, `spawned` is reported with the id that this function has
  /// returned in ClientEvent::predicted, and the entity blends from the predicted pose. If the server refuses
  /// (Server::refuse_prediction()), or the entity does not arrive within `patience_s` (0 to 60 s), the
  /// predicted entity ends with `prediction_failed`. At most 64 at a time.
  [[nodiscard]] SpawnResult predict_spawn(std::size_t archetype, const State& state, std::uint32_t key,
                                          double patience_s = 1.0);
  /// Ends a predicted entity without an event. Fails if there is none with this id.
  CallResult drop_prediction(EntityId id);

  /// The state from which an owned entity should continue at the last update() after it was given or
  /// corrected, relative to owned_frame(). It is the server's motion, extrapolated. Nullopt if this client
  /// does not own the entity.
  [[nodiscard]] std::optional<State> owned(EntityId id) const;
  /// The frame of owned(); null if it is the world frame, or if this client does not own the entity.
  [[nodiscard]] EntityId owned_frame(EntityId id) const;

  /// The shown state of an entity and the motion behind it, as of the last shown() or shown_poses(), for
  /// debug drawing. Nullopt if the entity was not shown then.
  [[nodiscard]] std::optional<ShownDebug> debug(EntityId id) const;

  /// Counters since the creation. Valid as long as the client; every non-const member changes them.
  [[nodiscard]] const ClientStats& stats() const;

  /// Leaves the server for good. Continue to call update() until it returns `disconnected`, for as long as
  /// the game is willing to wait, for example 2 s. The client first sends the reliable messages that the
  /// server still lacks, for at most 10 s, and then ends the connection; without such messages, it does so at
  /// once, and the end takes a round trip. If the client is destroyed earlier, the messages are lost, but the
  /// server learns that the client has left if the transport still sends that. The transport must outlive a
  /// client that leaves.
  void leave();

  struct Impl;  ///< the implementation; no installed header defines it

 private:
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
