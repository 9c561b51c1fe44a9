// SPDX-License-Identifier: MIT
#include "route_path.hpp"

#include <algorithm>

#include <reckoner/reckoning/interpolate.hpp>
#include <reckoner/reckoning/remote_entity.hpp>

namespace reckoner {
namespace {

State at_rest(const State& state) {
  State out;
  out.position = state.position;
  out.orientation = state.orientation;
  return out;
}

}  // namespace

RemoteEntity::RemoteEntity(const Motion& first, Path path) : path_(path), blend_teleports_(first.teleports) {
  history_[0] = first;
}

bool RemoteEntity::receive(const Motion& motion, double shown_time_s, double blend_s) {
  const auto begin = history_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(count_);
  auto place = std::lower_bound(begin, end, motion.time_s,
                                [](const Motion& known, double time_s) { return known.time_s < time_s; });
  if (place != end && place->time_s == motion.time_s) return false;
  if (place == begin && count_ == kHistory) return false;

  const State base_before = unblended(shown_time_s);
  const std::optional<RouteState> along_before = shown_along(shown_time_s);
  const Route* const route_before = active(shown_time_s).route;
  const State shown_before = shown(shown_time_s);
  const std::uint8_t teleports_before = active(shown_time_s).teleports;
  if (count_ == kHistory) {
    std::move(begin + 1, place, begin);  // forgets the oldest
    --place;
  } else {
    std::move_backward(place, end, end + 1);
    ++count_;
  }
  *place = motion;

  if (active(shown_time_s).teleports != teleports_before) {
    route_blend_ = {};
    start_blend(Blend{}, shown_time_s);
    return true;
  }
  if (along_before && stays_on(route_before, shown_time_s)) {
    blend_along(*along_before, shown_time_s, blend_s);
    return true;
  }
  route_blend_ = {};
  const State base_after = unblended(shown_time_s);
  // A motion that lies ahead of what is shown, or came too late to matter, changes nothing at this instant:
  // a blend that is under way goes on.
  const bool same = base_after.position == base_before.position &&
                    base_after.velocity == base_before.velocity &&
                    base_after.orientation == base_before.orientation &&
                    base_after.angular_velocity == base_before.angular_velocity;
  if (!same) start_blend(Blend{shown_before, base_after, shown_time_s, blend_s}, shown_time_s);
  return true;
}

State RemoteEntity::shown(double time_s) const {
  const State base = unblended(time_s);
  return active(time_s).teleports == blend_teleports_ ? blend_.apply(base, time_s) : base;
}

void RemoteEntity::correct(const State& shown, double time_s, double blend_s) {
  start_blend(Blend{shown, unblended(time_s), time_s, blend_s}, time_s);
}

void RemoteEntity::jump(double before_s, double now_s, double rate, double blend_s) {
  const Route* const on = route(before_s);
  if (on != nullptr && stays_on(on, now_s)) {
    RouteState before = *shown_along(before_s);
    before.speed *= rate;
    start_blend(Blend{}, now_s);
    blend_along(before, now_s, blend_s);
    return;
  }
  State before = shown(before_s);
  before.velocity *= static_cast<float>(rate);
  before.angular_velocity *= static_cast<float>(rate);
  correct(before, now_s, blend_s);
}

void RemoteEntity::set_path(Path path, double time_s, double blend_s) {
  if (path == path_) return;
  const State before = shown(time_s);
  const std::uint8_t teleports_before = active(time_s).teleports;
  path_ = path;
  route_blend_ = {};
  const bool jumped = active(time_s).teleports != teleports_before;
  start_blend(jumped ? Blend{} : Blend{before, unblended(time_s), time_s, blend_s}, time_s);
}

const Motion& RemoteEntity::active(double time_s) const {
  if (path_ == Path::predict) return newest();
  std::size_t i = count_ - 1;
  while (i > 0 && history_[i].time_s > time_s)
    --i;
  return history_[i];
}

// Where it is on its route, not blended; nothing while it is not shown from a route.
std::optional<RouteState> RemoteEntity::along(double time_s) const {
  const Motion& from = active(time_s);
  if (from.route == nullptr) return std::nullopt;
  if (path_ == Path::interpolate && time_s < from.time_s) return RouteState{from.along.distance, 0.0, 0.0};
  if (&from != &newest()) {
    const Motion& to = *(&from + 1);
    if (to.teleports == from.teleports) {
      if (to.route == from.route) return between_along(from, to, time_s);
      if (time_s > join_start_s(from, to)) return std::nullopt;
    }
  }
  return from.route->carried(from.along, time_s - from.time_s);
}

std::optional<RouteState> RemoteEntity::shown_along(double time_s) const {
  std::optional<RouteState> place = along(time_s);
  if (place && active(time_s).teleports == blend_teleports_) place = route_blend_.apply(*place, time_s);
  return place;
}

State RemoteEntity::unblended(double time_s) const {
  const Motion& from = active(time_s);
  if (const auto place = shown_along(time_s)) return state_along(from, *place);
  if (path_ == Path::interpolate && time_s < oldest().time_s) return at_rest(oldest().state);
  if (&from == &newest()) return state_at(from, time_s);
  const Motion& to = *(&from + 1);
  // Across a teleport the earlier motion is carried on until the later one's stamp.
  if (to.teleports != from.teleports) return state_at(from, time_s);
  if (from.route == nullptr) return interpolate(from, to, time_s);
  const double start_s = join_start_s(from, to);
  return interpolate({state_at(from, start_s), start_s, from.teleports}, to, time_s);
}

// True if it is on `route` at `time_s` and in all that is known to come.
bool RemoteEntity::stays_on(const Route* route, double time_s) const {
  const Motion* from = &active(time_s);
  return std::all_of(from, &newest() + 1,
                     [&](const Motion& m) { return m.route == route && m.teleports == from->teleports; });
}

// Carries on from `shown_before` along the route. A blend in space that is under way goes on over it.
void RemoteEntity::blend_along(const RouteState& shown_before, double time_s, double blend_s) {
  const std::optional<RouteState> now = shown_along(time_s);
  if (now->distance == shown_before.distance && now->speed == shown_before.speed) return;
  if (active(time_s).teleports != blend_teleports_) start_blend(Blend{}, time_s);
  route_blend_ = RouteBlend{*active(time_s).route, shown_before, *along(time_s), time_s, blend_s};
}

const Route* RemoteEntity::route(double time_s) const {
  const bool blending = active(time_s).teleports == blend_teleports_ && !blend_.over(time_s);
  return along(time_s) && !blending ? active(time_s).route : nullptr;
}

void RemoteEntity::start_blend(const Blend& blend, double time_s) {
  blend_ = blend;
  blend_teleports_ = active(time_s).teleports;
}

}  // namespace reckoner
