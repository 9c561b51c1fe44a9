// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/link/baselines.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "server/src/interest/interest.hpp"
#include "server/src/session/session_table.hpp"
#include "server/src/world/entity_table.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/net/call_result.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// Returns true if all numbers are in their ranges (kOwnershipSettings).
[[nodiscard]] bool is_valid(const OwnershipRules& rules);

/// The limits for the motion of an owned entity.
struct OwnerLimits {
  double max_speed_mps = 0.0;
  double max_acceleration_mps2 = 0.0;
  double world_size_m = 0.0;      ///< largest distance from the origin along each axis
  double position_slack_m = 0.0;  ///< tolerance for rounding and fitting; does not accumulate
  /// Tolerance of velocity for rounding and fitting, m/s; does not accumulate.
  double velocity_slack_mps = 0.0;
};

/// Checks each motion that an owner sends: can the entity have made this motion after the previous one? The
/// allowed displacement is a budget, like a token bucket. It grows at top speed, and every motion spends its
/// displacement since the previous motion. So many small violations together gain no more than a single
/// violation. Changes of velocity have a second budget, which grows at the largest acceleration.
///
/// An object is a copyable value without a clock. All times are server time, s.
class OwnerCheck {
 public:
  OwnerCheck(const OwnerLimits& limits, const Motion& start);

  /// True if the entity can have made the motion `next`, whose time stamp must be later than the time stamp
  /// of last().
  [[nodiscard]] bool is_possible(const Motion& next) const;

  /// Returns the possible motion closest to `next`. If the entity cannot have reached the position of `next`,
  /// the result stands still at the closest position that it can have reached. Otherwise only velocity and
  /// acceleration are limited.
  [[nodiscard]] Motion nearest(const Motion& next) const;

  /// True if the entity can have made the motion `next` with teleports that together lead over at most
  /// `teleports_m`.
  [[nodiscard]] bool is_possible_after_teleport(const Motion& next, double teleports_m) const;

  /// Limits the visible jump to `next`, a possible motion. Let P be the position to which last() leads.
  /// Returns `next` if it is close to P, else a motion that lies between P and `next`. This matters when an
  /// owner was silent for a while: the entity may then be far from the position to which other clients have
  /// extrapolated it.
  [[nodiscard]] Motion eased(const Motion& next) const;

  /// True if `next` is far from the position to which last() leads: further than the entity could move in one
  /// extra second. If the owner is trusted, its game must have teleported the entity.
  [[nodiscard]] bool is_leap(const Motion& next) const;

  /// Continues in another frame. `start` is the state of the last motion, converted to the new frame. `last`
  /// is the last motion, extrapolated to now and converted to the new frame. The budget counts from `start`:
  /// from `last`, the time since the last motion would count twice. The owner sees the frames slightly
  /// displaced. Therefore this also adds an allowance to the budget. The full allowance is added at most once
  /// a second.
  void change_frame(const State& start, const Motion& last);

  /// Records `next` as the entity's newest motion.
  void accept(const Motion& next);

  /// Forgets the rest of the budget for displacements: the owner has claimed more than the entity could go.
  void spend_displacement() { budget_.displacement_m = 0.0; }

  /// Starts again from `start`; call it when the game has moved the entity.
  void restart(const Motion& start);

  [[nodiscard]] const Motion& last() const { return last_; }
  [[nodiscard]] const OwnerLimits& limits() const { return limits_; }

 private:
  struct Budget {
    double displacement_m = 0.0;
    double change_mps = 0.0;
  };
  [[nodiscard]] Budget budget_at(double time_s) const;

  OwnerLimits limits_;
  Motion last_;
  // Where the next motion's displacement and change of velocity begin: last_.state, except after a change of
  // frame.
  glm::dvec3 from_m_{0.0};
  glm::dvec3 from_mps_{0.0};
  Budget budget_;  // the budget left at last_.time_s
  double allowed_s_ =
      -std::numeric_limits<double>::infinity();  // time of the last allowance for a change of frame
};

/// Returns a copy of `state` whose speed, acceleration and position are reduced to the limits.
[[nodiscard]] State within(State state, const OwnerLimits& limits);

/// Manages the entities that clients own. It receives the motions that the owners send, checks each motion
/// against the limits, and stores in each entity the motion to publish.
///
/// A new term of an entity begins each time when the server gives the entity to a client, moves the entity or
/// corrects its owner. Motions that the owner sent in an earlier term are void.
class Ownership {
 public:
  /// `refusals` counts motions that are not accepted, by reason. All arguments must outlive this object.
  Ownership(const ServerConfig& config, std::span<const Quantisation> quantisation, EntityTable& entities,
            const SessionTable& sessions, Interest& interest, Transport& transport, RefusalCounts& refusals)
      : config_(config),
        quantisation_(quantisation),
        entities_(entities),
        sessions_(sessions),
        interest_(interest),
        transport_(transport),
        refusals_(refusals) {}

  /// Gives an entity to a client; an earlier owner loses it. The entity continues from its true state at
  /// `tick`. Fails and does nothing if the entity or the client does not exist, the entity is short-lived, or
  /// a rule is out of its range.
  CallResult give(EntityId id, ClientId owner, const OwnershipRules& rules, Tick tick);
  /// Returns the entity to the server and notifies the owner. Fails if no client owns the entity.
  CallResult revoke(EntityId id);
  /// Call it when the game has moved an owned entity to `state`. Notifies the owner, which must continue from
  /// there. False if no client owns the entity.
  bool override_motion(Entity& entity, const State& state, Tick tick);

  /// Takes the newest motion of an entity that another server holds. `tick` is its time stamp, `motion` what
  /// `encoded` means, `now_s` the present server time and `next` the coming tick. The entity is then fed: it
  /// comes to rest if neither feed() nor note_feed() is called for `silence_s`. Returns false if the motion
  /// is late, or too far ahead of the present.
  bool feed(Entity& entity, const QuantisedState& encoded, const Motion& motion, Tick tick, Tick next,
            double now_s, double silence_s);
  /// Call it when the other server has confirmed the motion of a fed entity.
  void note_feed(EntityId id, double now_s);
  /// Ends feeding: this server holds the entity from now on.
  void stop_feed(Entity& entity);
  /// True if another server holds the entity.
  [[nodiscard]] bool is_fed(EntityId id) const;

  /// The owner; empty if no client owns the entity.
  [[nodiscard]] std::optional<ClientId> owner(EntityId id) const;

  /// A motion that an owner sent.
  struct Update {
    std::uint32_t slot = 0;
    std::uint8_t term = 0;
    Tick tick = 0;
    QuantisedState encoded;
    Motion motion;
  };
  /// Reads the section of owned motions in a client's datagram that arrived before tick `now`. Returns the
  /// motions, valid until the next call. If the section is malformed, or refers to an unknown entity or
  /// baseline, returns nullopt and stores the reason in `why`. The datagram must then not be acknowledged.
  [[nodiscard]] std::optional<std::span<const Update>> read(BitReader& reader, ClientId client, Tick now,
                                                            Refusal& why);
  /// Judges motions from read() by the limits of their entities: accepts, corrects or refuses each of them.
  void judge(std::span<const Update> updates, ClientId client, double now_s);

  /// Call it when any datagram has arrived from the client: the client is not silent, so the motions of its
  /// entities remain valid.
  void note_arrival(ClientId client, double now_s);
  /// Call it when the client left or lost its connection. Appends to `ended` the entities of the client that
  /// must despawn. For its other entities, the server sends a notification, which reaches the client if the
  /// client resumes.
  void release(ClientId client, std::vector<EntityId>& ended);

  /// Extrapolates all owned entities to the coming tick, brings entities without a valid owner to rest, and
  /// sends the necessary notifications to owners. Entities that their frame turns too fast leave it.
  void run(Tick tick, double time_s, double now_s, std::deque<ServerEvent>& events);

  [[nodiscard]] const OwnershipStats& stats() const { return stats_; }

 private:
  struct Owned {
    EntityId id;
    ClientId owner;     // null: the owner is gone, and the entity comes to rest
    bool fed = false;   // another server holds the entity; there is no owner
    Tick fed_tick = 0;  // time stamp of the newest motion that was fed
    OwnershipRules rules;
    std::size_t archetype = 0;
    OwnerCheck check;
    References known;  // baselines for the motions of the owner, from all terms
    std::uint8_t term = 0;
    bool notified = false;  // the owner was notified that it owns the entity
    double received_s = 0.0;
    double tokens = 0.0;    // number of motions that may arrive now (token bucket)
    double filled_s = 0.0;  // time of the last refill of `tokens`
    double correction_sent_s =
        -std::numeric_limits<double>::infinity();  // time of the last notification of a correction
    double viewers_sent_s = -std::numeric_limits<double>::infinity();
    double viewers_s = 0.0;        // delay to viewers as last sent to the owner, s
    unsigned teleports = 0;        // the owner's counter of teleports, as far as they were accepted
    double teleported_s = -1e300;  // time of the last teleport that the owner declared
    std::optional<double> refused_since_s;
    // Set while the entity is brought to rest: the time when it will be at rest, s.
    std::optional<double> rest_at_s;
    bool at_rest = false;
    bool needs_resend = false;  // the owner's last motion was not applied, and the owner does not know this
    unsigned corrected = 0;     // corrected motions since the last event for the game
    unsigned refused = 0;       // refused motions since the last event for the game
    double event_s = -std::numeric_limits<double>::infinity();
    double placed_m = 0.0;        // distance from the frame's middle at which the server placed the entity, m
    double turning_left_m = 0.0;  // how far frames may turn the entity now, m (token bucket)
    // The orientations of the frames around the entity at the last tick, from the inside out.
    struct Turned {
      EntityId frame;
      glm::quat orientation{1.0f, 0.0f, 0.0f, 0.0f};
    };
    std::array<Turned, kMaxFrameDepth> turned{};
  };

  // An entity that changed its frame.
  struct FrameChange {
    EntityId entity;
    EntityId before;  // the frame that the entity left
  };

  [[nodiscard]] Owned* find(std::uint32_t slot);
  bool revoke(Entity& entity);
  void note_frame_changes();
  [[nodiscard]] double time_of(Tick tick) const { return config_.epoch_s + tick / config_.tick_rate_hz; }
  [[nodiscard]] Tick tick_at(double time_s) const;
  [[nodiscard]] OwnerLimits limits_for(const Entity& entity, const OwnershipRules& rules) const;
  void notify(Owned& owned, const Entity& entity, OwnershipMessage::Change change);
  void judge(Owned& owned, Entity& entity, const Update& update, double now_s);
  [[nodiscard]] std::optional<OwnerCheck> check_in(const Owned& owned, const Entity& entity,
                                                   const Motion& motion) const;
  void accept(Owned& owned, Entity& entity, const Update& update, const Motion& motion);
  [[nodiscard]] bool may_board(const Owned& owned, const Entity& entity, const Motion& motion) const;
  [[nodiscard]] bool turns_slowly(const Owned& owned, const Motion& motion) const;
  void put_into_frame(Entity& entity, const Motion& motion);
  void spend_turning(Owned& owned, const Entity& entity) const;
  void leave_frame(Owned& owned, Entity& entity, Tick tick);
  void correct(Owned& owned, const Entity& entity, double now_s);
  [[nodiscard]] bool has_token(Owned& owned, double now_s) const;
  [[nodiscard]] bool may_teleport(const Owned& owned, const OwnerCheck& check, const Motion& to,
                                  unsigned count) const;
  void set_owner_motion(Owned& owned, Entity& entity, const Motion& motion, Tick tick) const;
  void set_server_motion(Owned& owned, Entity& entity, const State& state, Tick tick);
  void enforce_limits(Owned& owned, Entity& entity, Tick tick, double time_s, double now_s);
  void report(Owned& owned, double now_s, std::deque<ServerEvent>& events) const;

  const ServerConfig& config_;
  std::span<const Quantisation> quantisation_;  // index: archetype
  EntityTable& entities_;
  const SessionTable& sessions_;
  Interest& interest_;
  Transport& transport_;
  std::map<std::uint32_t, Owned> owned_;    // key: slot
  std::vector<Update> updates_;             // result of the last read()
  std::vector<FrameChange> frame_changes_;  // during the current judge() or run()
  Tick tick_ = 0;                           // the tick of the current or last run()
  Tick next_ = 0;                           // the coming tick, as of the last read()
  RefusalCounts& refusals_;
  OwnershipStats stats_;
};

}  // namespace reckoner
