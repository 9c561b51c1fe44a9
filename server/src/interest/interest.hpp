// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/interest/spatial_index.hpp"
#include "server/src/session/session.hpp"
#include "server/src/world/entity_table.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include <reckoner/server/interest.hpp>

namespace reckoner {

/// Keeps what each client follows in step with what is around its eye, what always concerns it and what it is
/// kept from (InterestConfig). Every client is looked at a few times a second, not all in one tick.
class Interest {
 public:
  Interest(const InterestConfig& config, double tick_rate_hz);

  /// Whether this entity still, or now, concerns this client: a new one, or one about which something else
  /// than its place has changed.
  void reconsider(Entity& entity, Session& session, EntityTable& entities, Tick tick);

  /// Notes where an entity is, for the first time or again.
  void place(const Entity& entity, const EntityTable& entities);
  /// Notes where a share of all that move are now.
  void keep_up(const EntityTable& entities, Tick tick);
  void remove(std::uint32_t slot);

  /// True if it is this client's turn.
  [[nodiscard]] bool is_due(const Session& session, Tick tick) const {
    return session.view().changed || (by_distance_ && (tick + session.id().value) % interval_ticks_ == 0);
  }
  void update(Session& session, EntityTable& entities, Tick tick);

  /// The client shows the past, or the present, from now on.
  static void set_shows_past(Session& session, EntityTable& entities, bool shows_past);

  /// The session is gone and follows nothing any more.
  static void release(const Session& session, EntityTable& entities);

 private:
  [[nodiscard]] std::optional<std::uint8_t> level_for(const Entity& entity, const Session& session,
                                                      const EntityTable& entities,
                                                      std::optional<std::uint8_t> followed_at) const;
  [[nodiscard]] std::optional<std::uint8_t> level_by_distance(const Entity& entity, const ClientView& view,
                                                              const EntityTable& entities,
                                                              std::optional<std::uint8_t> followed_at) const;
  void change(Entity& entity, Session& session, EntityTable& entities, std::optional<std::uint8_t> level,
              Tick tick) const;
  [[nodiscard]] double margin_m(std::uint32_t slot) const;
  void look_around(Session& session);
  void look_at_rest(Session& session);
  void look_everywhere(Session& session, const EntityTable& entities);

  InterestConfig config_;
  Tick interval_ticks_;
  bool by_distance_;      // something depends on where clients are
  double rest_margin_m_;  // what rests is looked for only when the eye has moved by so much
  SpatialIndex spatial_index_;
  SlotSet everywhere_;                // what always concerns everybody
  SlotSet near_;                      // scratch
  std::vector<std::uint32_t> found_;  // scratch: whatever is to be reconsidered
};

}  // namespace reckoner
