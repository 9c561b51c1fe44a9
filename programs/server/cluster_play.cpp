// SPDX-License-Identifier: MIT
#include "programs/server/cluster_play.hpp"

#include "programs/common/archetypes.hpp"

namespace reckoner::program {
namespace {

double time_of_next_tick_s(const scenario::Source& source, const Simulator& simulator, double tick_rate_hz) {
  return source.start_s() + static_cast<double>(simulator.next_tick()) / tick_rate_hz;
}

}  // namespace

ClusterPlay::ClusterPlay(const scenario::Source& source, Simulator& simulator, double tick_rate_hz, bool adds,
                         Log& log)
    : source_(source),
      simulator_(simulator),
      log_(log),
      adds_(adds),
      feed_(source, time_of_next_tick_s(source, simulator, tick_rate_hz), tick_rate_hz),
      ids_(source.size()),
      alive_(source.size(), false) {
  for (std::size_t i = 0; i < source.size(); ++i)
    by_name_.emplace(source.entity(i).name, i);
}

void ClusterPlay::step() {
  const auto items = feed_.next();
  for (const scenario::FeedItem& item : items)
    alive_[item.entity] = item.kind != scenario::FeedItem::Kind::despawn;
  while (const auto event = simulator_.poll_event()) {
    if (event->kind == SimulatorEvent::Kind::acquired) acquire(event->entity);
  }
  while (simulator_.poll_message()) {  // entities of a source do not answer
  }
  for (const scenario::FeedItem& item : items)
    play(item);
}

// An entity came from another simulator. Its name tells which one of the source it is.
void ClusterPlay::acquire(EntityId id) {
  const auto [first, last] = by_name_.equal_range(simulator_.name(id));
  for (auto it = first; it != last; ++it) {
    if (alive_[it->second]) ids_[it->second] = id;
  }
}

void ClusterPlay::play(const scenario::FeedItem& item) {
  using ItemKind = scenario::FeedItem::Kind;
  EntityId& id = ids_[item.entity];
  if (item.kind == ItemKind::despawn) {
    waiting_.erase(item.entity);
    if (id) (void)simulator_.despawn(id);
    id = {};
    return;
  }
  if (item.kind == ItemKind::spawn && adds_) waiting_.insert(item.entity);
  if (waiting_.contains(item.entity)) return add(item);
  if (!id || !simulator_.holds(id)) return;
  const auto frame = frame_of(item);
  if (!frame) return;  // the frame is not here yet
  if (simulator_.server().frame_of(id) != *frame && !simulator_.enter_frame(id, *frame)) {
    ++refused_;
    return;
  }
  const auto moved =
      item.kind == ItemKind::teleport ? simulator_.teleport(id, item.local) : simulator_.move(id, item.local);
  refused_ += moved ? 0 : 1;
}

// Adds an entity when there are ids, and when its frame exists.
void ClusterPlay::add(const scenario::FeedItem& item) {
  const auto frame = frame_of(item);
  if (!simulator_.ready() || !frame) return;
  waiting_.erase(item.entity);
  const scenario::SourceEntity& entity = source_.entity(item.entity);
  const auto kind = entity.has_orientation ? Kind::body : Kind::point;
  const SpawnResult spawned =
      simulator_.spawn(static_cast<std::size_t>(kind), entity.name, item.local, *frame);
  if (!spawned) {
    log_.warn("entity refused",
              {{"entity", std::string_view(entity.name)}, {"reason", describe(spawned.error())}});
    ++refused_;
    return;
  }
  ids_[item.entity] = *spawned;
  // The routes of the world are those of the source, and have the ids 1, 2, ...
  if (const auto route = source_.route_of(item.entity))
    (void)simulator_.follow(*spawned, RouteId{static_cast<std::uint32_t>(*route + 1)});
}

// The frame of an entity: a null id for the world's frame, and nullopt if this process does not know it.
std::optional<EntityId> ClusterPlay::frame_of(const scenario::FeedItem& item) const {
  if (!item.frame) return EntityId{};
  if (const EntityId known = ids_[*item.frame]; known && simulator_.server().state(known)) return known;
  if (const EntityId id = ids_[item.entity]) {
    const EntityId frame = simulator_.server().frame_of(id);
    if (frame && simulator_.name(frame) == source_.entity(*item.frame).name) return frame;
  }
  return std::nullopt;
}

}  // namespace reckoner::program
