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

/// The entities that clients own: takes in what their owners say they do, holds it against what they can have
/// done, and leaves with each entity what is to be published of it.
class Ownership {
 public:
  /// `refusals` takes note of what is not taken in.
  Ownership(const ServerConfig& config, std::span<const Quantisation> quantisation, RefusalCounts& refusals)
      : config_(config), quantisation_(quantisation), refusals_(refusals) {}

  /// Gives an entity to a client, or to another than before. It goes on from what is published of it.
  void give(Entity& entity, ClientId owner, const OwnershipRules& rules, Tick tick, SessionTable& sessions,
            Transport& transport);
  /// The entity is the server's again. False if it was nobody's.
  bool take(Entity& entity, SessionTable& sessions, Transport& transport);
  /// The game has put an entity elsewhere: the owner is to go on from there, which is what is returned.
  /// False if nobody owns it.
  bool put(Entity& entity, const State& state, Tick tick, SessionTable& sessions, Transport& transport);

  /// Null if no client owns it.
  [[nodiscard]] std::optional<ClientId> owner(EntityId id) const;

  /// A motion that a client sent.
  struct Update {
    std::uint32_t slot = 0;
    std::uint8_t term = 0;
    Tick tick = 0;
    QuantisedState encoded;
    Motion motion;
  };
  /// Reads the owned section of a client's datagram that arrived before tick `now`. Nothing if it is
  /// malformed or refers to what is not known here; the datagram must not be acknowledged then.
  [[nodiscard]] std::optional<std::span<const Update>> read(BitReader& reader, ClientId client, Tick now,
                                                            Refusal& why);
  /// Takes them in. Who goes over into another frame with them is in reframed() until the next call.
  void take_in(std::span<const Update> updates, ClientId client, double now_s, EntityTable& entities,
               SessionTable& sessions, Transport& transport);

  struct Reframed {
    EntityId entity;
    EntityId before;  ///< the frame that it was in
  };
  [[nodiscard]] std::span<const Reframed> reframed() const { return reframed_; }

  /// Something came from the client: what it said of its entities still holds.
  void heard(ClientId client, double now_s);
  /// The client is gone. Its entities that are to end are appended to `ended`; of the others it is told,
  /// should it come back.
  void release(ClientId client, std::vector<EntityId>& ended, EntityTable& entities, SessionTable& sessions,
               Transport& transport);

  /// Carries all owned entities on to the coming tick: their truth, and what is to be published.
  void run(EntityTable& entities, SessionTable& sessions, Tick tick, double time_s, double now_s,
           Transport& transport, std::deque<ServerEvent>& events);

  [[nodiscard]] const OwnershipStats& stats() const { return stats_; }

 private:
  struct Owned {
    EntityId id;
    ClientId owner;  // null: gone, and the entity is coming to rest
    OwnershipRules rules;
    std::size_t archetype = 0;
    OwnerCheck check;
    References known;  // what the owner may refer to, of all terms
    std::uint8_t term = 0;
    bool told = false;  // the owner knows; before, it may not know the entity
    double heard_s = 0.0;
    double tokens = 0.0;    // motions that may come now
    double filled_s = 0.0;  // when they were counted
    double told_s = -1e9;   // of a correction
    double viewers_told_s = -1e9;
    double viewers_s = 0.0;  // as the owner was told
    std::optional<double> refused_since_s;
    std::optional<double> rest_s;  // it comes to rest, and will by then
    bool at_rest = false;
    bool unheard = false;    // what the owner said last is not what is shown, and it does not know
    unsigned corrected = 0;  // since the game was told, as the next
    unsigned refused = 0;
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
  std::vector<Update> updates_;                 // read last
  std::vector<Reframed> reframed_;              // taken in last
  Tick tick_ = 0;                               // that is run, or was last
  Tick next_ = 0;                               // that comes next, as read() was told
  RefusalCounts& refusals_;
  OwnershipStats stats_;
};

}  // namespace reckoner
