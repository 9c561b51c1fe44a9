// SPDX-License-Identifier: MIT
#include "reckoning/src/blend/correction.hpp"
#include "reckoning/src/blend/interpolate.hpp"
#include "reckoning/src/motion/rotation.hpp"
#include "reckoning/src/motion/wall_contact.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/remote_entity.hpp>

namespace reckoner {
namespace {

// For kGentleS after a change of frame, corrections are larger: the errors of the entity and the errors of
// its frame add up, and the entity's motion in this frame is new. Such corrections are blended gently.
constexpr double kGentleS = 0.7;

// Limits a velocity to `max_mps`. This is necessary because a pose in the middle of a jump has the speed of
// the jump.
glm::dvec3 no_faster(const glm::dvec3& velocity, double max_mps) {
  const double speed = glm::length(velocity);
  return speed > max_mps ? velocity * (max_mps / speed) : velocity;
}

// True if nobody sees the difference: an entity that rests needs no catch-up.
bool is_close(const State& a, const State& b) {
  constexpr double kM = 1e-3, kMps = 1e-2, kRad = 1e-3;
  return glm::distance(a.position, b.position) < kM && glm::distance(a.velocity, b.velocity) < kMps &&
         angle_between(a.orientation, b.orientation) < kRad &&
         glm::distance(a.angular_velocity, b.angular_velocity) < kMps;
}

double speed_of(const State& state) {
  return glm::length(glm::dvec3{state.velocity});
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
                           const BlendPolicy& policy, const Motion* bridge)
    : history_(known), path_(path), policy_(policy), blends_(blends) {
  if (bridge != nullptr) bridge_ = *bridge;
}

bool RemoteEntity::receive(const Motion& motion, double shown_time_s, BlendTime blend, double valid_until_s,
                           const std::optional<State>& shown_in_frame) {
  const bool valid =
      is_time(motion.time_s) && is_time(shown_time_s) && is_valid(blend) && !std::isnan(valid_until_s);
  if (!valid || !history_.is_new_motion(motion.time_s)) return false;

  drop_ended_catch_up(shown_time_s);
  const State base_before = view().unblended(shown_time_s);
  const std::optional<BeforeAlong> along_before = before_change_along(shown_time_s);
  const Route* const route_before = view().active(shown_time_s).route;
  const Before before = before_change(base_before, shown_time_s);
  const std::uint8_t teleports_before = view().active(shown_time_s).teleports;
  const FrameId frame_before = frame(shown_time_s);
  const bool chasing = is_chasing(shown_time_s);
  if (blend.hurries || is_far_ahead(motion, shown_time_s, path_)) hurry(shown_time_s);
  if (has_faded(motion, shown_time_s)) end_faded(motion, base_before, shown_time_s);
  history_.add(motion);
  note_new_frame(motion, shown_time_s);
  blends_.valid_until_s = valid_until_s;

  if (view().active(shown_time_s).teleports != teleports_before) {
    end_blend(shown_time_s);
    return true;
  }
  if (frame(shown_time_s) != frame_before) {
    change_frame(shown_in_frame, shown_time_s, blend);
    return true;
  }
  if (along_before && view().stays_on(route_before, shown_time_s)) {
    blend_along(*along_before, shown_time_s, blend);
    return true;
  }
  leave_route(shown_time_s, blend);
  const State base_after = view().unblended(shown_time_s);
  // If the motion is ahead of the shown time, or arrived too late to matter, it does not change the pose at
  // this instant. Then a blend in progress continues.
  continue_from(before, base_after, chasing || !same_rates(base_before, base_after), shown_time_s, blend);
  return true;
}

// True if the entity fades at `time_s`, and `motion` is ahead.
bool RemoteEntity::has_faded(const Motion& motion, double time_s) const {
  const Motion& last = newest();
  return path_ == MotionPath::interpolate && !anticipation_ && last.route == nullptr &&
         motion.route == nullptr && time_s > blends_.valid_until_s && time_s > last.time_s &&
         motion.time_s > time_s;
}

// The motion before a silence is no longer valid, so nothing is interpolated from it: it would be
// extrapolated for the whole silence. Until the time stamp of `motion`, the entity moves as `motion` says,
// extrapolated back; before a teleport or in another frame, it goes on from `base`, its faded state.
void RemoteEntity::end_faded(const Motion& motion, const State& base, double time_s) {
  const Motion& last = newest();
  const bool leads = motion.teleports == last.teleports && motion.frame == last.frame;
  Motion between = leads ? motion : last;
  between.state = leads ? faded_state(motion, kAlwaysValid, time_s) : base;
  between.time_s = time_s;
  history_.add(between);
}

std::optional<RemoteEntity::BeforeAlong> RemoteEntity::before_change_along(double time_s) const {
  const std::optional<RouteState> shown = view().shown_along(time_s);
  if (!shown) return std::nullopt;
  return BeforeAlong{*shown, *view().caught_up_along(time_s)};
}

// The rest of a catch-up in progress, s.
double RemoteEntity::catch_up_left_s(double time_s) const {
  const Blend& free = blends_.catch_up;
  const RouteBlend& along = blends_.catch_up_along;
  double left_s = 0.0;
  if (!free.over(time_s)) left_s = free.start_s() + free.duration_s() - std::max(time_s, free.start_s());
  if (!along.over(time_s)) left_s = std::max(left_s, std::min(along.end_s() - time_s, along.duration_s()));
  return left_s;
}

// Corrections that begin within the next moments may be faster than the top speed, so that they end soon.
void RemoteEntity::hurry(double time_s) {
  blends_.hurries_until_s = time_s + kLongestCatchUpS;
}

// An entity that has caught up can be sampled in a batch again.
void RemoteEntity::drop_ended_catch_up(double time_s) {
  if (blends_.catch_up.over(time_s)) blends_.catch_up = {};
  if (blends_.catch_up_along.over(time_s)) blends_.catch_up_along = {};
}

void RemoteEntity::drop_catch_up() {
  blends_.catch_up = {};
  blends_.catch_up_along = {};
}

// The blends along the route end. What is left of a catch-up along the route continues in space.
void RemoteEntity::leave_route(double time_s, BlendTime& blend) {
  if (!blends_.catch_up_along.over(time_s))
    blend.behind_s = std::max(blend.behind_s, catch_up_left_s(time_s));
  blends_.along = {};
  blends_.catch_up_along = {};
}

// Call this after the known motions have changed. The shown pose continues from `before`, and a chase is
// computed again. `moved`: the change moved the pose at `time_s`.
void RemoteEntity::continue_from(const Before& before, const State& base, bool moved, double time_s,
                                 BlendTime blend) {
  if (moved || is_chasing(time_s)) {
    blend_from(before, base, time_s, blend);
  } else {
    start_chase_if_too_fast(base, time_s);
  }
}

void RemoteEntity::set_valid_until(double valid_until_s, double time_s, BlendTime blend) {
  if (std::isnan(valid_until_s) || !is_time(time_s) || !is_valid(blend)) return;
  double& known_s = blends_.valid_until_s;
  drop_ended_catch_up(time_s);
  const bool changes = time_s > std::min(valid_until_s, known_s) && valid_until_s != known_s;
  const Route* const on = changes ? route(time_s) : nullptr;
  if (on != nullptr && view().stays_on(on, time_s)) {
    const BeforeAlong before = *before_change_along(time_s);
    known_s = valid_until_s;
    start_blend(Blend{}, view().unblended(time_s), time_s);
    blend_along(before, time_s, blend);
    return;
  }
  const Before before = before_change(view().unblended(time_s), time_s);
  known_s = valid_until_s;
  continue_from(before, view().unblended(time_s), changes, time_s, blend);
}

void RemoteEntity::correct(const State& shown, double time_s, BlendTime blend) {
  if (!is_time(time_s) || !is_valid(blend)) return;
  const double left_s = catch_up_left_s(time_s);
  drop_catch_up();
  blend_or_catch_up(shown, time_s, left_s, blend);
}

void RemoteEntity::anticipate(const State& shown, double time_s, double sure_s, double until_s) {
  const Motion& from = view().active(time_s);
  const Motion anticipated{.state = shown,
                           .time_s = time_s,
                           .teleports = from.teleports,
                           .never_reverses = from.never_reverses,
                           .max_speed_mps = from.max_speed_mps,
                           .world_size_m = from.world_size_m,
                           .transition = {.quiet = from.transition.quiet},
                           .floor = from.floor,
                           .walls = from.walls,
                           .frame = from.frame};
  anticipation_ = Anticipation{anticipated, newest().time_s, sure_s, until_s};
  blends_.along = {};
  drop_catch_up();
  end_blend(time_s);
}

bool RemoteEntity::is_anticipation_over(double time_s) const {
  if (!anticipation_) return false;
  if (time_s >= anticipation_->until_s) return true;
  return std::ranges::any_of(history_.motions(), [&](const Motion& motion) {
    const bool is_reached = path_ == MotionPath::predict || motion.time_s <= time_s;
    return is_reached && motion.time_s > anticipation_->known_s && contains_hit(motion);
  });
}

// Updates that were sent before the hit continue the motion before it. Without the hit, the server might send
// no other motion for long, so their time stamps alone do not tell.
bool RemoteEntity::contains_hit(const Motion& motion) const {
  const Motion& anticipated = anticipation_->motion;
  if (motion.time_s > anticipation_->sure_s || motion.route != nullptr ||
      motion.teleports != anticipated.teleports || motion.frame != anticipated.frame)
    return true;
  const Motion* before = nullptr;
  for (const Motion& known : history_.motions())
    if (known.time_s <= anticipation_->known_s) before = &known;
  if (before == nullptr || before->frame != anticipated.frame) return true;
  const auto off = [&](const Motion& expected) {
    return glm::distance(motion.state.velocity, state_at(expected, motion.time_s).velocity);
  };
  const float from_old = off(*before);
  const float from_anticipated = off(anticipated);
  return motion.time_s > anticipated.time_s ? from_old >= from_anticipated : from_old > from_anticipated;
}

void RemoteEntity::release(double time_s) {
  anticipation_.reset();
  blends_.along = {};
  drop_catch_up();
  end_blend(time_s);
}

void RemoteEntity::correct_slowly(const State& shown, double time_s, double duration_s) {
  if (!is_time(time_s) || !is_time(duration_s)) return;
  const State base = view().unblended(time_s);
  const Blend slow{shown, base, time_s, duration_s, turn_share(time_s)};
  const bool too_fast = speed_of(base) + slow.top_speed_mps() > view().active(time_s).max_speed_mps;
  if (too_fast || !are_motions_slow(base, time_s)) return correct(shown, time_s, duration_s);
  blends_.along = {};
  drop_catch_up();
  begin_catch_up(slow, time_s);
  note_wall(shown, base, time_s);
}

// Blends from `shown`. If a catch-up was in progress for another `left_s`, it continues from there.
void RemoteEntity::blend_or_catch_up(const State& shown, double time_s, double left_s, BlendTime blend) {
  const State base = view().unblended(time_s);
  if (left_s > 0.0)
    return start_catch_up({shown, shown, 0.0}, base, time_s,
                          std::max({left_s, blend.blend_s, blend.behind_s}));
  blend_from({shown, shown, speed_of(base)}, base, time_s, blend);
}

// Decides how the pose gets from `before` onto the motion (correction.hpp). The ordinary blend begins without
// the catch-up in progress, which continues.
void RemoteEntity::blend_from(const Before& before, const State& base, double time_s, BlendTime blend) {
  const bool gently = blend.blend_s > 0.0 && time_s < blends_.gentle_until_s;
  const double gentle = gently ? gentle_s(before.shown, base, blends_.lever_m) : 0.0;
  if (blend.behind_s > blend.blend_s && !is_close(before.shown, base))
    return start_catch_up(before, base, time_s, std::max(blend.behind_s, gentle));
  // gentle_s() is the duration of a cubic.
  const bool is_gentle = gentle > blend.blend_s;
  const Blend ordinary{before.caught_up,
                       base,
                       time_s,
                       is_gentle ? gentle : blend.blend_s,
                       turn_share(time_s),
                       is_gentle ? nullptr : policy_.shape};
  // During a catch-up, no chase limits the speed. A large correction becomes a part of the catch-up.
  constexpr double kLargeShare = 1.0 / 6.0;
  const double moves_mps = std::max(before.moves_mps, speed_of(base));
  const double jump_mps = jump_speed_mps(view().active(time_s), moves_mps);
  const bool catching_up = !blends_.catch_up.over(time_s);
  const bool too_fast = time_s <= blends_.hurries_until_s &&
                        moves_mps + ordinary.top_speed_mps() > jump_mps && are_motions_slow(base, time_s);
  if (too_fast ||
      (catching_up && ordinary.top_speed_mps() > kLargeShare * jump_mps && are_motions_slow(base, time_s))) {
    const double wanted_s = std::max(catch_up_left_s(time_s), blend.blend_s);
    if (wanted_s > 0.0) return start_catch_up(before, base, time_s, wanted_s);
  }
  start_blend(ordinary, base, time_s);
  note_wall(before.shown, base, time_s);
}

// A blend that begins behind a wall passes through it.
void RemoteEntity::note_wall(const State& shown, const State& base, double time_s) {
  const Walls* const walls = walls_of(view().active(time_s));
  blends_.crosses_wall = walls != nullptr && is_behind_wall(shown, *walls, base.position);
}

void RemoteEntity::start_catch_up(const Before& before, const State& base, double time_s, double wanted_s) {
  const auto catch_up = catch_up_blend({.shown = before.shown,
                                        .base = base,
                                        .start_s = time_s,
                                        .wanted_s = wanted_s,
                                        .moves_mps = std::max(before.moves_mps, speed_of(base)),
                                        .turn_share = turn_share(time_s)},
                                       view().active(time_s));
  if (!catch_up) return jump_to_motion(time_s);
  begin_catch_up(*catch_up, time_s);
  note_wall(before.shown, base, time_s);
}

void RemoteEntity::begin_catch_up(const Blend& catch_up, double time_s) {
  apply_to_motion_at(time_s);
  blends_.free = {};
  blends_.catch_up = catch_up;
  blends_.chase = {};
}

// A gentle blend takes the same time for position and orientation. If other entities use this entity as their
// frame, rotations move them most.
double RemoteEntity::turn_share(double time_s) const {
  return time_s < blends_.gentle_until_s ? 1.0 : policy_.turn_share;
}

// The pose jumps without a teleport.
void RemoteEntity::jump_to_motion(double time_s) {
  blends_.along = {};
  drop_catch_up();
  ++blends_.jumps;
  blends_.jumped_s = time_s;
  start_blend(Blend{}, view().unblended(time_s), time_s);
}

// The frame changed at `time_s`, which is shown now or was passed a moment ago. Blends from `shown`, which is
// the state that was shown at `time_s`, converted to the new frame. If `shown` is empty, the pose jumps.
void RemoteEntity::change_frame(const std::optional<State>& shown, double time_s, BlendTime blend) {
  const double left_s = catch_up_left_s(time_s);
  correct_gently_from(time_s);
  end_blend(time_s);
  if (shown) blend_or_catch_up(*shown, time_s, left_s, blend);
}

std::optional<RemoteEntity::FrameChange> RemoteEntity::next_frame(double time_s) const {
  if (anticipation_) return std::nullopt;
  const Motion& from = view().active(time_s);
  if (&from == &newest()) return std::nullopt;
  const Motion& to = view().end_of(from);
  const bool changes = to.frame != from.frame && to.teleports == from.teleports;
  if (!changes || to.time_s - from.time_s < ShownMotions::kShortestBridgeS) return std::nullopt;
  return FrameChange{from.frame, from.time_s, to};
}

void RemoteEntity::bridge(const FrameChange& change, const State& end, double time_s, BlendTime blend) {
  if (!is_time(time_s) || !is_valid(blend)) return;
  const State base_before = unblended(time_s);
  const Before before = before_change(base_before, time_s);
  bridge_ = Motion{
      .state = end, .time_s = change.to.time_s, .teleports = change.to.teleports, .frame = change.from};
  const State base = unblended(time_s);
  const bool moved = time_s > change.from_s && !same_rates(base_before, base);
  continue_from(before, base, moved, time_s, blend);
}

std::optional<RemoteEntity::FrameCrossing> RemoteEntity::crossing(FrameId before, double time_s) const {
  if (anticipation_) return std::nullopt;
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

// Everything counts from `crossed_s`, although the caller notices the change a moment later. So the result
// does not depend on when a client draws its frames.
void RemoteEntity::continue_in_new_frame(const std::optional<State>& shown, double crossed_s,
                                         BlendTime blend) {
  if (!is_time(crossed_s) || !is_valid(blend)) return;
  change_frame(shown, crossed_s, blend);
}

void RemoteEntity::leave_frame(FrameId gone, const Motion& instead) {
  const bool is_in_it = frame(instead.time_s) == gone;
  if (anticipation_ && anticipation_->motion.frame == gone) anticipation_.reset();
  history_.remove_motions_in(gone, is_in_it ? &instead : nullptr);
  if (!is_in_it) return;
  bridge_.reset();
  blends_.along = {};
  left_frame_ = gone;
  correct_gently_from(instead.time_s);
  const auto later =
      std::ranges::find_if(known(), [&](const Motion& m) { return m.time_s > instead.time_s; });
  if (later != known().end()) note_new_frame(*later, later->time_s);
}

void RemoteEntity::correct_gently_from(double time_s) {
  blends_.gentle_until_s = std::max(blends_.gentle_until_s, time_s + kGentleS);
}

// The first motion after leave_frame() counts as a change of frame, as it would if it had arrived before
// leave_frame(). A server that reconstructs what a client showed does not know which of the two came first.
void RemoteEntity::note_new_frame(const Motion& motion, double time_s) {
  if (!left_frame_) return;
  if (motion.frame != *left_frame_) correct_gently_from(std::max(motion.time_s, time_s));
  left_frame_.reset();
}

State RemoteEntity::motion_at(double time_s) const {
  const ShownBlends none{.valid_until_s = blends_.valid_until_s};
  return ShownMotions{history_.motions(), MotionPath::interpolate, none, bridge_ ? &*bridge_ : nullptr}.shown(
      time_s);
}

FrameId RemoteEntity::motion_frame(double time_s) const {
  return ShownMotions{history_.motions(), MotionPath::interpolate, blends_}.active(time_s).frame;
}

bool RemoteEntity::has_motion_in(FrameId frame) const {
  if (anticipation_ && anticipation_->motion.frame == frame) return true;
  return std::ranges::any_of(history_.motions(), [&](const Motion& m) { return m.frame == frame; });
}

void RemoteEntity::jump(double before_s, double now_s, double rate, BlendTime blend) {
  if (!is_time(before_s) || !is_time(now_s) || !std::isfinite(rate) || !is_valid(blend)) return;
  blend.behind_s = std::max(blend.behind_s, catch_up_left_s(before_s));
  const Route* const on = view().route(before_s);
  if (on != nullptr && view().stays_on(on, now_s)) {
    RouteState before = *view().shown_along(before_s);
    before.speed *= rate;
    end_blend(now_s);
    blend_along({before, before}, now_s, blend);
    return;
  }
  State before = view().shown(before_s);
  before.velocity *= static_cast<float>(rate);
  before.angular_velocity *= static_cast<float>(rate);
  correct(before, now_s, blend);
}

void RemoteEntity::set_path(MotionPath path, double time_s, BlendTime blend) {
  if (path == path_ || !is_time(time_s) || !is_valid(blend)) return;
  drop_ended_catch_up(time_s);
  const State base_before = view().unblended(time_s);
  const std::optional<BeforeAlong> along_before = before_change_along(time_s);
  const Route* const route_before = view().active(time_s).route;
  const Before before = before_change(base_before, time_s);
  const std::uint8_t teleports_before = view().active(time_s).teleports;
  const FrameId frame_before = frame(time_s);
  const bool chasing = is_chasing(time_s);
  path_ = path;
  if (view().active(time_s).teleports != teleports_before || frame(time_s) != frame_before) {
    end_blend(time_s);
    return;
  }
  if (along_before && view().stays_on(route_before, time_s)) {
    blend_along(*along_before, time_s, blend);
    return;
  }
  leave_route(time_s, blend);
  hurry(time_s);
  const State base = view().unblended(time_s);
  continue_from(before, base, chasing || !same_rates(base_before, base), time_s, blend);
}

// Blends along the route from `before`. A blend in space that is in progress continues; it is added to the
// blend along the route.
void RemoteEntity::blend_along(const BeforeAlong& before, double time_s, BlendTime blend) {
  const std::optional<RouteState> now = view().shown_along(time_s);
  if (now->distance == before.shown.distance && now->speed == before.shown.speed) return;
  if (!blends_.are_valid_for(view().active(time_s))) end_blend(time_s);
  const Motion& motion = view().active(time_s);
  const RouteState base = *view().along(time_s);
  if (blend.behind_s <= blend.blend_s) {
    const RouteState& from = blends_.catch_up_along.over(time_s) ? before.shown : before.caught_up;
    blends_.along = RouteBlend{*motion.route, from, base, time_s, blend.blend_s, policy_.shape};
    return;
  }
  const auto catch_up = catch_up_along(before.shown, base, time_s, blend.behind_s, motion);
  if (!catch_up) return jump_to_motion(time_s);
  blends_.along = {};
  blends_.catch_up_along = *catch_up;
}

// The blends apply to the motion that is shown at `time_s`. A catch-up onto other motions ends.
void RemoteEntity::apply_to_motion_at(double time_s) {
  const Motion& motion = view().active(time_s);
  if (!blends_.are_valid_for(motion)) drop_catch_up();
  blends_.teleports = motion.teleports;
  blends_.frame = motion.frame;
}

void RemoteEntity::start_blend(const Blend& blend, const State& base, double time_s) {
  apply_to_motion_at(time_s);
  blends_.free = blend;
  blends_.crosses_wall = false;
  start_chase_if_too_fast(base, time_s);
}

// Ends all blends and catch-ups.
void RemoteEntity::end_blend(double time_s) {
  blends_.along = {};
  drop_catch_up();
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

// Distance of the chase from the motion when it must have reached it, m.
double RemoteEntity::distance_at_end_m(const Chase& chase) {
  blends_.chase = chase;
  const glm::dvec3 reached = view().shown(chase.by_s).position;
  blends_.chase = {};
  return glm::distance(reached, view().shown(chase.by_s).position);
}

// True if the motions that are known from `time_s` on are slow enough for a catch-up, which adds to their
// speed.
bool RemoteEntity::are_motions_slow(const State& base, double time_s) {
  const Motion& motion = view().active(time_s);
  const double most_mps = std::max<double>(motion.max_speed_mps, 0.5 * jump_speed_mps(motion, 0.0));
  const Blend blend = std::exchange(blends_.free, Blend{});
  const bool slow = !too_fast_from_s(base, time_s, most_mps);
  blends_.free = blend;
  return slow;
}

// `chase` would not arrive in time. If only a blend is too fast, the entity catches up instead. Otherwise it
// chases the motions with the speed that a catch-up may have. If that is far from enough, the pose jumps: a
// blend ends, and motions are shown as they are.
void RemoteEntity::give_up_chase(Chase chase, const State& base, double time_s) {
  constexpr double kLongestChaseS = 1.5;
  const bool blends = !blends_.free.over(time_s);
  if (blends && are_motions_slow(base, time_s)) {
    const State shown = view().shown(time_s);
    return start_catch_up({shown, shown, 0.0}, base, time_s, kLongestCatchUpS);
  }
  chase.limit_mps = jump_speed_mps(view().active(chase.start_s), 0.0);
  chase.velocity = no_faster(glm::dvec3{view().blended(chase.start_s).velocity}, 1.5 * chase.limit_mps);
  chase.by_s = chase.start_s + kLongestChaseS;
  if (distance_at_end_m(chase) < chase.limit_mps * kLongestCatchUpS) {
    blends_.chase = chase;
  } else if (blends) {
    jump_to_motion(time_s);
  } else if (chase.start_s > blends_.jumped_s + kLongestCatchUpS) {
    ++blends_.jumps;
    blends_.jumped_s = chase.start_s;
  }
}

// Checks the shown pose from `time_s` on, as far as motions are known. If the shown pose becomes faster than
// the body's top speed, a chase replaces it from that time on, or a catch-up if the entity hurries and a
// chase takes too long.
void RemoteEntity::start_chase_if_too_fast(const State& base, double time_s) {
  const Chase former = std::exchange(blends_.chase, Chase{});
  if (anticipation_) return;  // the caller decides how fast the entity is
  const Motion& motion = view().active(time_s);
  if (!blends_.catch_up.over(time_s)) {
    if (!are_motions_slow(base, time_s)) chase_instead_of_catch_up(time_s);
    return;
  }
  const double max_mps = motion.max_speed_mps;
  const auto start_s = too_fast_from_s(base, time_s, max_mps);
  if (!start_s) return;
  // The chase begins exactly where the body becomes too fast. Small errors in the times of updates, as in a
  // server that reconstructs what a client showed, then change the chase only a little.
  const State start = view().blended(*start_s);
  const bool hurries = time_s <= blends_.hurries_until_s;
  const double first_mps = std::max(max_mps, 1.5 * jump_speed_mps(motion, 0.0));
  Chase chase{.start_s = *start_s,
              .position = start.position,
              .velocity = no_faster(glm::dvec3{start.velocity}, first_mps),
              .teleports = view().active(*start_s).teleports,
              .frame = frame(*start_s)};
  if (hurries) {
    constexpr double kArrivedM = 0.04;
    chase.by_s = *start_s + kLongestCatchUpS;
    if (former.start_s <= time_s && time_s < former.by_s) chase.by_s = std::min(chase.by_s, former.by_s);
    if (!(chase.by_s > *start_s) || distance_at_end_m(chase) > kArrivedM)
      return give_up_chase(chase, base, time_s);
  }
  blends_.chase = chase;
}

// The motions that arrived during a catch-up are too fast.
void RemoteEntity::chase_instead_of_catch_up(double time_s) {
  const State shown = view().shown(time_s);
  const double most_mps = jump_speed_mps(view().active(time_s), 0.0);
  drop_catch_up();
  blends_.free = {};
  blends_.chase = {.start_s = time_s,
                   .position = shown.position,
                   .velocity = no_faster(glm::dvec3{shown.velocity}, 1.5 * most_mps),
                   .teleports = view().active(time_s).teleports,
                   .frame = frame(time_s),
                   .limit_mps = most_mps};
}

// The first time from `time_s` on, as far as motions are known, at which the blended pose is faster than
// `max_mps`.
std::optional<double> RemoteEntity::too_fast_from_s(const State& base, double time_s, double max_mps) const {
  const Motion* const begin = &view().active(time_s);
  const Motion* const end = &newest() + 1;
  const bool free = std::all_of(begin, end, [](const Motion& m) { return m.route == nullptr; });
  if (!std::isfinite(max_mps) || !free || is_clearly_within(base, time_s, max_mps)) return std::nullopt;
  // look_until() checks one interval in parts. The shown curve is a single polynomial in each interval. The
  // search takes its velocity for a quadratic, which is exact for the cubic blend, and close enough in short
  // parts for the others.
  const bool is_cubic = policy_.shape == nullptr || policy_.shape == &cubic_blend();
  const int parts = is_cubic ? 4 : 16;
  double from_s = time_s;
  std::optional<double> found_s;
  const auto look_until = [&](double until_s) {
    if (!(until_s > from_s)) return true;
    const double part_s = (until_s - from_s) / parts;
    for (int i = 0; i < parts; ++i) {
      const double s = from_s + i * part_s;
      // The last part ends just before `until_s`, because another motion may begin at `until_s`.
      const double last_s = i + 1 < parts ? s + part_s : std::nextafter(until_s, from_s);
      const glm::dvec3 v0{view().blended(s).velocity};
      const glm::dvec3 v{view().blended(0.5 * (s + last_s)).velocity};
      const glm::dvec3 v1{view().blended(last_s).velocity};
      const auto share = first_faster(v0, 2.0 * v - 0.5 * (v0 + v1), v1, max_mps);
      if (!share) continue;
      found_s = s + *share * (last_s - s);
      return false;
    }
    from_s = until_s;
    return true;
  };
  const Blend& blend = blends_.free;
  const double blended_s = blend.over(time_s) ? time_s : blend.start_s() + blend.duration_s();
  for (const Motion* motion = begin; path_ == MotionPath::interpolate && motion != end; ++motion) {
    if (blended_s > from_s && blended_s < motion->time_s && !look_until(blended_s)) return found_s;
    if (!look_until(motion->time_s)) return found_s;
    const bool curves = motion + 1 != end && (motion + 1)->time_s > time_s;
    const double start_s = curves ? curve_starts(*motion, view().end_of(*motion)).position_s : time_s;
    if (blended_s > from_s && blended_s < start_s && !look_until(blended_s)) return found_s;
    if (!look_until(start_s)) return found_s;
  }
  (void)look_until(blended_s);
  return found_s;
}

}  // namespace reckoner
