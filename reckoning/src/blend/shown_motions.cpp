// SPDX-License-Identifier: MIT
#include "reckoning/src/blend/interpolate.hpp"
#include "reckoning/src/motion/wall_contact.hpp"
#include "reckoning/src/routes/route_path.hpp"

#include <algorithm>

#include <glm/common.hpp>

#include <reckoner/reckoning/floor.hpp>
#include <reckoner/reckoning/shown_motions.hpp>

namespace reckoner {

bool MotionHistory::is_new_motion(double time_s) const {
  if (time_s > newest().time_s) return true;
  if (time_s < oldest().time_s) return count_ < kMaxMotions;
  return std::ranges::find(motions(), time_s, &Motion::time_s) == motions().end();
}

void MotionHistory::add(const Motion& motion) {
  if (count_ == kMaxMotions) {
    ++first_;
    --count_;
  }
  if (first_ + count_ == motions_.size()) {
    std::move(begin(), end(), motions_.data());
    first_ = 0;
  }
  Motion* place = end();
  for (; place != begin() && (place - 1)->time_s >= motion.time_s; --place)
    *place = *(place - 1);
  *place = motion;
  ++count_;
}

void MotionHistory::remove_motions_in(FrameId frame, const Motion* instead) {
  const auto in_frame = [frame](const Motion& m) { return m.frame == frame; };
  count_ = static_cast<std::size_t>(std::remove_if(begin(), end(), in_frame) - begin());
  if (instead != nullptr) add(*instead);
}

namespace {

State at_rest(const State& state) {
  State out;
  out.position = state.position;
  out.orientation = state.orientation;
  return out;
}

// The extrapolated and faded state, limited to the top speed.
State limited_and_faded(const Motion& motion, double valid_until_s, double time_s) {
  return faded_state(limited_to_top_speed(motion, valid_until_s, time_s), valid_until_s, time_s);
}

// True if motion `a` continues to motion `b` in the same frame and without a teleport.
bool leads_to(const Motion& a, const Motion& b) {
  return a.teleports == b.teleports && a.frame == b.frame;
}

}  // namespace

const Motion& ShownMotions::end_of(const Motion& from) const {
  const Motion& to = *(&from + 1);
  const bool bridged = to.frame != from.frame && bridge_ != nullptr && bridge_->frame == from.frame &&
                       bridge_->time_s == to.time_s && to.time_s - from.time_s >= kShortestBridgeS;
  return bridged ? *bridge_ : to;
}

State ShownMotions::shown(double time_s) const {
  return shown_from(unblended(time_s), time_s);
}

State ShownMotions::blended(double time_s) const {
  const State base = unblended(time_s);
  return blends_->are_valid_for(active(time_s)) ? blends_->free.apply(base, time_s) : base;
}

State ShownMotions::shown_at_end(const Motion& from, double time_s) const {
  const Motion& end = end_of(from);
  return corrected(end.frame == from.frame ? end.state : limited_and_faded(from, kAlwaysValid, time_s), from,
                   time_s);
}

std::optional<Chase> ShownMotions::chase_under_way(const Motion& from, double time_s) const {
  const Chase& chase = blends_->chase;
  if (!(time_s >= chase.start_s)) return std::nullopt;
  if (chase.is_valid_for(from, time_s)) return chase;
  if (path_ == MotionPath::predict || from.route != nullptr || from.frame != chase.frame) return std::nullopt;
  // After a teleport that was already known when the chase began, a new chase starts from the first motion
  // after the teleport.
  const Motion* first = &from;
  while (first != known_.data() && leads_to(*(first - 1), *first))
    --first;
  if (first->time_s < chase.start_s) return std::nullopt;
  return Chase{.start_s = first->time_s,
               .position = first->state.position,
               .velocity = glm::dvec3{first->state.velocity},
               .teleports = first->teleports,
               .frame = first->frame,
               .limit_mps = chase.limit_mps};
}

// Moves a shown state out of the walls. `base` is the state of motion `from`.
State ShownMotions::in_front_of_walls(const State& state, const Walls& walls, const State& base,
                                      const Motion& from, double time_s) const {
  const bool blends = !blends_->free.over(time_s) || !blends_->catch_up.over(time_s);
  const bool crosses = blends && blends_->crosses_wall && blends_->are_valid_for(from);
  if (&from == &newest() || !leads_to(from, end_of(from)))
    return blended_along_walls(state, walls, base.position, crosses);
  // A curve between two motions may itself lead into a wall, but the motions do not.
  if (is_behind_wall(end_of(from).state, walls, from.state.position)) return state;
  return blended_along_walls(state, walls, from.state.position, crosses);
}

// Applies the blend in space, the catch-up or the chase, the edge of the world, the walls and the floor to
// `base`, the state of motion `from` at `time_s`.
State ShownMotions::corrected(const State& base, const Motion& from, double time_s, bool catches_up) const {
  const bool blended = blends_->are_valid_for(from);
  State state = blended ? blends_->free.apply(base, time_s) : base;
  if (blended && catches_up && !blends_->catch_up.over(time_s))
    state = blends_->catch_up.apply(state, time_s);
  if (const auto chase = chase_under_way(from, time_s)) {
    // Motions after a teleport or in another frame are not chased.
    const Motion* last = &from;
    while (last != &newest() && leads_to(*last, *(last + 1)))
      ++last;
    const double max_mps = chase->limit_mps > 0.0 ? chase->limit_mps : double{from.max_speed_mps};
    const Chase::Point place = chase->at(time_s, max_mps, [&](double t) {
      return chase->is_valid_for(active(t), t) ? unblended(t) : limited_and_faded(*last, kAlwaysValid, t);
    });
    state.position = place.position;
    state.velocity = glm::vec3{place.velocity};
    state.acceleration = glm::vec3{place.acceleration};
  }
  const glm::dvec3 edge{from.world_size_m};
  state.position = glm::clamp(state.position, -edge, edge);
  if (const Walls* walls = walls_of(from)) state = in_front_of_walls(state, *walls, base, from, time_s);
  const Floor* floor = floor_of(from);
  return floor != nullptr ? above_floor(state, *floor) : state;
}

const Motion& ShownMotions::active(double time_s) const {
  if (path_ == MotionPath::predict) return newest();
  std::size_t i = known_.size() - 1;
  while (i > 0 && known_[i].time_s > time_s)
    --i;
  return known_[i];
}

std::optional<RouteState> ShownMotions::along(double time_s) const {
  const Motion& from = active(time_s);
  if (from.route == nullptr) return std::nullopt;
  if (path_ == MotionPath::interpolate && time_s < from.time_s)
    return RouteState{from.along.distance, 0.0, 0.0};
  if (&from != &newest()) {
    const Motion& to = end_of(from);
    if (leads_to(from, to)) {
      if (to.route == from.route) return interpolated_on_route(from, to, time_s);
      if (time_s > route_interpolation_start_s(from, to)) return std::nullopt;
    }
  }
  return &from == &newest() ? faded_route_state(from, blends_->valid_until_s, time_s)
                            : from.route->advanced_on_route(from.along, time_s - from.time_s);
}

std::optional<RouteState> ShownMotions::caught_up_along(double time_s) const {
  std::optional<RouteState> place = along(time_s);
  if (place && blends_->are_valid_for(active(time_s))) place = blends_->along.apply(*place, time_s);
  return place;
}

std::optional<RouteState> ShownMotions::shown_along(double time_s) const {
  std::optional<RouteState> place = caught_up_along(time_s);
  if (place && !blends_->catch_up_along.over(time_s) && blends_->are_valid_for(active(time_s)))
    place = blends_->catch_up_along.apply(*place, time_s);
  return place;
}

State ShownMotions::unblended(double time_s) const {
  const Motion& from = active(time_s);
  if (const auto place = shown_along(time_s)) return state_along(from, *place);
  if (path_ == MotionPath::interpolate && time_s < known_.front().time_s)
    return at_rest(known_.front().state);
  if (&from == &newest()) return limited_and_faded(from, blends_->valid_until_s, time_s);
  const Motion& to = end_of(from);
  // Across a teleport or a change of frame, the earlier motion is extrapolated until the time stamp of the
  // later one.
  if (!leads_to(from, to)) return limited_and_faded(from, kAlwaysValid, time_s);
  if (from.route == nullptr) return interpolate_gap(from, to, time_s);
  const double start_s = route_interpolation_start_s(from, to);
  return interpolate({state_at(from, start_s), start_s, from.teleports}, to, time_s);
}

bool ShownMotions::stays_on(const Route* route, double time_s) const {
  const Motion* from = &active(time_s);
  return std::all_of(from, &newest() + 1,
                     [&](const Motion& m) { return m.route == route && leads_to(*from, m); });
}

const Route* ShownMotions::route(double time_s) const {
  const bool blending = blends_->are_valid_for(active(time_s)) &&
                        (!blends_->free.over(time_s) || !blends_->catch_up.over(time_s));
  return along(time_s) && !blending ? active(time_s).route : nullptr;
}

}  // namespace reckoner
