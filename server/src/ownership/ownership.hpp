// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/link/baselines.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "server/src/session/session.hpp"
#include "server/src/world/entity_table.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/reckoning/motion.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// Whether all numbers are in their ranges (kOwnershipSettings).
[[nodiscard]] bool is_valid(const OwnershipRules& rules);

/// The limits of an owned entity's motion.
struct OwnerLimits {
  double max_speed_mps = 0.0;
  double max_acceleration_mps2 = 0.0;
  double world_size_m = 0.0;      ///< largest distance from the origin along each axis
  double position_slack_m = 0.0;  ///< tolerance for rounding and fitting; does not accumulate
  /// Tolerance of velocity for rounding and fitting, m/s; does not accumulate.
  double velocity_slack_mps = 0.0;
};

/// Checks whether an entity can have made each motion that its owner sends, given the motion before. The
/// allowed displacement is a budget (like a token bucket). It grows at top speed, and every motion spends its
/// displacement from the motion before. So many small violations together gain no more than one. Changes of
/// velocity have the same kind of budget, which grows at top acceleration.
///
/// A value. Pure arithmetic without a clock; all times are server time, s.
class OwnerCheck {
 public:
  OwnerCheck(const OwnerLimits& limits, const Motion& start);

  /// True if the entity can have made the motion `next`, whose time stamp must be later than that of last().
  [[nodiscard]] bool is_possible(const Motion& next) const;

  /// Returns the possible motion closest to `next`. If the entity cannot have reached the position of `next`,
  /// the result stands still at the closest position that it can have reached. Otherwise only velocity and
  /// acceleration are limited.
  [[nodiscard]] Motion nearest(const Motion& next) const;

  /// Limits the visible jump to `next`, a possible motion. Returns `next` if it is close to where last()
  /// leads, else a motion part of the way from there to `next`. An owner that resumes after a silence may be
  /// far from where others extrapolated its entity to.
  [[nodiscard]] Motion eased(const Motion& next) const;

  /// True if `next` lies further from where last() leads than the entity could move in one extra second. A
  /// trusted owner's game must then have teleported it.
  [[nodiscard]] bool is_leap(const Motion& next) const;

  /// Continues in another frame: `last` is the last motion, extrapolated to now and converted to the new
  /// frame. The owner sees the frames slightly displaced, so this also adds an allowance, at most once a
  /// second in full.
  void change_frame(const Motion& last);

  /// Records `next` as the entity's newest motion.
  void accept(const Motion& next);

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
  Budget budget_;            // the budget left at last_.time_s
  double allowed_s_ = -1e9;  // time of the last allowance for a change of frame
};

/// Returns `state` with speed, acceleration and position reduced to the limits.
[[nodiscard]] State within(State state, const OwnerLimits& limits);

/// Manages the entities that clients own. It receives their owners' motions, checks each against the motion
/// limits, and stores in each entity the motion to publish.
///
/// Each time the server gives an entity to a client, moves it, or corrects its owner, a new term begins.
/// Motions that the owner sent in an earlier term are void.
class Ownership {
 public:
  /// `refusals` counts motions that are not accepted, by reason. All arguments must outlive this object.
  Ownership(const ServerConfig& config, std::span<const Quantisation> quantisation, RefusalCounts& refusals)
      : config_(config), quantisation_(quantisation), refusals_(refusals) {}

  /// Gives an entity to a client; an earlier owner loses it. The entity continues from its true state at
  /// `tick`.
  void give(Entity& entity, ClientId owner, const OwnershipRules& rules, Tick tick, SessionTable& sessions,
            Transport& transport);
  /// Returns the entity to the server and notifies the owner. False if no client owns the entity.
  bool revoke(Entity& entity, SessionTable& sessions, Transport& transport);
  /// The game has moved an owned entity to `state`: notifies the owner, which must continue from there. False
  /// if no client owns the entity.
  bool override_motion(Entity& entity, const State& state, Tick tick, SessionTable& sessions,
                       Transport& transport);

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
  /// motions, valid until the next call. Returns nothing, and the reason in `why`, if the section is
  /// malformed, or refers to an entity or baseline that is unknown here. The datagram must then not be
  /// acknowledged.
  [[nodiscard]] std::optional<std::span<const Update>> read(BitReader& reader, ClientId client, Tick now,
                                                            Refusal& why);
  /// Applies motions from read(). frame_changes() lists, until the next call, the entities that changed their
  /// frame.
  void process(std::span<const Update> updates, ClientId client, double now_s, EntityTable& entities,
               SessionTable& sessions, Transport& transport);

  /// An entity that changed its frame.
  struct FrameChange {
    EntityId entity;
    EntityId before;  ///< the frame before
  };
  [[nodiscard]] std::span<const FrameChange> frame_changes() const { return frame_changes_; }

  /// Any datagram arrived from the client: the motions of its entities remain valid.
  void note_arrival(ClientId client, double now_s);
  /// The client left or lost its connection. Appends the entities that must end with it to `ended`. For the
  /// others it sends a notification, which reaches the client if it resumes.
  void release(ClientId client, std::vector<EntityId>& ended, EntityTable& entities, SessionTable& sessions,
               Transport& transport);

  /// Extrapolates all owned entities to the coming tick, brings those without a valid owner to rest, and
  /// sends what owners must know.
  void run(EntityTable& entities, SessionTable& sessions, Tick tick, double time_s, double now_s,
           Transport& transport, std::deque<ServerEvent>& events);

  [[nodiscard]] const OwnershipStats& stats() const { return stats_; }

 private:
  struct Owned {
    EntityId id;
    ClientId owner;  // null: the owner is gone, and the entity comes to rest
    OwnershipRules rules;
    std::size_t archetype = 0;
    OwnerCheck check;
    References known;  // baselines for the owner's motions, of all terms
    std::uint8_t term = 0;
    bool notified = false;  // the owner was notified that it owns the entity
    double received_s = 0.0;
    double tokens = 0.0;              // number of motions that may arrive now (token bucket)
    double filled_s = 0.0;            // time of the last refill of `tokens`
    double correction_sent_s = -1e9;  // time of the last notification of a correction
    double viewers_sent_s = -1e9;
    double viewers_s = 0.0;  // delay to viewers as last sent to the owner, s
    std::optional<double> refused_since_s;
    std::optional<double> rest_at_s;  // set while the entity is brought to rest: when it will be, s
    bool at_rest = false;
    bool needs_resend = false;  // the owner's last motion was not applied, and it does not know
    unsigned corrected = 0;     // corrected motions since the last event for the game
    unsigned refused = 0;       // refused motions since then
    double event_s = -1e9;
  };

  [[nodiscard]] Owned* find(std::uint32_t slot);
  [[nodiscard]] double time_of(Tick tick) const { return config_.epoch_s + tick / config_.tick_rate_hz; }
  [[nodiscard]] Tick tick_at(double time_s) const;
  [[nodiscard]] OwnerLimits limits_for(const Entity& entity, const OwnershipRules& rules) const;
  void notify(Owned& owned, const Entity& entity, OwnershipMessage::Change change, SessionTable& sessions,
              Transport& transport);
  struct World {
    EntityTable& entities;
    SessionTable& sessions;
    Transport& transport;
  };
  void process(Owned& owned, Entity& entity, const Update& update, double now_s, const World& world);
  [[nodiscard]] std::optional<OwnerCheck> check_in(const Owned& owned, const Entity& entity,
                                                   const Motion& motion, const World& world) const;
  void accept(Owned& owned, Entity& entity, const Update& update, const Motion& motion, const World& world);
  void put_into_frame(Entity& entity, const Motion& motion, const World& world);
  void correct(Owned& owned, const Entity& entity, double now_s, const World& world);
  [[nodiscard]] bool has_token(Owned& owned, double now_s) const;
  void set_owner_motion(Owned& owned, Entity& entity, const Motion& motion, Tick tick) const;
  void set_server_motion(Owned& owned, Entity& entity, const State& state, Tick tick);
  void enforce_limits(Owned& owned, Entity& entity, Tick tick, double time_s, double now_s);
  void report(Owned& owned, double now_s, std::deque<ServerEvent>& events) const;

  const ServerConfig& config_;
  std::span<const Quantisation> quantisation_;  // by archetype
  std::map<std::uint32_t, Owned> owned_;        // by slot
  std::vector<Update> updates_;                 // result of the last read()
  std::vector<FrameChange> frame_changes_;      // frame changes of the last process()
  Tick tick_ = 0;                               // the tick of the current or last run()
  Tick next_ = 0;                               // the coming tick, as of the last read()
  RefusalCounts& refusals_;
  OwnershipStats stats_;
};

}  // namespace reckoner
