// SPDX-License-Identifier: MIT
#include "programs/server/play.hpp"

#include "programs/common/archetypes.hpp"

namespace reckoner::program {

Play::Play(const scenario::Source& source, Server& server, double tick_rate_hz, Log& log)
    : source_(source),
      server_(server),
      log_(log),
      feed_(source, source.start_s(), tick_rate_hz),
      ids_(source.size()) {
  for (const RouteDefinition& route : source.routes()) {
    const Result<RouteId> id = server.add_route(route);
    if (!id) log_.warn("route refused", {{"reason", std::string_view(id.error())}});
    routes_.push_back(id ? *id : RouteId{});
  }
}

void Play::step(double scheduled_monotonic_s, scenario::PoseCsvWriter* truth) {
  const double time_s = feed_.next_time_s();
  for (const scenario::FeedItem& item : feed_.next()) {
    const EntityId id = ids_[item.entity];
    switch (item.kind) {
      case scenario::FeedItem::Kind::spawn:
        spawn(item);
        break;
      case scenario::FeedItem::Kind::move:
        enter_frame(id, item);
        refused_ += server_.move(id, item.local) ? 0 : 1;
        break;
      case scenario::FeedItem::Kind::teleport:
        enter_frame(id, item);
        refused_ += server_.teleport(id, item.local) ? 0 : 1;
        break;
      case scenario::FeedItem::Kind::despawn:
        (void)server_.despawn(id);
        continue;
    }
    if (truth != nullptr) {
      truth->write({time_s, source_.entity(item.entity).name, item.truth.pose(), std::nullopt,
                    scheduled_monotonic_s, item.frame ? source_.entity(*item.frame).name : ""});
    }
  }
}

void Play::spawn(const scenario::FeedItem& item) {
  const scenario::SourceEntity& entity = source_.entity(item.entity);
  const auto kind = entity.has_orientation ? Kind::body : Kind::point;
  const SpawnResult spawned =
      server_.spawn(static_cast<std::size_t>(kind), entity.name, item.local, frame_of(item));
  if (!spawned) {
    log_.warn("entity refused",
              {{"entity", std::string_view(entity.name)}, {"reason", describe(spawned.error())}});
    ++refused_;
    ids_[item.entity] = {};
    return;
  }
  ids_[item.entity] = *spawned;
  if (const auto route = source_.route_of(item.entity)) (void)server_.follow(*spawned, routes_[*route]);
}

EntityId Play::frame_of(const scenario::FeedItem& item) const {
  return item.frame ? ids_[*item.frame] : EntityId{};
}

void Play::enter_frame(EntityId id, const scenario::FeedItem& item) {
  if (id) refused_ += server_.enter_frame(id, frame_of(item)) ? 0 : 1;
}

}  // namespace reckoner::program
