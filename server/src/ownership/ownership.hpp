// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/link/baselines.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "server/src/ownership/owner_check.hpp"
#include "server/src/session/session.hpp"
#include "server/src/session/session_table.hpp"
#include "server/src/world/entity_table.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/server/ownership.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// Manages the entities that clients own. It receives their owners' motions, checks each against the motion
/// limits, and stores in each entity the motion to publish.
///
/// Each time the server gives an entity to a client or corrects its owner, a new term begins. Motions that
/// the owner sent in an earlier term are void.
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
  bool take(Entity& entity, SessionTable& sessions, Transport& transport);
  /// The game has moved an owned entity to `state`: notifies the owner, which must continue from there. False
  /// if no client owns the entity.
  bool put(Entity& entity, const State& state, Tick tick, SessionTable& sessions, Transport& transport);

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
  /// Applies motions from read(). reframed() lists, until the next call, the entities that changed their
  /// frame.
  void take_in(std::span<const Update> updates, ClientId client, double now_s, EntityTable& entities,
               SessionTable& sessions, Transport& transport);

  /// An entity that changed its frame.
  struct Reframed {
    EntityId entity;
    EntityId before;  ///< the frame before
  };
  [[nodiscard]] std::span<const Reframed> reframed() const { return reframed_; }

  /// Any datagram arrived from the client: the motions of its entities remain valid.
  void heard(ClientId client, double now_s);
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
    bool told = false;  // the owner was notified that it owns the entity
    double heard_s = 0.0;
    double tokens = 0.0;    // number of motions that may arrive now (token bucket)
    double filled_s = 0.0;  // time of the last refill of `tokens`
    double told_s = -1e9;   // time of the last notification of a correction
    double viewers_told_s = -1e9;
    double viewers_s = 0.0;  // delay to viewers as last sent to the owner, s
    std::optional<double> refused_since_s;
    std::optional<double> rest_s;  // set while the entity is brought to rest: when it will be, s
    bool at_rest = false;
    bool unheard = false;    // the owner's last motion was not applied, and it does not know
    unsigned corrected = 0;  // corrected motions since the last event for the game
    unsigned refused = 0;    // refused motions since then
    double event_s = -1e9;
  };

  [[nodiscard]] Owned* find(std::uint32_t slot);
  [[nodiscard]] double time_of(Tick tick) const { return config_.epoch_s + tick / config_.tick_rate_hz; }
  [[nodiscard]] Tick tick_at(double time_s) const;
  [[nodiscard]] OwnerLimits limits_for(const Entity& entity, const OwnershipRules& rules) const;
  void tell(Owned& owned, const Entity& entity, OwnershipMessage::News news, SessionTable& sessions,
            Transport& transport);
  struct World {
    EntityTable& entities;
    SessionTable& sessions;
    Transport& transport;
  };
  void take_in(Owned& owned, Entity& entity, const Update& update, double now_s, const World& world);
  [[nodiscard]] std::optional<OwnerCheck> check_in(const Owned& owned, const Entity& entity,
                                                   const Motion& motion, const World& world) const;
  void accept(Owned& owned, Entity& entity, const Update& update, const Motion& motion, const World& world);
  void put_into_frame(Entity& entity, const Motion& motion, const World& world);
  void correct(Owned& owned, const Entity& entity, double now_s, const World& world);
  [[nodiscard]] bool has_token(Owned& owned, double now_s) const;
  void believe(Owned& owned, Entity& entity, const Motion& motion, Tick tick) const;
  void make(Owned& owned, Entity& entity, const State& state, Tick tick);
  void watch(Owned& owned, Entity& entity, Tick tick, double time_s, double now_s);
  void report(Owned& owned, double now_s, std::deque<ServerEvent>& events) const;

  const ServerConfig& config_;
  std::span<const Quantisation> quantisation_;  // by archetype
  std::map<std::uint32_t, Owned> owned_;        // by slot
  std::vector<Update> updates_;                 // result of the last read()
  std::vector<Reframed> reframed_;              // frame changes of the last take_in()
  Tick tick_ = 0;                               // the tick of the current or last run()
  Tick next_ = 0;                               // the coming tick, as of the last read()
  RefusalCounts& refusals_;
  OwnershipStats stats_;
};

}  // namespace reckoner
