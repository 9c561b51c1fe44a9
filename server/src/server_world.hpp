// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/route_codec.hpp"
#include "server/src/interest/interest.hpp"
#include "server/src/ownership/ownership.hpp"
#include "server/src/publish/publisher.hpp"
#include "server/src/session/session_table.hpp"
#include "server/src/util/server_time.hpp"
#include "server/src/util/traffic_counter.hpp"
#include "server/src/world/entity_table.hpp"
#include "server/src/world/field_table.hpp"
#include "server/src/world/planned_ends.hpp"
#include "server/src/world/true_states.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <reckoner/server/server.hpp>

namespace reckoner {

/// The entities of a server with their fields, routes and owners. It is the only part that begins and ends
/// entities. So the tables, the publisher, the interest of the clients and the owners always know the same
/// entities.
class ServerWorld {
 public:
  /// All arguments must outlive this object. `quantisation`: index: archetype. `refusals` counts motions of
  /// owners that are not accepted.
  ServerWorld(const ServerConfig& config, std::span<const Quantisation> quantisation, const ServerTime& time,
              Publisher& publisher, Interest& interest, const SessionTable& sessions, Transport& transport,
              RefusalCounts& refusals, TrafficCounter& traffic);

  [[nodiscard]] EntityTable& entities() { return entities_; }
  [[nodiscard]] const EntityTable& entities() const { return entities_; }
  [[nodiscard]] TrueStates& states() { return states_; }
  [[nodiscard]] const TrueStates& states() const { return states_; }
  [[nodiscard]] FieldTable& fields() { return fields_; }
  [[nodiscard]] const RouteTable& routes() const { return routes_; }
  [[nodiscard]] Ownership& ownership() { return ownership_; }
  [[nodiscard]] const Ownership& ownership() const { return ownership_; }
  /// Null if the entity does not exist.
  [[nodiscard]] Entity* find(EntityId id) { return entities_.find(id); }
  [[nodiscard]] const Entity* find(EntityId id) const { return entities_.find(id); }

  // What the game does with entities. Each function does what the function of Server with this name does.

  /// `short_lived`: null for an ordinary entity. `as`: the id of the new entity; null lets the server choose.
  [[nodiscard]] SpawnResult spawn(std::size_t archetype, const std::string& name, const State& state,
                                  EntityId frame, std::unique_ptr<ShortLivedInfo> short_lived,
                                  EntityId as = {});
  [[nodiscard]] SpawnResult spawn_short_lived(std::size_t archetype, const State& state,
                                              const ShortLived& life, EntityId frame);
  CallResult teleport(EntityId id, const State& truth);
  /// Ends an entity. The entities in its frame move to the next outer frame. False if the id is unknown.
  bool end(EntityId id) { return end_entity(id, false); }
  CallResult enter_frame(EntityId id, EntityId frame);
  CallResult set_relevance(EntityId id, Relevance relevance);
  CallResult set_groups(EntityId id, std::uint32_t groups);
  [[nodiscard]] Result<RouteId> add_route(const RouteDefinition& definition);
  CallResult follow(EntityId id, RouteId route);

  /// Moves the entity into `frame` with the state `truth`, and reviews its relevance. The caller must have
  /// checked that FrameTree::fit() returns `fits`.
  void put_into(Entity& entity, EntityId frame, const State& truth);

  /// The client left or lost its connection: its entities rest or end, as OwnershipRules::gone says.
  void release_owned(ClientId client);

  // The steps of a tick.

  /// Ends the short-lived entities whose planned end has come at the next tick. Clients end them by
  /// themselves.
  void end_planned();
  /// Moves the short-lived entities that the game leaves to the server to where they are at the next tick.
  /// One that leaves the world ends.
  void fly();
  /// Clients no longer follow the entities that have ended since the last call.
  void announce_ends();

 private:
  // An entity that has ended.
  struct Ended {
    EntityId id;
    Tick tick = 0;
    bool as_planned = false;  // a short-lived entity reached the end that its spawn names
  };

  [[nodiscard]] State state_in_frame(EntityId frame, const Entity& entity) const;
  CallResult override_owner(Entity& entity, const State& truth);
  bool end_entity(EntityId id, bool as_planned);
  void empty_frame(const Entity& ending);

  const ServerConfig& config_;
  std::span<const Quantisation> quantisation_;  // index: archetype
  const ServerTime& time_;
  Publisher& publisher_;
  Interest& interest_;
  const SessionTable& sessions_;
  Transport& transport_;
  TrafficCounter& traffic_;

  EntityTable entities_;
  TrueStates states_;
  FieldTable fields_;
  RouteTable routes_;  // published motions point to routes in this table
  Ownership ownership_;
  std::vector<EntityId> flying_;  // short-lived entities that the game has not moved
  PlannedEnds planned_ends_;
  std::vector<Ended> ended_;        // since the last announce_ends(); only entities that were announced
  std::vector<EntityId> released_;  // scratch
};

}  // namespace reckoner
