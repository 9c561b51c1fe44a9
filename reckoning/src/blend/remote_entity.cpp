// SPDX-License-Identifier: MIT
#include "reckoning/src/blend/interpolate.hpp"
#include "reckoning/src/motion/rotation.hpp"
#include "reckoning/src/motion/wall_contact.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/remote_entity.hpp>

namespace reckoner {
namespace {

// For kGentleS after a change of frame, corrections are larger: the errors of the entity and the errors of
// its frame add up, and the entity's motion in this frame is new. Such corrections are blended gently. The
// acceleration of a blend is at most 6 E0/T^2 + 4 E1/T. T is chosen so that this is kGentleMps2, which
// changes the velocity by 0.08 m/s per drawn frame at 60 Hz. But T is at most kLongestGentleS.
constexpr double kGentleS = 0.7;
constexpr double kGentleMps2 = 5.0;
constexpr double kLongestGentleS = 0.5;

double gentle_s(const State& from, const State& to, double lever_m) {
  double e0 = glm::distance(from.position, to.position);
  double e1 = glm::distance(glm::dvec3{from.velocity}, glm::dvec3{to.velocity});
  if (lever_m > 0.0) {
    e0 += lever_m * angle_between(from.orientation, to.orientation);
    e1 += lever_m * glm::distance(glm::dvec3{from.angular_velocity}, glm::dvec3{to.angular_velocity});
  }
  const double t = (4.0 * e1 + std::sqrt(16.0 * e1 * e1 + 24.0 * kGentleMps2 * e0)) / (2.0 * kGentleMps2);
  return std::min(t, kLongestGentleS);
}

// Limits a velocity to `max_mps`. This is necessary because a pose in the middle of a jump has the speed of
// the jump.
glm::dvec3 no_faster(const glm::dvec3& velocity, double max_mps) {
  const double speed = glm::length(velocity);
  return speed > max_mps ? velocity * (max_mps / speed) : velocity;
}

bool same_rates(const State& a, const State& b) {
  return a.position == b.position && a.velocity == b.velocity && a.orientation == b.orientation &&
         a.angular_velocity == b.angular_velocity;
}

}  // namespace

RemoteEntity::RemoteEntity(const Motion& first, MotionPath path, const BlendPolicy& policy)
    : history_(first), path_(path), policy_(policy) {
  blends_.teleports = first.teleports;
  blends_.frame = first.frame;
}

RemoteEntity::RemoteEntity(std::span<const Motion> known, MotionPath path, const ShownBlends& blends,
                           const BlendPolicy& policy)
    : history_(known), path_(path), policy_(policy), blends_(blends) {}

bool RemoteEntity::receive(const Motion& motion, double shown_time_s, double blend_s, double valid_until_s,
                           const std::optional<State>& shown_in_frame) {
  const bool valid =
      is_time(motion.time_s) && is_time(shown_time_s) && is_time(blend_s) && !std::isnan(valid_until_s);
  if (!valid || !history_.is_new_motion(motion.time_s)) return false;

  const State base_before = view().unblended(shown_time_s);
  const std::optional<RouteState> along_before = view().shown_along(shown_time_s);
  const Route* const route_before = view().active(shown_time_s).route;
  const State shown_before = view().shown_from(base_before, shown_time_s);
  const std::uint8_t teleports_before = view().active(shown_time_s).teleports;
  const FrameId frame_before = frame(shown_time_s);
  const bool chasing = is_chasing(shown_time_s);
  history_.add(motion);
  blends_.valid_until_s = valid_until_s;

  if (view().active(shown_time_s).teleports != teleports_before) {
    blends_.along = {};
    end_blend(shown_time_s);
    return true;
  }
  if (frame(shown_time_s) != frame_before) {
    change_frame(shown_in_frame, shown_time_s, shown_time_s, blend_s);
    return true;
  }
  if (along_before && view().stays_on(route_before, shown_time_s)) {
    blend_along(*along_before, shown_time_s, blend_s);
    return true;
  }
  blends_.along = {};
  const State base_after = view().unblended(shown_time_s);
  // If the motion is ahead of the shown time, or arrived too late to matter, it does not change the pose at
  // this instant. Then a blend in progress continues.
  continue_from(shown_before, base_after, chasing || !same_rates(base_before, base_after), shown_time_s,
                blend_s);
  return true;
}

// Call this after the known motions have changed. The shown pose continues from `shown`, and a chase is
// computed again. `moved`: the change moved the pose at `time_s`.
void RemoteEntity::continue_from(const State& shown, const State& base, bool moved, double time_s,
                                 double blend_s) {
  if (moved || is_chasing(time_s)) {
    blend_from(shown, base, time_s, blend_s);
  } else {
    start_chase_if_too_fast(base, time_s);
  }
}

void RemoteEntity::set_valid_until(double valid_until_s, double time_s, double blend_s) {
  if (std::isnan(valid_until_s) || !is_time(time_s) || !is_time(blend_s)) return;
  double& known_s = blends_.valid_until_s;
  const bool changes = time_s > std::min(valid_until_s, known_s) && valid_until_s != known_s;
  const Route* const on = changes ? route(time_s) : nullptr;
  if (on != nullptr && view().stays_on(on, time_s)) {
    const RouteState before = *view().shown_along(time_s);
    known_s = valid_until_s;
    end_blend(time_s);
    blend_along(before, time_s, blend_s);
    return;
  }
  const State before = shown(time_s);
  known_s = valid_until_s;
  continue_from(before, view().unblended(time_s), changes, time_s, blend_s);
}

void RemoteEntity::correct(const State& shown, double time_s, double blend_s) {
  if (!is_time(time_s) || !is_time(blend_s)) return;
  blend_from(shown, view().unblended(time_s), time_s, blend_s);
}

void RemoteEntity::hold(const State& shown, double time_s, double sure_s, double until_s) {
  const Motion& from = view().active(time_s);
  const Motion held{.state = shown,
                    .time_s = time_s,
                    .teleports = from.teleports,
                    .never_reverses = from.never_reverses,
                    .max_speed_mps = from.max_speed_mps,
                    .world_size_m = from.world_size_m,
                    .quiet = from.quiet,
                    .floor = from.floor,
                    .walls = from.walls,
                    .frame = from.frame};
  hold_ = Hold{held, newest().time_s, sure_s, until_s};
  blends_.along = {};
  end_blend(time_s);
}

bool RemoteEntity::is_hold_over(double time_s) const {
  if (!hold_) return false;
  if (time_s >= hold_->until_s) return true;
  return std::ranges::any_of(history_.motions(), [&](const Motion& motion) {
    const bool is_reached = path_ == MotionPath::predict || motion.time_s <= time_s;
    return is_reached && motion.time_s > hold_->known_s && contains_hit(motion);
  });
}

// Updates that were sent before the hit continue the motion before it. Without the hit, the server might send
// no other motion for long, so their time stamps alone do not tell.
bool RemoteEntity::contains_hit(const Motion& motion) const {
  const Motion& held = hold_->motion;
  if (motion.time_s > hold_->sure_s || motion.route != nullptr || motion.teleports != held.teleports ||
      motion.frame != held.frame)
    return true;
  const Motion* before = nullptr;
  for (const Motion& known : history_.motions())
    if (known.time_s <= hold_->known_s) before = &known;
  if (before == nullptr || before->frame != held.frame) return true;
  const auto off = [&](const Motion& expected) {
    return glm::distance(motion.state.velocity, state_at(expected, motion.time_s).velocity);
  };
  const float from_old = off(*before);
  const float from_held = off(held);
  return motion.time_s > held.time_s ? from_old >= from_held : from_old > from_held;
}

void RemoteEntity::release(double time_s) {
  hold_.reset();
  blends_.along = {};
  end_blend(time_s);
}

void RemoteEntity::blend_from(const State& shown, const State& base, double time_s, double blend_s) {
  const bool gently = blend_s > 0.0 && time_s < blends_.gentle_until_s;
  const double duration_s = gently ? std::max(blend_s, gentle_s(shown, base, blends_.lever_m)) : blend_s;
  // A gentle blend takes the same time for position and orientation. If other entities use this entity as
  // their frame, rotations move them most.
  const double turn_share = gently ? 1.0 : policy_.turn_share;
  start_blend(Blend{shown, base, time_s, duration_s, turn_share, policy_.shape}, base, time_s);
  const Walls* const walls = walls_of(view().active(time_s));
  blends_.crosses_wall = walls != nullptr && is_behind_wall(shown, *walls, base.position);
}

// Blends from `shown`, which is the state that was shown at `from_s`, converted to the entity's frame at
// `time_s`. If `shown` is empty, the pose jumps.
void RemoteEntity::change_frame(const std::optional<State>& shown, double from_s, double time_s,
                                double blend_s) {
  blends_.along = {};
  blends_.gentle_until_s = std::max(blends_.gentle_until_s, time_s + kGentleS);
  end_blend(time_s);
  if (shown) blend_from(*shown, view().unblended(from_s), from_s, blend_s);
}

std::optional<RemoteEntity::FrameChange> RemoteEntity::next_frame(double time_s) const {
  if (hold_) return std::nullopt;
  const Motion& from = view().active(time_s);
  if (&from == &newest()) return std::nullopt;
  const Motion& to = view().end_of(from);
  const bool changes = to.frame != from.frame && to.teleports == from.teleports;
  if (!changes || to.time_s - from.time_s < ShownMotions::kShortestBridgeS) return std::nullopt;
  return FrameChange{from.frame, to};
}

void RemoteEntity::bridge(const FrameChange& change, const State& end, double time_s, double blend_s) {
  if (!is_time(time_s) || !is_time(blend_s)) return;
  const State shown_before = shown(time_s);
  const State base_before = unblended(time_s);
  bridge_ = Motion{
      .state = end, .time_s = change.to.time_s, .teleports = change.to.teleports, .frame = change.from};
  const State base = unblended(time_s);
  continue_from(shown_before, base, !same_rates(base_before, base), time_s, blend_s);
}

std::optional<RemoteEntity::FrameCrossing> RemoteEntity::crossing(FrameId before, double time_s) const {
  if (hold_) return std::nullopt;
  const Motion* now = &view().active(time_s);
  const Motion* const first = &history_.oldest();
  if (now->frame == before) return std::nullopt;
  const auto same = [](const Motion& a, const Motion& b) {
    return a.frame == b.frame && a.teleports == b.teleports;
  };
  while (now != first && same(*(now - 1), *now))
    --now;
  if (now == first) return std::nullopt;
  const Motion& last = *(now - 1);
  if (last.frame != before || last.teleports != now->teleports) return std::nullopt;
  return FrameCrossing{now->time_s, view().shown_at_end(last, now->time_s)};
}

void RemoteEntity::continue_in_new_frame(const State& shown, double crossed_s, double time_s,
                                         double blend_s) {
  if (!is_time(crossed_s) || !is_time(time_s) || !is_time(blend_s)) return;
  change_frame(shown, crossed_s, time_s, blend_s);
}

void RemoteEntity::leave_frame(FrameId gone, const Motion& instead) {
  const bool is_in_it = frame(instead.time_s) == gone;
  if (hold_ && hold_->motion.frame == gone) hold_.reset();
  history_.remove_motions_in(gone, is_in_it ? &instead : nullptr);
  bridge_.reset();
  blends_.along = {};
}

bool RemoteEntity::has_motion_in(FrameId frame) const {
  if (hold_ && hold_->motion.frame == frame) return true;
  return std::ranges::any_of(history_.motions(), [&](const Motion& m) { return m.frame == frame; });
}

void RemoteEntity::jump(double before_s, double now_s, double rate, double blend_s) {
  if (!is_time(before_s) || !is_time(now_s) || !std::isfinite(rate) || !is_time(blend_s)) return;
  const Route* const on = view().route(before_s);
  if (on != nullptr && view().stays_on(on, now_s)) {
    RouteState before = *view().shown_along(before_s);
    before.speed *= rate;
    end_blend(now_s);
    blend_along(before, now_s, blend_s);
    return;
  }
  State before = view().shown(before_s);
  before.velocity *= static_cast<float>(rate);
  before.angular_velocity *= static_cast<float>(rate);
  correct(before, now_s, blend_s);
}

void RemoteEntity::set_path(MotionPath path, double time_s, double blend_s) {
  if (path == path_ || !is_time(time_s) || !is_time(blend_s)) return;
  const State base_before = view().unblended(time_s);
  const std::optional<RouteState> along_before = view().shown_along(time_s);
  const Route* const route_before = view().active(time_s).route;
  const State before = view().shown(time_s);
  const std::uint8_t teleports_before = view().active(time_s).teleports;
  const FrameId frame_before = frame(time_s);
  const bool chasing = is_chasing(time_s);
  path_ = path;
  if (view().active(time_s).teleports != teleports_before || frame(time_s) != frame_before) {
    blends_.along = {};
    end_blend(time_s);
    return;
  }
  if (along_before && view().stays_on(route_before, time_s)) {
    blend_along(*along_before, time_s, blend_s);
    return;
  }
  blends_.along = {};
  const State base = view().unblended(time_s);
  continue_from(before, base, chasing || !same_rates(base_before, base), time_s, blend_s);
}

// Blends along the route from `shown_before`. A blend in space that is in progress continues; it is added to
// the blend along the route.
void RemoteEntity::blend_along(const RouteState& shown_before, double time_s, double blend_s) {
  const std::optional<RouteState> now = view().shown_along(time_s);
  if (now->distance == shown_before.distance && now->speed == shown_before.speed) return;
  if (!blends_.hold(view().active(time_s))) end_blend(time_s);
  blends_.along = RouteBlend{
      *view().active(time_s).route, shown_before, *view().along(time_s), time_s, blend_s, policy_.shape};
}

void RemoteEntity::start_blend(const Blend& blend, const State& base, double time_s) {
  blends_.free = blend;
  blends_.crosses_wall = false;
  blends_.teleports = view().active(time_s).teleports;
  blends_.frame = frame(time_s);
  start_chase_if_too_fast(base, time_s);
}

void RemoteEntity::end_blend(double time_s) {
  start_blend(Blend{}, view().unblended(time_s), time_s);
}

// A cheap test: true if the shown speed surely stays within the body's top speed.
bool RemoteEntity::is_clearly_within(const State& base, double time_s, double max_mps) const {
  const Blend& blend = blends_.free;
  double added_mps = 0.0;
  if (!blend.over(time_s)) added_mps = blend.top_speed_mps();
  if (path_ == MotionPath::predict) {
    if (added_mps == 0.0) return true;
    const double gained = glm::length(glm::dvec3{base.acceleration}) * blend.duration_s();
    return glm::length(glm::dvec3{base.velocity}) + gained + added_mps <= max_mps;
  }
  for (const Motion* from = &view().active(time_s); from != &newest(); ++from) {
    const Motion& to = view().end_of(*from);
    if (to.teleports != from->teleports || to.frame != from->frame) continue;
    const double left_mps = max_mps - added_mps;
    const double start_s = curve_starts(*from, to).position_s;
    const State start = start_s > from->time_s ? state_at(*from, start_s) : from->state;
    const glm::dvec3 before{from->state.velocity};
    const glm::dvec3 v0 = start_s > from->time_s ? glm::dvec3{start.velocity} : start_velocity(*from, to);
    const glm::dvec3 v1{to.state.velocity};
    const glm::dvec3 mean = (to.state.position - start.position) / (to.time_s - start_s);
    const double fastest2 = std::max({glm::dot(before, before), glm::dot(v0, v0), glm::dot(v1, v1),
                                      glm::dot(3.0 * mean - v0 - v1, 3.0 * mean - v0 - v1)});
    if (!(left_mps > 0.0) || fastest2 > left_mps * left_mps) return false;
  }
  const State& last = newest().state;
  const double gained = glm::length(glm::dvec3{last.acceleration}) * blend.duration_s();
  return added_mps == 0.0 || glm::length(glm::dvec3{last.velocity}) + gained + added_mps <= max_mps;
}

// Checks the shown pose from `time_s` on, as far as motions are known. If the shown pose becomes faster than
// the body's top speed, a chase replaces it from that time on.
void RemoteEntity::start_chase_if_too_fast(const State& base, double time_s) {
  blends_.chase = {};
  if (hold_) return;  // the caller decides how fast the entity is
  const double max_mps = view().active(time_s).max_speed_mps;
  const Motion* const begin = &view().active(time_s);
  const Motion* const end = &newest() + 1;
  const bool free = std::all_of(begin, end, [](const Motion& m) { return m.route == nullptr; });
  if (!std::isfinite(max_mps) || !free || is_clearly_within(base, time_s, max_mps)) return;
  // look_until() checks one interval in kParts parts. The shown curve is a single cubic in each interval.
  constexpr int kParts = 4;
  double from_s = time_s;
  const auto look_until = [&](double until_s) {
    if (!(until_s > from_s)) return true;
    const double part_s = (until_s - from_s) / kParts;
    for (int i = 0; i < kParts; ++i) {
      const double s = from_s + i * part_s;
      // The last part ends just before `until_s`, because another motion may begin at `until_s`.
      const double last_s = i + 1 < kParts ? s + part_s : std::nextafter(until_s, from_s);
      const glm::dvec3 v0{view().blended(s).velocity};
      const glm::dvec3 v{view().blended(0.5 * (s + last_s)).velocity};
      const glm::dvec3 v1{view().blended(last_s).velocity};
      const auto share = first_faster(v0, 2.0 * v - 0.5 * (v0 + v1), v1, max_mps);
      if (!share) continue;
      // The chase begins exactly where the body becomes too fast. Small errors in the times of updates, as in
      // a server that reconstructs what a client showed, then change the chase only a little.
      const double start_s = s + *share * (last_s - s);
      const State start = view().blended(start_s);
      blends_.chase = {.start_s = start_s,
                       .position = start.position,
                       .velocity = no_faster(glm::dvec3{start.velocity}, max_mps),
                       .teleports = view().active(start_s).teleports,
                       .frame = frame(start_s)};
      return false;
    }
    from_s = until_s;
    return true;
  };
  const Blend& blend = blends_.free;
  const double blended_s = blend.over(time_s) ? time_s : blend.start_s() + blend.duration_s();
  for (const Motion* motion = begin; path_ == MotionPath::interpolate && motion != end; ++motion) {
    if (blended_s > from_s && blended_s < motion->time_s && !look_until(blended_s)) return;
    if (!look_until(motion->time_s)) return;
    const bool curves = motion + 1 != end && (motion + 1)->time_s > time_s;
    const double start_s = curves ? curve_starts(*motion, view().end_of(*motion)).position_s : time_s;
    if (blended_s > from_s && blended_s < start_s && !look_until(blended_s)) return;
    if (!look_until(start_s)) return;
  }
  (void)look_until(blended_s);
}

}  // namespace reckoner
