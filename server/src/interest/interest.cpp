// SPDX-License-Identifier: MIT
#include "server/src/interest/interest.hpp"

#include "server/src/interest/spatial_index.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

// The cell size if the interest radius is unlimited. The grid then stays empty, so any size works.
constexpr double kAnyCellM = 100.0;

// An entity at rest enters the interest at a larger distance than a moving entity, and leaves it at a smaller
// distance. Both distances differ by a margin, which is this share of the hysteresis distance. Entities at
// rest are searched again only after the eye has moved by the margin. Nevertheless a client follows every
// entity within the radius, and no entity beyond the radius plus the hysteresis. The share must be less than
// a quarter, see margin_m().
constexpr double kRestMargin = 0.2;

}  // namespace

Interest::Interest(const InterestConfig& config, double tick_rate_hz)
    : config_(config),
      interval_ticks_(static_cast<Tick>(std::max(1.0, std::round(config.interval_s * tick_rate_hz)))),
      by_distance_(config.radius_m > 0.0 || config.level_distance_m[0] > 0.0),
      rest_margin_m_(kRestMargin * config.hysteresis * config.radius_m),
      spatial_index_(std::make_unique<SpatialIndex>(config.radius_m > 0.0 ? 0.5 * config.radius_m : kAnyCellM,
                                                    interval_ticks_)) {}

Interest::~Interest() = default;

void Interest::set_position(const Entity& entity, const EntityTable& entities) {
  const auto slot = static_cast<std::uint32_t>(entity.id.slot());
  if (config_.radius_m > 0.0) spatial_index_->set_position(slot, entities.position_in_world(entity));
  if (entity.relevance == Relevance::always) {
    always_relevant_.insert(slot);
  } else {
    always_relevant_.erase(slot);
  }
}

void Interest::review_with_contents_later(EntityId id, const EntityTable& entities) {
  review_later(id);
  for (const std::uint32_t slot : entities.frames().inside(static_cast<std::uint32_t>(id.slot())))
    review_with_contents_later(entities.slots()[slot].id, entities);
}

void Interest::note_frame_change(const Entity& entity, EntityId before, const EntityTable& entities) {
  set_position(entity, entities);
  review_with_contents_later(entity.id, entities);
  if (before) review_later(before);  // clients may no longer need the frame
}

void Interest::review(const SessionTable& sessions, EntityTable& entities, Tick tick) {
  if (config_.radius_m > 0.0) spatial_index_->update_positions(entities, tick);
  for (const EntityId id : to_review_) {
    Entity* entity = entities.find(id);
    if (entity == nullptr) continue;  // the entity has already ended
    for (const auto& session : sessions.all())
      reconsider(*entity, *session, entities, tick);
  }
  to_review_.clear();
  for (const auto& session : sessions.all()) {
    if (is_due(*session, tick)) update(*session, entities, tick);
  }
}

void Interest::remove(std::uint32_t slot) {
  spatial_index_->remove(slot);
  always_relevant_.erase(slot);
}

namespace {

// True if the entity, or any frame that contains it, is hidden from the client.
bool is_hidden_from(const Entity& entity, const ClientView& view, const EntityTable& entities) {
  const Entity* e = &entity;
  for (;;) {
    if (view.relevance_of(e->id, e->relevance) == Relevance::never || (e->groups & view.groups) == 0)
      return true;
    if (!e->frame) return false;
    e = &entities.slots()[e->frame.slot()];
  }
}

}  // namespace

// Returns the level of detail at which the client follows the entity; empty if the entity is not relevant. A
// client that follows an entity also follows its frame, at the same or a finer level.
std::optional<std::uint8_t> Interest::level_for(const Entity& entity, const Session& session,
                                                const EntityTable& entities,
                                                std::optional<std::uint8_t> followed_at) const {
  const ClientView& view = session.view();
  if (is_hidden_from(entity, view, entities)) return std::nullopt;
  auto level = level_by_distance(entity, view, entities, followed_at);
  for (const std::uint32_t slot : entities.frames().inside(static_cast<std::uint32_t>(entity.id.slot()))) {
    const Subscription* inside = session.subscriptions().find(slot);
    if (inside != nullptr && (!level || inside->level < *level)) level = inside->level;
  }
  return level;
}

std::optional<std::uint8_t> Interest::level_by_distance(const Entity& entity, const ClientView& view,
                                                        const EntityTable& entities,
                                                        std::optional<std::uint8_t> followed_at) const {
  const Relevance relevance = view.relevance_of(entity.id, entity.relevance);
  const bool near_only = relevance == Relevance::by_distance && config_.radius_m > 0.0;
  if (!view.eye) {
    if (near_only) return std::nullopt;
    return std::uint8_t{0};
  }
  const double distance_m = glm::distance(*view.eye, entities.position_in_world(entity));
  const double stretch = 1.0 + config_.hysteresis;
  const double margin = margin_m(static_cast<std::uint32_t>(entity.id.slot()));
  const double reach_m = followed_at ? config_.radius_m * stretch - margin : config_.radius_m + margin;
  if (near_only && distance_m > reach_m) return std::nullopt;
  std::uint8_t level = 0;
  for (std::uint8_t next = 1; next < kLevels; ++next) {
    const double from_m = config_.level_distance_m[next - 1u];
    if (from_m <= 0.0) break;
    const bool finer_now = followed_at && *followed_at < next;
    if (distance_m > from_m * (finer_now ? stretch : 1.0)) level = next;
  }
  return level;
}

void Interest::reconsider(Entity& entity, Session& session, EntityTable& entities, Tick tick) {
  const auto slot = static_cast<std::uint32_t>(entity.id.slot());
  const Subscription* followed = session.subscriptions().find(slot);
  const std::optional<std::uint8_t> before =
      followed != nullptr ? std::optional{followed->level} : std::nullopt;
  const auto level = level_for(entity, session, entities, before);
  change(entity, session, entities, level, tick);
  if (level == before || !entity.frame) return;
  // The client may no longer need the frame, or only a coarser level of it.
  reconsider(entities.slots()[entity.frame.slot()], session, entities, tick);
}

// Changes how the client follows the entity. Follows the frame of the entity first, so that its
// spawn is sent before that of the entity.
void Interest::change(Entity& entity, Session& session, EntityTable& entities,
                      std::optional<std::uint8_t> level, Tick tick) const {
  if (level && entity.frame) {
    Entity& frame = entities.slots()[entity.frame.slot()];
    const Subscription* outer = session.subscriptions().find(static_cast<std::uint32_t>(frame.id.slot()));
    if (outer == nullptr || outer->level > *level) change(frame, session, entities, level, tick);
  }
  const auto slot = static_cast<std::uint32_t>(entity.id.slot());
  const Subscription* followed = session.subscriptions().find(slot);
  const std::optional<std::uint8_t> before =
      followed != nullptr ? std::optional{followed->level} : std::nullopt;
  if (level == before) return;
  if (before) entity.levels[*before].remove_subscriber(session.view().shows_past);
  if (!level) return session.unfollow(entity.id, tick);
  if (before) {
    session.set_level(entity.id, *level, tick);
  } else {
    session.follow(entity, *level, tick);
  }
  EntityLevel& l = entity.levels[*level];
  l.add_subscriber(session.view().shows_past);
  l.delay_s = std::max(l.delay_s, session.round_trip().one_way_s());
  entities.awake().insert(slot);  // its publishes may be out of date if it had no subscribers
}

void Interest::update(Session& session, EntityTable& entities, Tick tick) {
  candidates_.clear();
  const ClientView& view = session.view();
  if (config_.radius_m > 0.0 && view.eye && !view.changed) {
    search_nearby(session);
  } else {
    search_all(session, entities);
  }
  std::sort(candidates_.begin(), candidates_.end());  // the grid's order depends on earlier positions
  for (const std::uint32_t slot : candidates_) {
    Entity& entity = entities.slots()[slot];
    if (entity.id) reconsider(entity, session, entities, tick);
  }
  session.view().changed = false;
}

// Returns the margin, m: the entity enters the interest at the radius plus the margin, and leaves it at the
// outer radius (with hysteresis) minus the margin. Settling entities have twice the margin: the client's eye
// may have moved by one margin since its last search of entities at rest, and may move by another margin
// until the next search.
double Interest::margin_m(std::uint32_t slot) const {
  if (spatial_index_->is_resting(slot)) return rest_margin_m_;
  return spatial_index_->is_settling(slot) ? 2.0 * rest_margin_m_ : 0.0;
}

// Collects the entities to decide about if only positions have changed. These contain few of the entities
// that the client already follows.
void Interest::search_nearby(Session& session) {
  const ClientView& view = session.view();
  const SlotSet& followed = session.subscriptions().slots();
  const bool levels = config_.level_distance_m[0] > 0.0;
  const double radius2_m2 = config_.radius_m * config_.radius_m;
  near_.clear();
  const bool rest_too =
      !view.eye_for_rest || !(glm::distance(*view.eye, *view.eye_for_rest) < rest_margin_m_);
  if (rest_too) search_resting(session);
  spatial_index_->moving().within(
      *view.eye, config_.radius_m * (1.0 + config_.hysteresis), [&](std::uint32_t slot, double distance2_m2) {
        near_.insert(slot);
        const bool candidate = followed.contains(slot) ? levels : distance2_m2 <= radius2_m2;
        if (candidate || spatial_index_->is_settling(slot)) candidates_.push_back(slot);
      });
  const auto note = [&](std::uint32_t slot) { candidates_.push_back(slot); };
  for (std::size_t w = 0; w < followed.words().size(); ++w) {
    const std::uint64_t looked_for = rest_too ? ~std::uint64_t{0} : ~spatial_index_->at_rest().word(w);
    SlotSet::for_each_in(followed.word(w) & looked_for & ~near_.word(w) & ~always_relevant_.word(w), w, note);
  }
  for (std::size_t w = 0; w < always_relevant_.words().size(); ++w)
    SlotSet::for_each_in(always_relevant_.word(w) & ~followed.word(w) & ~near_.word(w), w, note);
}

void Interest::search_resting(Session& session) {
  ClientView& view = session.view();
  const SlotSet& followed = session.subscriptions().slots();
  const bool levels = config_.level_distance_m[0] > 0.0;
  const double enter_m = config_.radius_m + rest_margin_m_;
  spatial_index_->resting().within(*view.eye, config_.radius_m * (1.0 + config_.hysteresis) - rest_margin_m_,
                                   [&](std::uint32_t slot, double distance2_m2) {
                                     near_.insert(slot);
                                     if (followed.contains(slot) ? levels : distance2_m2 <= enter_m * enter_m)
                                       candidates_.push_back(slot);
                                   });
  view.eye_for_rest = view.eye;
}

void Interest::search_all(Session& session, const EntityTable& entities) {
  near_ = session.subscriptions().slots();
  always_relevant_.for_each([&](std::uint32_t slot) { near_.insert(slot); });
  ClientView& view = session.view();
  for (const ClientView::RelevanceOverride& exception : view.relevance_overrides) {
    if (entities.find(exception.entity) != nullptr)
      near_.insert(static_cast<std::uint32_t>(exception.entity.slot()));
  }
  if (config_.radius_m > 0.0) {
    const auto note = [&](std::uint32_t slot, double) { near_.insert(slot); };
    if (view.eye) {
      spatial_index_->moving().within(*view.eye, config_.radius_m + 2.0 * rest_margin_m_, note);
      spatial_index_->resting().within(*view.eye, config_.radius_m + rest_margin_m_, note);
    }
    view.eye_for_rest = view.eye;
  } else if (view.changed) {
    for (std::size_t slot = 0; slot < entities.slots().size(); ++slot)
      near_.insert(static_cast<std::uint32_t>(slot));
  }
  near_.for_each([&](std::uint32_t slot) { candidates_.push_back(slot); });
}

void Interest::collect_near(const glm::dvec3& centre, double radius_m, const EntityTable& entities,
                            SlotSet& near) const {
  near.clear();
  if (!(radius_m >= 0.0)) return;
  if (config_.radius_m <= 0.0) {
    for (std::size_t slot = 0; slot < entities.slots().size(); ++slot)
      near.insert(static_cast<std::uint32_t>(slot));
    return;
  }
  const auto note = [&](std::uint32_t slot, double = 0.0) { near.insert(slot); };
  // The index has exact positions only of entities at rest in the world frame. An entity that the game has
  // just moved is awake already, but the index does not know this before the next tick.
  spatial_index_->resting().within(centre, radius_m, note);
  spatial_index_->not_at_rest(note);
  entities.awake().for_each(note);
  std::ranges::for_each(entities.frames().members(), note);
}

void Interest::set_shows_past(Session& session, EntityTable& entities, bool shows_past) {
  if (session.view().shows_past == shows_past) return;
  unsubscribe(session, entities);
  session.view().shows_past = shows_past;
  session.subscriptions().slots().for_each([&](std::uint32_t slot) {
    const std::size_t level = session.subscriptions().find(slot)->level;
    entities.slots()[slot].levels[level].add_subscriber(shows_past);
  });
}

void Interest::unsubscribe(const Session& session, EntityTable& entities) {
  session.subscriptions().slots().for_each([&](std::uint32_t slot) {
    const std::size_t level = session.subscriptions().find(slot)->level;
    entities.slots()[slot].levels[level].remove_subscriber(session.view().shows_past);
  });
}

}  // namespace reckoner
