// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/session/session_table.hpp"
#include "server/src/world/entity_table.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <reckoner/server/server.hpp>

namespace reckoner {

class SpatialIndex;

/// Decides which entities each client follows, and at which level of detail. A client follows the entities
/// near its eye and the entities that are always relevant, but no hidden entities (InterestConfig). Each
/// client is updated a few times a second; the clients are spread over the ticks.
class Interest {
 public:
  Interest(const InterestConfig& config, double tick_rate_hz);
  ~Interest();

  /// The next review() decides again which clients follow the entity. Call it for new entities, and for
  /// entities whose relevance may have changed although they did not move.
  void review_later(EntityId id) { to_review_.push_back(id); }
  /// Like review_later(), also for all entities in the frame of this entity.
  void review_with_contents_later(EntityId id, const EntityTable& entities);
  /// The entity has left the frame `before` and is now in another frame (null: the world frame).
  void note_frame_change(const Entity& entity, EntityId before, const EntityTable& entities);
  /// Call it once a tick. Decides which clients follow the entities of review_later(), and updates the
  /// clients whose turn it is.
  void review(const SessionTable& sessions, EntityTable& entities, Tick tick);

  /// Updates the entity's position and relevance in the index. Adds the entity if the index does not contain
  /// it.
  void set_position(const Entity& entity, const EntityTable& entities);
  void remove(std::uint32_t slot);

  /// Sets `near` to slots that include those of all entities at most `radius_m` from `centre`, m. The slots
  /// of other entities and free slots may be among them.
  void collect_near(const glm::dvec3& centre, double radius_m, const EntityTable& entities,
                    SlotSet& near) const;

  /// Sets whether the client shows the past (interpolates) or the present (predicts).
  static void set_shows_past(Session& session, EntityTable& entities, bool shows_past);

  /// Call it before a session is removed, so that the client no longer counts as a subscriber.
  static void unsubscribe(const Session& session, EntityTable& entities);

 private:
  // True if the client's interest must be updated in this tick.
  [[nodiscard]] bool is_due(const Session& session, Tick tick) const {
    return session.view().changed || (by_distance_ && (tick + session.id().value) % interval_ticks_ == 0);
  }
  // Updates which entities the client follows.
  void update(Session& session, EntityTable& entities, Tick tick);
  // Decides again whether the client follows one entity, and at which level.
  void reconsider(Entity& entity, Session& session, EntityTable& entities, Tick tick);
  [[nodiscard]] std::optional<std::uint8_t> level_for(const Entity& entity, const Session& session,
                                                      const EntityTable& entities,
                                                      std::optional<std::uint8_t> followed_at) const;
  [[nodiscard]] std::optional<std::uint8_t> level_by_distance(const Entity& entity, const ClientView& view,
                                                              const EntityTable& entities,
                                                              std::optional<std::uint8_t> followed_at) const;
  void change(Entity& entity, Session& session, EntityTable& entities, std::optional<std::uint8_t> level,
              Tick tick) const;
  [[nodiscard]] double margin_m(std::uint32_t slot) const;
  void search_nearby(Session& session);
  void search_resting(Session& session);
  void search_all(Session& session, const EntityTable& entities);

  InterestConfig config_;
  Tick interval_ticks_;
  bool by_distance_;      // true if relevance or level of detail depends on distance
  double rest_margin_m_;  // the eye must move by this distance before entities at rest are searched again, m
  std::unique_ptr<SpatialIndex> spatial_index_;
  SlotSet always_relevant_;                // entities that are always relevant
  std::vector<EntityId> to_review_;        // entities that the next review() decides about
  SlotSet near_;                           // scratch
  std::vector<std::uint32_t> candidates_;  // scratch: entities to decide about
};

}  // namespace reckoner
