// SPDX-License-Identifier: MIT
#include "server/src/rewind/shown_history.hpp"

#include "reckoning/src/blend/correction.hpp"
#include "reckoning/src/blend/interpolate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/remote_entity.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {
namespace {

// A client blends over a jump in time for at most this long (kLongestCatchUpS), and then for the usual time
// if an update arrives meanwhile. How it blends is unknown here.
constexpr double kLongestJumpBlendS = 0.5;
// After this time, the blends that followed have removed the rest of an unknown error. Gentle ones take
// longer.
constexpr double kJumpS = 0.8;
constexpr double kGentleJumpS = 2.0;
// A client notices a change of frame when it draws, up to this time after it. If what it learned meanwhile
// moves the frame by more than kFrameErrorM, the pose is unknown.
constexpr double kDrawnWithinS = 0.04;
constexpr double kFrameErrorM = 0.01;
constexpr double kFrameErrorMps = 0.1;
// A client draws most pictures right after it has applied what arrived. The times in its reports are rounded,
// and such a picture must not seem to be before the arrival: after a teleport, it would be at the other
// place.
constexpr double kRoundingS = 2.0 * kStampUnitS;

// When old motions are dropped, a blend that has ended this long after its start cannot be asked for any
// more.
constexpr double kShortBlendS = 0.3;

// Most chases take less than the first time, and nearly all less than the second, s.
constexpr double kUsualChaseS = 1.0;
constexpr double kLongChaseS = 2.0;

// A chase from an unknown pose. It has at most as far to go as a body needs these times for at its top speed,
// s: after a jump in time, and where it changes to a frame whose pose is unknown. Nobody waits for it longer
// than kLongestDoubtedChaseS.
constexpr double kJumpGapS = 0.3;
constexpr double kFrameGapS = 0.75;
constexpr double kLongestDoubtedJumpS = 2.0;
constexpr double kLongestDoubtedChaseS = 4.0;
// A blend from a pose that is some metres away is faster than this, so a chase replaces it only where the top
// speed is lower.
constexpr double kFastBlendMps = 60.0;

// Upper bounds of speeds are compared with this share of the top speed, because they are rounded.
constexpr double kSafety = 0.999;

// True if it makes no difference which of the states, converted between frames, the client blended from.
bool is_close(const State& a, const State& b) {
  return glm::distance(a.position, b.position) < kFrameErrorM &&
         glm::distance(a.velocity, b.velocity) < kFrameErrorMps;
}

// The corrections of an entity that has none.
ShownBlends uncorrected(const Motion& motion) {
  return {.teleports = motion.teleports, .frame = motion.frame};
}

// When the blend ends; long ago if there is none.
double end_s(const Blend& blend) {
  return blend.duration_s() > 0.0 ? blend.start_s() + blend.duration_s()
                                  : -std::numeric_limits<double>::infinity();
}

// Position and velocity of a motion that neither brakes nor has a limit, m and m/s.
struct Place {
  glm::dvec3 position;
  glm::dvec3 velocity;
};
Place place_at(const Motion& motion, double time_s) {
  const double dt_s = time_s - motion.time_s;
  const glm::dvec3 v{motion.state.velocity};
  const glm::dvec3 a{motion.state.acceleration};
  return {motion.state.position + (v + a * (0.5 * dt_s)) * dt_s, v + a * dt_s};
}

// Upper bound of the speed of a motion while a client chases it, m/s. Acceleration ends at the top speed, and
// matters little where a client interpolates to the next motion.
double chased_speed_mps(const Motion& motion, MotionPath path, double time_s) {
  const double first_mps = glm::length(glm::dvec3{motion.state.velocity});
  if (path == MotionPath::interpolate || first_mps >= motion.max_speed_mps) return first_mps;
  return std::min<double>(glm::length(place_at(motion, time_s).velocity), motion.max_speed_mps);
}

// The instant at which a step was applied. What the client got before it showed anything has none (it is
// minus infinity). RemoteEntity then gets the same instant as on the client: all motions of the entity are
// later.
double instant(double shown_s, const RemoteEntity& entity) {
  return std::isfinite(shown_s) ? shown_s : entity.oldest().time_s;
}

// A cheap sufficient test: true if place_at() is certainly right until `until_s`. Neither the top speed nor
// the edge of the world nor a floor nor a wall nor braking changes the motion.
bool is_unlimited(const Motion& motion, const Place& place, double until_s, double spare_m) {
  if (motion.never_reverses || motion.floor != nullptr || motion.walls != nullptr) return false;
  const glm::dvec3 v{motion.state.velocity};
  const glm::dvec3 a{motion.state.acceleration};
  const double span_s = until_s - motion.time_s;
  const double max_mps = motion.max_speed_mps;
  const glm::dvec3 p = glm::abs(place.position);
  return 2.0 * (glm::dot(v, v) + glm::dot(a, a) * span_s * span_s) < max_mps * max_mps &&
         std::max({p.x, p.y, p.z}) + spare_m < motion.world_size_m;
}

}  // namespace

ShownEntityHistory::ShownEntityHistory(EntityId id, const SharedMotion& first, MotionPath path)
    : id_(id), path_(path), first_s_(first->time_s), newest_s_(first->time_s) {
  shown_s_.push_back(-kNever);
  steps_.emplace_back();
  begin_with(first);
}

// Replaces the first step.
void ShownEntityHistory::begin_with(const SharedMotion& motion) {
  if (!steps_.front().calm) --wild_;
  release(steps_.front());
  steps_.front() = {.motion = motion, .blends = kNone, .lever_m = lever_m_};
  note_frame(0);
}

void ShownEntityHistory::note_frame(std::size_t step) {
  const Motion& motion = *steps_[step].motion;
  if (motion.route != nullptr || motion.frame) compute_always(step);
  is_framed_ = is_framed_ || motion.frame;
}

void ShownEntityHistory::appear(double shown_s) {
  appear_s_ = path_ == MotionPath::interpolate ? std::max(shown_s, first_s_) : shown_s;
}

std::size_t ShownEntityHistory::step_at(double shown_s) const {
  // Callers mostly ask for a recent instant, so search from the end.
  std::size_t i = shown_s_.size() - 1;
  while (i > 0 && shown_s_[i] > shown_s)
    --i;
  return i;
}

void ShownEntityHistory::add(double shown_s, const SharedMotion& motion, const BlendSettings& blend,
                             double keep_s, const FrameConverter& converted) {
  // Most motions are newer than all others. The search would read the whole history, which is rarely in a
  // cache.
  auto known = steps_.end();
  if (motion->time_s <= newest_s_) {
    known = std::find_if(steps_.begin(), steps_.end(),
                         [&](const Step& s) { return s.motion->time_s == motion->time_s; });
  }
  newest_s_ = std::max(newest_s_, motion->time_s);
  blend_ = blend;
  if (motion->time_s >= lost_s_ && lost_s_ > -kNever) {
    lost_s_ = -kNever;
    doubt(-kNever, shown_s, blend.duration_s);
  }
  if (known != steps_.end()) {
    // Several datagrams may contain the same motion, and the client applied the first that arrived.
    const auto at = known - steps_.begin();
    if (at == 0 || shown_s >= shown_s_[static_cast<std::size_t>(at)]) return;
    if (!known->calm) --wild_;
    release(*known);
    steps_.erase(known);
    shown_s_.erase(shown_s_.begin() + at);
  }
  const std::size_t earliest = shown_s_.size() - std::min(shown_s_.size(), kMaxReplayed);
  const std::size_t place = std::max(step_at(shown_s), earliest) + 1;
  shown_s = std::max(shown_s, shown_s_[place - 1]);
  const auto offset = static_cast<std::ptrdiff_t>(place);
  // An entity that was not shown yet has no pose from which a blend could start.
  const bool blends = appeared() && shown_s > appear_s_;
  // Few, large steps of growth: after a while, no history grows any more.
  if (steps_.size() == steps_.capacity()) {
    steps_.reserve(std::max(kFirstGrowth, 4 * steps_.size()));
    shown_s_.reserve(steps_.capacity());
  }
  shown_s_.insert(shown_s_.begin() + offset, shown_s);
  const double lever_m = place == steps_.size() ? lever_m_ : steps_[place - 1].lever_m;
  steps_.insert(steps_.begin() + offset, {.motion = motion,
                                          .blend_s = blends ? blend.duration_s : 0.0,
                                          .curve = blend.curve,
                                          .lever_m = lever_m});
  changed_from(place, converted);
  if (shown_s <= hurry_suspected_until_s_ && is_large(place)) {
    hurry_suspected_until_s_ = std::max(hurry_suspected_until_s_, shown_s + kLongestCatchUpS);
    doubt_jump(shown_s, shown_s);
  }
  prolong_doubts();
  // An entity that left this frame may still chase its motion, from the pose in which it left.
  forget_before(shown_s_.back() - keep_s - (lever_m_ >= 0.0 ? kLongChaseS : 0.0));
  if (steps_.size() > kMaxSteps) forget_oldest(kForgottenAtOnce);
}

void ShownEntityHistory::announce(double shown_s, const SharedMotion& motion, const BlendSettings& blend,
                                  double keep_s, const FrameConverter& converted) {
  if (!appeared()) {
    announced_s_ = shown_s;
    return appear(shown_s);
  }
  if (!announced_s_ || shown_s >= *announced_s_) return add(shown_s, motion, blend, keep_s, converted);
  const Step former = steps_.front();
  const double former_s = *std::exchange(announced_s_, shown_s);
  first_s_ = motion->time_s;
  newest_s_ = std::max(newest_s_, motion->time_s);
  appear(shown_s);
  if (former.motion->time_s == motion->time_s) return;
  begin_with(motion);
  shown_s_.insert(shown_s_.begin() + 1, former_s);
  steps_.insert(steps_.begin() + 1, {.motion = former.motion,
                                     .blend_s = blend.duration_s,
                                     .curve = blend.curve,
                                     .lever_m = former.lever_m});
  changed_from(1, converted);
  prolong_doubts();
}

// Returns the motions that a client that interpolates kept before a step.
MotionHistory ShownEntityHistory::known_before(std::size_t step) const {
  const std::span<const Step> before = std::span(steps_).first(step);
  MotionHistory known{*before.front().motion};
  for (const Step& one : before.subspan(1)) {
    if (known.is_new_motion(one.motion->time_s)) known.add(*one.motion);
  }
  return known;
}

// Returns ShownBlends::hurries_until_s after a step, as far as it is not over.
double ShownEntityHistory::hurries_until_s(std::size_t step) const {
  for (std::size_t i = step; i > 0 && shown_s_[step] <= shown_s_[i] + kLongestCatchUpS; --i) {
    if (is_far_ahead(*steps_[i].motion, shown_s_[i], path_)) return shown_s_[i] + kLongestCatchUpS;
  }
  return -kNever;
}

// Returns the entity as the client had it before a step. A client that predicts uses only its newest motion.
RemoteEntity ShownEntityHistory::entity_before(std::size_t step) const {
  ShownBlends blends = known_blends(step - 1);
  blends.hurries_until_s = hurries_until_s(step - 1);
  if (path_ == MotionPath::interpolate) {
    const auto made_later = std::ranges::find_if(
        bridges_, [made_s = shown_s_[step - 1]](const Bridge& bridge) { return bridge.made_s > made_s; });
    const Motion* const bridge = made_later != bridges_.begin() ? &(made_later - 1)->end : nullptr;
    return {known_before(step).motions(), path_, blends, {}, bridge};
  }
  const Motion* newest = steps_[step - 1].motion.get();
  for (std::size_t i = 0; i + 1 < step && newest->time_s < newest_s_; ++i) {
    if (steps_[i].motion->time_s > newest->time_s) newest = steps_[i].motion.get();
  }
  return {std::span(newest, 1), path_, blends};
}

// Call this after a step was inserted. It and all later steps must be computed again.
void ShownEntityHistory::changed_from(std::size_t step, const FrameConverter& converted) {
  longest_blend_s_ = std::max(longest_blend_s_, steps_[step].blend_s);
  for (std::size_t i = step; i < steps_.size(); ++i)
    release(steps_[i]);
  note_frame(step);
  if (always_computes_) return replay(step, steps_.size() - 1, converted);
  for (std::size_t i = step; i < steps_.size(); ++i)
    assess(i);
}

// Computes the corrections of all steps before `end` now, and later those of each new step at once.
void ShownEntityHistory::compute_always(std::size_t end) {
  if (always_computes_) return;
  for (std::size_t i = 1; i < end; ++i)
    (void)blends_after(i);
  always_computes_ = true;
}

// Finds out whether the step is calm.
void ShownEntityHistory::assess(std::size_t i) {
  Step& step = steps_[i];
  if (!step.calm) --wild_;
  step.calm = false;
  step.offset_m = step.offset_mps = kNever;
  // Otherwise it overtook the step before it. As long as all steps are calm, each has the newest motion.
  step.corrected_until_s = steps_[i - 1].corrected_until_s;
  if (step.motion->time_s > steps_[i - 1].motion->time_s)
    path_ == MotionPath::predict ? assess_prediction(i) : assess_interpolation(i);
  if (step.calm || wild_++ > 0 || path_ == MotionPath::predict) return;
  // While all steps were calm, each step that could have started a correction was computed at once.
  for (std::size_t before = 1; before < i; ++before) {
    if (steps_[before].blends == kUnknown) steps_[before].blends = kNone;
  }
}

// A predicting client was faster than the top speed only if the correction was large.
void ShownEntityHistory::assess_prediction(std::size_t i) {
  Step& step = steps_[i];
  const Step& before = steps_[i - 1];
  if (step.motion->teleports != before.motion->teleports || step.blend_s <= 0.0) {
    step.calm = true;  // it is shown without a correction
    step.offset_m = step.offset_mps = 0.0;
    return;
  }
  const double shown_s = shown_s_[i];
  const double end_s = shown_s + longest_blend_s_;
  // Further back, it is not extrapolated.
  if (shown_s < std::max(before.motion->time_s, step.motion->time_s) - kExtrapolateBackS) return;
  const Place from = place_at(*before.motion, shown_s);
  const Place to = place_at(*step.motion, shown_s);
  double offset_m = glm::distance(from.position, to.position);
  double offset_mps = glm::distance(from.velocity, to.velocity);
  // What is left of the correction before, and how fast it changes.
  const double u = (shown_s - shown_s_[i - 1]) / before.blend_s;
  if (u < 1.0) {
    const bool may_continue = offset_m == 0.0 && offset_mps == 0.0;  // RemoteEntity then starts no new blend
    const BlendShape& shape = blend_shape(before.curve);
    const BlendShape::Weights value = shape.value(u), first = shape.first(u);
    offset_m += before.offset_m * value.offset + before.offset_mps * before.blend_s * value.rate;
    offset_mps +=
        before.offset_m * std::abs(first.offset) / before.blend_s + before.offset_mps * std::abs(first.rate);
    if (may_continue) {
      offset_m = std::max(offset_m, before.offset_m);
      offset_mps = std::max(offset_mps, before.offset_mps);
    }
  }
  if (!is_unlimited(*before.motion, from, shown_s, 0.0) || !is_unlimited(*step.motion, to, end_s, offset_m))
    return;
  const BlendShape::Weights steepest = blend_shape(step.curve).steepest;
  const double fastest_mps = glm::length(to.velocity) +
                             glm::length(glm::dvec3{step.motion->state.acceleration}) * step.blend_s +
                             steepest.offset * offset_m / step.blend_s + steepest.rate * offset_mps;
  // An entity that hurries may also catch up below its top speed.
  const double least_jump_mps = kSafety * jump_speed_mps(*step.motion, 0.0);
  step.calm = fastest_mps < kSafety * step.motion->max_speed_mps &&
              (fastest_mps < least_jump_mps || hurries_until_s(i) < shown_s);
  step.offset_m = offset_m;
  step.offset_mps = offset_mps;
}

// Few motions correct an interpolating client. The corrections of these steps are computed at once, because
// it is then known when they end.
void ShownEntityHistory::assess_interpolation(std::size_t i) {
  Step& step = steps_[i];
  if (i >= RemoteEntity::kHistory) return;
  if (steps_[i - 1].corrected_until_s > shown_s_[i] || !starts_no_correction(i)) {
    if (wild_ > 0) return;  // the corrections before this step are not known
    replay(i, i, {});
    const ShownBlends blends = known_blends(i);
    if (blends.chase.start_s < kNever || !blends.catch_up.over(shown_s_[i])) return;
    step.corrected_until_s = std::max(step.corrected_until_s, end_s(blends.free));
  }
  step.calm = true;
  step.offset_m = step.offset_mps = 0.0;
}

// True if the step certainly corrects nothing, provided that no correction was in progress before. A motion
// of the future does not change the pose. The curve to it must be slower than the top speed, as in
// RemoteEntity.
bool ShownEntityHistory::starts_no_correction(std::size_t i) const {
  const Motion& from = *steps_[i - 1].motion;
  const Motion& to = *steps_[i].motion;
  if (!(from.time_s > shown_s_[i])) return false;
  if (to.teleports == from.teleports) {
    const double start_s = curve_starts(from, to).position_s;
    const Place start = place_at(from, start_s);
    if (!is_unlimited(from, start, start_s, 0.0)) return false;
    const glm::dvec3 v0 = start_s > from.time_s ? start.velocity : start_velocity(from, to);
    const glm::dvec3 v1{to.state.velocity};
    const glm::dvec3 middle = 3.0 * (to.state.position - start.position) / (to.time_s - start_s) - v0 - v1;
    const glm::dvec3 first{from.state.velocity};
    const double most2 =
        std::max({glm::dot(first, first), glm::dot(v0, v0), glm::dot(v1, v1), glm::dot(middle, middle)});
    const double max_mps = kSafety * to.max_speed_mps;
    if (!(most2 < max_mps * max_mps)) return false;
  }
  return true;
}

// True if the client certainly showed the motion itself when it applied this step: the last blend had ended,
// and there was no chase.
bool ShownEntityHistory::is_uncorrected_before(std::size_t step) const {
  if (always_computes_ || wild_ > 0) return false;
  return shown_s_[step] >= (path_ == MotionPath::interpolate ? steps_[step - 1].corrected_until_s
                                                             : shown_s_[step - 1] + longest_blend_s_);
}

// Returns the corrections that were in progress after a step.
ShownBlends ShownEntityHistory::blends_after(std::size_t step) {
  if (steps_[step].blends == kUnknown) {
    std::size_t from = step;
    while (steps_[from - 1].blends == kUnknown && !is_uncorrected_before(from))
      --from;
    // Steps that may correct a client that interpolates are never unknown.
    if (path_ == MotionPath::interpolate && is_uncorrected_before(from)) {
      steps_[step].blends = kNone;
    } else {
      replay(from, step, {});
    }
  }
  return known_blends(step);
}

// The stored corrections of a step; none if they are unknown.
ShownBlends ShownEntityHistory::known_blends(std::size_t step) const {
  const std::int32_t place = steps_[step].blends;
  return place >= 0 ? stored_[static_cast<std::size_t>(place)] : uncorrected(*steps_[step].motion);
}

void ShownEntityHistory::store(std::size_t step, const ShownBlends& blends) {
  std::int32_t& place = steps_[step].blends;
  if (place < 0 && free_.empty()) {
    free_.push_back(static_cast<std::int32_t>(stored_.size()));
    stored_.emplace_back();
  }
  if (place < 0) {
    place = free_.back();
    free_.pop_back();
  }
  stored_[static_cast<std::size_t>(place)] = blends;
}

void ShownEntityHistory::release(Step& step) {
  if (step.blends >= 0) free_.push_back(step.blends);
  step.blends = kUnknown;
}

// Computes the corrections of these steps with the client's own code.
void ShownEntityHistory::replay(std::size_t from, std::size_t to, const FrameConverter& converted) {
  const double before_s = shown_s_[from - 1];
  std::erase_if(bridges_, [before_s](const Bridge& bridge) { return bridge.made_s > before_s; });
  RemoteEntity entity = entity_before(from);
  for (std::size_t i = from; i <= to; ++i) {
    const Motion& motion = *steps_[i].motion;
    const double shown_s = instant(shown_s_[i], entity);
    if (is_framed_) settle_frames(entity, instant(shown_s_[i - 1], entity), shown_s, converted);
    if (steps_[i].lever_m >= 0.0) entity.set_lever(steps_[i].lever_m);
    entity.set_blend_shape(&blend_shape(steps_[i].curve));
    const FrameId frame = entity.frame(shown_s);
    std::optional<State> shown;
    if (motion.frame != frame && steps_[i].blend_s > 0.0)
      shown = surely_converted(entity.shown(shown_s), frame, motion.frame, shown_s, shown_s, converted);
    (void)entity.receive(motion, shown_s, steps_[i].blend_s, kAlwaysValid, shown);
    if (is_framed_) settle_frames(entity, shown_s, shown_s, converted);
    store(i, entity.blends());
    const Motion* const bridge = entity.last_bridge();
    const bool is_new =
        bridge != nullptr && (bridges_.empty() || bridges_.back().end.time_s != bridge->time_s ||
                              bridges_.back().end.frame != bridge->frame);
    if (is_new) bridges_.push_back({shown_s, *bridge});
  }
}

// Does what the client does in its pictures when the shown time goes from `from_s` to `until_s`: it keeps
// the pose continuous where the entity changes its frame. Only the instants at which a motion begins matter.
void ShownEntityHistory::settle_frames(RemoteEntity& entity, double from_s, double until_s,
                                       const FrameConverter& converted) {
  if (path_ == MotionPath::predict) return;
  entity.set_blend_shape(&blend_shape(blend_.curve));
  double known_s = from_s;
  const auto convert = [&](const State& state, FrameId from, FrameId to, double time_s) {
    return surely_converted(state, from, to, time_s, known_s, converted);
  };
  const auto settle = [&](double last_s, double time_s) {
    const bool is_shown = appeared() && time_s > appear_s_;
    known_s = time_s;
    entity.settle_frames(entity.frame(last_s), last_s, time_s, is_shown ? blend_.duration_s : 0.0, convert);
  };
  if (from_s == until_s) return settle(from_s, until_s);
  double last_s = from_s;
  for (const Motion& motion : entity.known()) {
    if (motion.time_s <= from_s || motion.time_s > until_s) continue;
    settle(last_s, motion.time_s);
    last_s = motion.time_s;
  }
}

// As `converted`. If it is not certain what the client used, notes that the pose is unknown for a while.
std::optional<State> ShownEntityHistory::surely_converted(const State& state, FrameId from, FrameId to,
                                                          double time_s, double known_s,
                                                          const FrameConverter& converted) {
  const auto now = converted ? converted(state, from, to, time_s, known_s) : std::nullopt;
  const auto soon = now && path_ == MotionPath::interpolate
                        ? converted(state, from, to, time_s, known_s + kDrawnWithinS)
                        : now;
  const bool is_certain = now && soon && is_close(*now, *soon);
  const double gap_m =
      now && soon ? std::max(kFrameErrorM, glm::distance(now->position, soon->position)) : kFrameErrorM;
  if (!is_certain) doubt_jump(known_s, known_s, gap_m);
  return now;
}

void ShownEntityHistory::lose(double motion_s) {
  if (motion_s > newest_s()) lost_s_ = std::max(lost_s_, motion_s);
}

void ShownEntityHistory::add_doubt(double from_s, double until_s, double blend_s, bool jumps, double gap_m) {
  const bool is_long = jumps || is_framed_ || lever_m_ >= 0.0;
  const double latest_s = until_s + blend_s + (is_long ? kGentleJumpS : kJumpS);
  const auto same = [&](const Doubt& d) { return d.from_s == from_s && d.latest_s == latest_s; };
  if (std::ranges::any_of(doubts_, same)) return;
  if (doubts_.size() == kMaxDoubts) {
    doubts_[1].from_s = std::min(doubts_[0].from_s, doubts_[1].from_s);
    doubts_[1].until_s = std::max(doubts_[0].until_s, doubts_[1].until_s);
    doubts_[1].latest_s = std::max(doubts_[0].latest_s, doubts_[1].latest_s);
    doubts_[1].jumps = doubts_[0].jumps || doubts_[1].jumps;
    if (doubts_[0].chased_s > doubts_[1].chased_s) {
      doubts_[1].gap_m = doubts_[0].gap_m;
      doubts_[1].gap_s = doubts_[0].gap_s;
      doubts_[1].begin_s = doubts_[0].begin_s;
      doubts_[1].chased_s = doubts_[0].chased_s;
    }
    doubts_.erase(doubts_.begin());
  }
  Doubt doubt{from_s, until_s + blend_s, latest_s, jumps};
  const double top_mps = steps_.back().motion->max_speed_mps;
  if (jumps && top_mps < kFastBlendMps) {
    doubt.gap_m = std::min(gap_m, kJumpGapS * top_mps);
    // The corrections at `from_s` itself count, too.
    doubt.gap_s = std::nextafter(std::max(from_s, until_s - kLongestDoubtedJumpS), -kNever);
    doubt.begin_s = until_s;
  }
  doubts_.push_back(doubt);
  prolong_doubts();
}

// Upper bound for the duration of a correction that began with this step, s, if the pose before was unknown
// and, if it `jumps`, far away. The duration depends on that pose where blends are gentle, and where they may
// be too fast.
double ShownEntityHistory::longest_blend_after(std::size_t step, bool jumps) const {
  const double blend_s = steps_[step].blend_s;
  if (blend_s <= 0.0) return 0.0;
  const ShownBlends blends = known_blends(step);
  // A client whose clock was wrong may blend gently for a while longer.
  const bool gently = always_computes_ && ((jumps && is_framed_) || shown_s_[step] < blends.gentle_until_s);
  const bool corrects_fast = blends.chase.start_s < kNever || !blends.catch_up.over(shown_s_[step]);
  const bool may_chase = jumps ? steps_[step].motion->max_speed_mps < kFastBlendMps : corrects_fast;
  const bool may_catch_up = may_chase || (jumps && is_large(step));
  return std::max({blend_s, gently ? kLongestGentleS : 0.0, may_catch_up ? kLongestCatchUpS : 0.0});
}

// True if the step moves the pose so far that it may prolong a catch-up in progress.
bool ShownEntityHistory::is_large(std::size_t step) const {
  // Cautious: RemoteEntity compares with a larger share.
  constexpr double kLargeShare = 0.1, kMargin = 4.0 / 3.0;
  if (step == 0) return false;
  const Motion& from = *steps_[step - 1].motion;
  const Motion& to = *steps_[step].motion;
  const double shown_s = shown_s_[step];
  if (path_ == MotionPath::interpolate && to.time_s > shown_s) return false;
  if (to.teleports != from.teleports) return false;
  if (to.frame != from.frame) return true;
  const Place before = place_at(from, shown_s);
  const Place after = place_at(to, shown_s);
  const double steepest = kMargin * blend_shape(steps_[step].curve).steepest.offset;
  const double fastest_mps =
      steepest * glm::distance(before.position, after.position) / steps_[step].blend_s +
      glm::distance(before.velocity, after.velocity);
  return fastest_mps > kLargeShare * jump_speed_mps(to, 0.0);
}

// How far a chase may have to go after a step, if it had `before_m` to go before, m.
double ShownEntityHistory::gap_after(std::size_t step, double before_m) const {
  if (step == 0) return before_m;
  const Motion& from = *steps_[step - 1].motion;
  const Motion& to = *steps_[step].motion;
  if (to.teleports != from.teleports) return 0.0;
  const double shown_s = shown_s_[step];
  // A motion of the future hardly moves the pose.
  if (to.frame == from.frame && path_ == MotionPath::interpolate && to.time_s > shown_s) return before_m;
  if (to.frame == from.frame)
    return before_m + glm::distance(place_at(from, shown_s).position, place_at(to, shown_s).position);
  const Blend blend = known_blends(step).free;
  if (blend.duration_s() > 0.0 && blend.start_s() == shown_s)
    return before_m + glm::length(blend.offset(shown_s).position);
  return std::max<double>(before_m, kFrameGapS * to.max_speed_mps);
}

// Follows the chase of a doubt up to the step `until_step`. Returns true if it has certainly ended before,
// and then notes when.
bool ShownEntityHistory::pursue(Doubt& doubt, std::size_t until_step) const {
  constexpr double kLastS = 3.0 * Chase::kTimeConstantS;
  for (std::size_t step = step_at(doubt.gap_s); step < until_step; ++step) {
    const Motion& motion = *steps_[step].motion;
    const double latest_s = doubt.begin_s + kLongestDoubtedChaseS;
    const double next_s = step + 1 < steps_.size() ? std::min(shown_s_[step + 1], latest_s) : latest_s;
    const double from_s = std::max(doubt.gap_s, doubt.begin_s);
    const double chased_s = std::max(0.0, next_s - from_s);
    const double nearer_mps = motion.max_speed_mps - chased_speed_mps(motion, path_, from_s);
    const bool arrives = chased_s > 0.0 && doubt.gap_m < nearer_mps * chased_s;
    if (arrives || next_s == latest_s) {
      doubt.chased_s = arrives ? from_s + doubt.gap_m / nearer_mps + kLastS : latest_s;
      return true;
    }
    doubt.gap_m = gap_after(step + 1, std::max(0.0, doubt.gap_m - nearer_mps * chased_s));
    doubt.gap_s = next_s;
  }
  return false;
}

void ShownEntityHistory::prolong_doubts() {
  for (Doubt& doubt : doubts_) {
    if (doubt.gap_m > 0.0) {
      Doubt chase = doubt;
      (void)pursue(chase, steps_.size());
      doubt.chased_s = chase.chased_s;
    }
    const auto prolong = [&](double begin_s, double longest_s) {
      if (begin_s >= doubt.from_s && begin_s < doubt.end_s())
        doubt.until_s = std::clamp(begin_s + longest_s, doubt.until_s, doubt.latest_s);
    };
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const bool is_within = shown_s_[i] >= doubt.from_s && shown_s_[i] < doubt.end_s();
      if (is_within && !steps_[i].calm && !always_computes_) (void)blends_after(i);  // may start a chase
      // A blend that replaces a chase is no catch-up.
      const bool jumps = doubt.jumps && shown_s_[i] < doubt.until_s;
      const double longest_s = longest_blend_after(i, jumps);
      // Ordinary blends soon remove what is left of a jump.
      if (!jumps || longest_s > steps_[i].blend_s) prolong(shown_s_[i], longest_s);
      // Where an interpolated entity changes its frame, a gentle blend begins.
      const bool crosses =
          path_ == MotionPath::interpolate && i > 0 && steps_[i].motion->frame != steps_[i - 1].motion->frame;
      if (crosses) prolong(steps_[i].motion->time_s, kLongestGentleS);
    }
  }
}

void ShownEntityHistory::carry(double shown_s, double lever_m, const FrameConverter& converted) {
  if (!(lever_m > lever_m_)) return;
  compute_always(steps_.size());
  lever_m_ = lever_m;
  std::size_t later = shown_s_.size();
  while (later > 1 && shown_s_[later - 1] > shown_s)
    --later;
  for (std::size_t i = later; i < steps_.size(); ++i)
    steps_[i].lever_m = std::max(steps_[i].lever_m, lever_m);
  if (later < steps_.size()) replay(later, steps_.size() - 1, converted);
}

void ShownEntityHistory::refresh(std::uint64_t version, const FrameConverter& converted) {
  if (!is_framed_ || std::exchange(version_, version) == version || steps_.size() < 2) return;
  const FrameId frame = steps_.front().motion->frame;
  const bool changes = std::ranges::any_of(steps_, [&](const Step& s) { return s.motion->frame != frame; });
  if (changes) replay(1, steps_.size() - 1, converted);
}

bool ShownEntityHistory::has_step_within(double from_s, double until_s) const {
  return std::ranges::any_of(shown_s_, [&](double s) { return s > from_s && s <= until_s; });
}

void ShownEntityHistory::doubt_changes_of_frame(double from_s, double until_s,
                                                const FrameConverter& converted) {
  if (!is_framed_ || path_ == MotionPath::predict) return;
  for (std::size_t i = 1; i < steps_.size(); ++i) {
    const Motion& from = *steps_[i - 1].motion;
    const Motion& to = *steps_[i].motion;
    const double changed_s = to.time_s;
    const bool is_within = changed_s > from_s && changed_s <= until_s && shown_s_[i] < until_s;
    if (!is_within || to.frame == from.frame) continue;
    const auto early = converted(to.state, to.frame, from.frame, changed_s, changed_s);
    const auto late = converted(to.state, to.frame, from.frame, changed_s, until_s);
    const bool is_certain = early && late && is_close(*early, *late);
    if (!is_certain) doubt_jump(changed_s, until_s);
  }
}

bool ShownEntityHistory::has_motion_in(FrameId frame) const {
  return is_framed_ && std::ranges::any_of(steps_, [&](const Step& s) { return s.motion->frame == frame; });
}

void ShownEntityHistory::lose_frame(FrameId frame, double from_s) {
  lost_frames_.push_back({frame, from_s});
}

void ShownEntityHistory::left_frame(FrameId frame, double until_s, double blend_s) {
  for (const LostFrame& lost : lost_frames_) {
    if (lost.frame == frame) doubt_jump(lost.from_s, std::max(until_s, lost.from_s) + blend_s);
  }
  std::erase_if(lost_frames_, [frame](const LostFrame& lost) { return lost.frame == frame; });
}

// Drops the motions that were applied before `shown_s`. Keeps the newest of these motions, because the client
// still showed the entity from it at `shown_s`. Drops several at a time, because all others have to move.
void ShownEntityHistory::forget_before(double shown_s) {
  if (shown_s_.size() <= kForgottenAtOnce || shown_s_[kForgottenAtOnce] >= shown_s) return;
  std::size_t old = steps_needless_at(shown_s);
  const bool may_chase = path_ == MotionPath::interpolate && (always_computes_ || wild_ > 0);
  if (may_chase && old >= kForgottenAtOnce) {
    const double chased_s =
        blends_after(old).chase.start_s;  // a chase depends on the motions since its start
    if (chased_s < shown_s) old = std::min(old, steps_needless_at(chased_s));
  }
  if (old >= kForgottenAtOnce) forget_oldest(old);
}

// The number of steps at the beginning on which no pose from `shown_s` on depends.
std::size_t ShownEntityHistory::steps_needless_at(double shown_s) const {
  std::size_t old = 0;
  for (double newest_s = steps_[0].motion->time_s; old + 1 < steps_.size() && shown_s_[old + 1] < shown_s;
       ++old) {
    newest_s = std::max(newest_s, steps_[old + 1].motion->time_s);
    if (path_ == MotionPath::interpolate && newest_s > shown_s) break;
  }
  return old;
}

// Drops the `count` oldest steps. The first of the others gets their newest motion if that is newer than its
// own.
void ShownEntityHistory::forget_oldest(std::size_t count) {
  const bool was_wild = wild_ > 0;
  // Nobody asks for the blend of the new first step any more, so it is computed only if others depend on it.
  const bool matters = !is_uncorrected_before(count + 1) || longest_blend_s_ > kShortBlendS;
  // A client that interpolates shows motions that are older than the first one that stays. Later, its
  // corrections could not be computed any more.
  const bool needs_old_motions = was_wild && path_ == MotionPath::interpolate;
  if (matters) (void)blends_after(needs_old_motions ? steps_.size() - 1 : count);
  if (steps_[count].blends == kUnknown) steps_[count].blends = kNone;
  for (Doubt& doubt : doubts_) {
    if (doubt.gap_m > 0.0 && pursue(doubt, count)) doubt.gap_m = 0.0;
  }
  for (std::size_t i = 0; i < count; ++i) {
    SharedMotion& first = steps_[i].motion;
    SharedMotion& second = steps_[i + 1].motion;
    if (second->time_s < first->time_s) second = std::move(first);
    release(steps_[i]);
  }
  const auto end = static_cast<std::ptrdiff_t>(count);
  steps_.erase(steps_.begin(), steps_.begin() + end);
  shown_s_.erase(shown_s_.begin(), shown_s_.begin() + end);
  const double oldest_s = shown_s_.front();
  // The last of the bridges that are older than the first step may still be in use.
  while (bridges_.size() > 1 && bridges_[1].made_s <= oldest_s)
    bridges_.erase(bridges_.begin());
  std::erase_if(
      doubts_, [oldest_s](const Doubt& doubt) { return std::max(doubt.latest_s, doubt.end_s()) < oldest_s; });
  if (was_wild && !always_computes_) assess_again();
}

// Finds out anew which steps are calm, from the corrections of the first step.
void ShownEntityHistory::assess_again() {
  Step& first = steps_.front();
  const ShownBlends blends = known_blends(0);
  const Blend& blend = blends.free;
  const bool is_over = blend.over(shown_s_.front());
  first.calm = !(blends.chase.start_s < kNever) && blends.catch_up.over(shown_s_.front());
  first.corrected_until_s = end_s(blend);
  first.offset_m = is_over ? 0.0 : glm::length(blend.offset(shown_s_.front()).position);
  first.offset_mps = is_over ? 0.0 : blend.top_speed_mps();
  wild_ = first.calm ? 0 : 1;
  for (std::size_t i = 1; i < steps_.size(); ++i) {
    steps_[i].calm = true;  // not counted
    assess(i);
  }
}

// From now on, this step counts as one without corrections. How gently the client blends does not change;
// that is in `last`.
void ShownEntityHistory::forget_corrections(std::size_t step, const ShownBlends& last) {
  Step& forgotten = steps_[step];
  release(forgotten);
  forgotten.blends = kNone;
  forgotten.calm = true;
  forgotten.offset_m = forgotten.offset_mps = 0.0;
  forgotten.corrected_until_s = -kNever;
  forgotten.lever_m = lever_m_;
  if (!always_computes_) return;
  ShownBlends blends = uncorrected(*forgotten.motion);
  blends.gentle_until_s = last.gentle_until_s;
  blends.lever_m = last.lever_m;
  store(step, blends);
}

void ShownEntityHistory::restart(MotionPath path, double shown_s) {
  path_ = path;
  announced_s_.reset();
  bridges_.clear();
  const ShownBlends last = wild_ > 0 ? blends_after(steps_.size() - 1) : known_blends(steps_.size() - 1);
  // The steps lose their instants.
  for (Doubt& doubt : doubts_) {
    if (doubt.gap_m > 0.0 && pursue(doubt, steps_.size() - 1)) doubt.gap_m = 0.0;
  }
  for (Step& step : steps_)
    release(step);
  std::sort(steps_.begin(), steps_.end(),
            [](const Step& a, const Step& b) { return a.motion->time_s < b.motion->time_s; });
  std::fill(shown_s_.begin(), shown_s_.end(), -kNever);
  for (std::size_t i = 0; i < steps_.size(); ++i)
    forget_corrections(i, last);
  wild_ = 0;
  if (!appeared()) return;
  appear(shown_s);
  doubt_jump(-kNever, shown_s);
  if (last.chase.start_s < kNever) chases_until_s_ = shown_s + kUsualChaseS;
  if (shown_s < chases_until_s_) doubt(-kNever, chases_until_s_, blend_.duration_s);
}

void ShownEntityHistory::change_path(MotionPath path, const FrameConverter& converted) {
  if (path == path_) return;
  path_ = path;
  bridges_.clear();
  if (appeared()) appear(appear_s_);
  std::size_t first = 1;  // step after the restart
  while (first < steps_.size() && shown_s_[first] == -kNever)
    ++first;
  for (std::size_t i = 0; i < first; ++i)
    forget_corrections(i, known_blends(i));
  wild_ = 0;
  for (std::size_t i = first; i < steps_.size(); ++i) {
    release(steps_[i]);
    steps_[i].calm = true;  // not counted
  }
  for (std::size_t i = first; i < steps_.size() && !always_computes_; ++i)
    assess(i);
  if (always_computes_ && first < steps_.size()) replay(first, steps_.size() - 1, converted);
  prolong_doubts();
}

// True if the entity teleports so close to `shown_s` that the reported times do not tell on which side of the
// teleport the client showed it. `last`: the last step that the client had applied.
bool ShownEntityHistory::jumps_near(double shown_s, std::size_t last, double error_s) const {
  const double within_s = kRoundingS + error_s;
  if (path_ == MotionPath::predict) {  // it then jumps when it applies a motion
    for (std::size_t i = last; i > 0 && shown_s_[i] >= shown_s - within_s; --i) {
      if (steps_[i].motion->teleports != steps_[i - 1].motion->teleports) return true;
    }
    return false;
  }
  const auto applied = std::span(steps_).first(last + 1);
  const bool begins_near = std::ranges::any_of(
      applied, [&](const Step& s) { return std::abs(s.motion->time_s - shown_s) <= within_s; });
  if (!begins_near) return false;
  const auto teleports_at = [&](double time_s) {
    const Motion* newest = applied.front().motion.get();
    for (const Step& step : applied) {
      if (step.motion->time_s <= time_s && step.motion->time_s > newest->time_s) newest = step.motion.get();
    }
    return newest->teleports;
  };
  return teleports_at(shown_s - within_s) != teleports_at(shown_s + within_s);
}

std::optional<ShownEntityHistory::FramedState> ShownEntityHistory::foreseen(double time_s, double known_s,
                                                                            const FrameConverter& converted,
                                                                            double error_s) {
  constexpr auto kHistory = static_cast<std::ptrdiff_t>(RemoteEntity::kHistory);
  if (!(known_s >= appear_s_) || lost_s_ > -kNever) return std::nullopt;
  if (std::ranges::any_of(lost_frames_, [known_s](const LostFrame& f) { return known_s >= f.from_s; }))
    return std::nullopt;
  const auto is_in_doubt = [&] {
    return std::ranges::any_of(
        doubts_, [known_s](const Doubt& d) { return d.from_s <= known_s && known_s < d.end_s(); });
  };
  if (is_in_doubt()) return std::nullopt;
  const std::size_t last = step_at(known_s + kRoundingS);
  const ShownBlends blends = blends_after(last);
  // The pose depends on at most two of the motions that the client knew at this instant: either on the newest
  // motion, or on the motion that is shown and the next motion.
  const Motion* from = nullptr;
  const Motion* to = nullptr;
  if (jumps_near(time_s, last, error_s)) return std::nullopt;
  bool changes_frame = false;
  for (std::size_t i = 0; i <= last; ++i) {
    const Motion& motion = *steps_[i].motion;
    changes_frame = changes_frame || motion.frame != steps_.front().motion->frame;
    if (path_ == MotionPath::predict || motion.time_s <= time_s) {
      if (from == nullptr || motion.time_s > from->time_s) from = &motion;
    } else if (to == nullptr || motion.time_s < to->time_s) {
      to = &motion;
    }
  }
  if (from == nullptr) std::swap(from, to);
  if (path_ == MotionPath::interpolate && changes_frame) {
    RemoteEntity entity = entity_before(last + 1);
    settle_frames(entity, shown_s_[last], std::max(known_s, shown_s_[last]), converted);
    if (is_in_doubt()) return std::nullopt;
    return FramedState{entity.shown(time_s), entity.frame(time_s)};
  }
  // A chase depends on the earlier motions, too. And the client keeps only the newest motions: if many arrive
  // at once, it may no longer have the one that was valid at this instant.
  const auto is_newer = [from](const Step& step) { return step.motion->time_s > from->time_s; };
  const auto end = steps_.begin() + static_cast<std::ptrdiff_t>(last) + 1;
  const bool evicted = path_ == MotionPath::interpolate && last >= RemoteEntity::kHistory &&
                       std::count_if(steps_.begin(), end, is_newer) >= kHistory;
  if (evicted) {
    const RemoteEntity entity = entity_before(last + 1);
    return FramedState{entity.shown(time_s), entity.frame(time_s)};
  }
  if (path_ == MotionPath::interpolate && blends.chase.start_s <= time_s) {
    const MotionHistory known = known_before(last + 1);
    return FramedState{ShownMotions{known.motions(), path_, blends}.shown(time_s), from->frame};
  }
  if (to == nullptr) return FramedState{ShownMotions{{from, 1}, path_, blends}.shown(time_s), from->frame};
  const std::array<Motion, 2> pair{*from, *to};
  return FramedState{ShownMotions{pair, path_, blends}.shown(time_s), from->frame};
}

namespace {

// A client's clock may be wrong by about this time, or more if the delay differs between the two directions.
// Reports within this tolerance are accepted.
constexpr double kClockSlackS = 0.25;

// A report that is older than this comes too late to matter.
constexpr double kOldestReportS = 1.5;

// If the client acknowledged a datagram but no report said when it applied the datagram, the server guesses
// that instant after this time. Every fourth report lists all arrivals, so this is enough for several
// reports. What the client showed in the possible range is then unknown for the entities in the datagram.
constexpr double kGuessAfterS = 0.3;

// A client that has not reported a datagram after this time has hardly received it: with so long a round
// trip, every shot would be older than the history.
constexpr double kAwaitedS = 2.0 * ShownHistory::kHistoryS;

// A client may apply a datagram this much before the server's time of sending it, by its own clock.
constexpr double kEarliestS = 0.05;

// A report states its own time rounded down to the unit. A message of the same instant is not later.
constexpr double kReportedTimeS = 2.0 * kStampUnitS;

constexpr double kLagGain = 1.0 / 16.0;

// A client that applied a datagram within a longer time than this, s, may have been suspended.
constexpr double kMotionGapS = 0.25;

// A client has learned of the end of a short-lived entity within this time, in shown time. There is no
// report.
constexpr double kNoticedWithinS = 1.5;
// A client notices the end of an entity when it draws a picture, up to this time after it.
constexpr double kDrawnS = 0.1;
// An owner may have moved its entity into a frame this much before the motion that says so.
constexpr double kOwnedWithinS = 0.1;

// The client learns of the end of a prediction up to half of this time after the first motion, and fades over
// to another instant for the other half, beyond kLongestCatchUpS.
constexpr double kEndOfPredictionS = 0.9;

// Motions are kept for longer than the history. The reasons: the shown time lags by up to the longest delay
// of buffered modes, and a blend needs earlier motions.
constexpr double kKeepS = ShownHistory::kHistoryS + 0.5;

// Returns the server time with these low bits that is nearest to the present, in kStampUnitS.
std::int64_t unwrap_clock(std::uint16_t clock, double now_s) {
  constexpr std::int64_t kWrap = std::int64_t{1} << ShowingReport::kClockBits;
  const double wraps = std::round((now_s / kStampUnitS - clock) / static_cast<double>(kWrap));
  return clock + static_cast<std::int64_t>(wraps) * kWrap;
}

}  // namespace

ShownEntityHistory* ShownHistory::find(EntityId id) const {
  if (!id || id.slot() >= entities_.size() || !entities_[id.slot()]) return nullptr;
  ShownEntityHistory* found = entities_[id.slot()].get();
  return found->id() == id ? found : nullptr;
}

void ShownHistory::change(MotionPath path, const BlendSettings& blend) {
  if (blend == blend_ && path == MotionPath::predict) {
    predicts_ = predicts_ || path != path_;
  } else {
    changed_ = changed_ || path != path_ || blend != blend_;
  }
  path_ = path;
  blend_ = blend;
}

void ShownHistory::announced(EntityId id, const SharedMotion& first) {
  if (id.slot() >= entities_.size()) entities_.resize(id.slot() + 1);
  entities_[id.slot()] = std::make_unique<ShownEntityHistory>(id, first, path_);
}

void ShownHistory::own(EntityId id) {
  drop(id);
  own_.push_back(id);
}

void ShownHistory::predict(EntityId id) {
  own(id);
  predicted_.push_back(id);
}

void ShownHistory::drop(EntityId id) {
  std::erase(own_, id);
  std::erase(predicted_, id);
  expected_.erase(id);
  early_levers_m_.erase(id);
  if (find(id) != nullptr) entities_[id.slot()].reset();
}

// The client moves the entities in the frame of an ended entity to the frame outside it, and blends. It does
// so when it learns of the end or, in buffered modes, when it shows the end.
void ShownHistory::forget(EntityId id, bool confirmable) {
  const ShownEntityHistory* entity = find(id);
  if (entity != nullptr && entity->lever_m() >= 0.0) {
    const double from_s = instants_.empty() ? known_from_s_ : instants_.back().shown_s;
    for (const auto& occupant : entities_) {
      if (occupant && occupant->has_motion_in(frame_of(id))) occupant->lose_frame(frame_of(id), from_s);
    }
    ended_frames_.push_back({.id = id, .noticed_s = confirmable ? kUnreported : from_s + kNoticedWithinS});
  }
  drop(id);
}

void ShownHistory::end_confirmed(EntityId id) {
  for (EndedFrame& ended : ended_frames_)
    ended.confirmed = ended.confirmed || ended.id == id;
}

void ShownHistory::sent(Sequence sequence, EntityId id, SharedMotion motion, double now_s) {
  add_sent(sequence, {id, std::move(motion)}, now_s);
}

void ShownHistory::announced_in(Sequence sequence, EntityId id, SharedMotion motion, double now_s) {
  if (std::ranges::find(own_, id) != own_.end()) return;  // the client shows its own motion
  if (find(id) == nullptr) expected_.insert(id);
  add_sent(sequence, {id, std::move(motion), SentContent::Kind::spawn}, now_s);
}

void ShownHistory::ended_in(Sequence sequence, EntityId id, double now_s) {
  const bool matters = std::ranges::any_of(ended_frames_, [id](const EndedFrame& e) { return e.id == id; });
  if (matters) add_sent(sequence, {id, {}, SentContent::Kind::end}, now_s);
}

void ShownHistory::add_sent(Sequence sequence, SentContent content, double now_s) {
  make_room(sequence, now_s);
  Sent& datagram = sent_[sequence];
  if (!datagram.open || datagram.sequence != sequence) {
    if (datagram.open) lose(datagram);
    datagram.sequence = sequence;
    datagram.open = true;
    datagram.acked = false;
    datagram.sent_s = now_s;
    if (!spare_contents_.empty()) {
      datagram.content = std::move(spare_contents_.back());
      spare_contents_.pop_back();
    }
  }
  std::vector<SentContent>& contents = datagram.content;
  if (contents.size() == contents.capacity()) contents.reserve(std::max(kUsualContents, 4 * contents.size()));
  contents.push_back(std::move(content));
}

// Makes the ring larger if the place of this datagram belongs to another one of which the client may still
// report something.
void ShownHistory::make_room(Sequence sequence, double now_s) {
  const std::size_t size = sent_.size();
  const Sent* const other = size > 0 ? &sent_[sequence] : nullptr;
  const bool grows = size > 0 && size < sent_.kMost && other->open && other->sequence != sequence &&
                     now_s - other->sent_s < kAwaitedS;
  sent_.cover(static_cast<Sequence>(sequence - (grows ? size : 0)), sequence);
  if (!grows) return;
  // The ring does not find datagrams any more that were sent before its last `size` ones.
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    Sent& datagram = sent_[static_cast<Sequence>(i)];
    if (datagram.open && &sent_[datagram.sequence] != &datagram) lose(datagram);
  }
}

// Returns the record of a datagram, or null if it is not open.
const ShownHistory::Sent* ShownHistory::find_open(Sequence sequence) const {
  if (sent_.size() == 0) return nullptr;
  const Sent& datagram = sent_[sequence];
  return datagram.open && datagram.sequence == sequence ? &datagram : nullptr;
}

// Ends the record of a datagram. Keeps the memory of its content for a later datagram.
void ShownHistory::close(Sent& datagram) {
  datagram.open = false;
  datagram.content.clear();
  spare_contents_.push_back(std::move(datagram.content));
}

// The datagram's place is needed for a new one, and the client never said whether it received it.
void ShownHistory::lose(Sent& datagram) {
  for (const SentContent& content : datagram.content) {
    if (ShownEntityHistory* entity = find(content.id)) entity->lose(content.motion->time_s);
  }
  close(datagram);
}

void ShownHistory::acknowledged(const Ack& ack, double now_s) {
  const auto note = [&](Sequence sequence) {
    Sent* const datagram = find_open(sequence);
    if (datagram == nullptr || datagram->acked) return;
    datagram->acked = true;
    datagram->acked_s = now_s;
    datagram->applied_by_s = kUnreported;
    unreported_.push_back(sequence);
  };
  ack.for_each(note, sent_.size() / Ack::kWordBits);  // the ring contains no earlier ones
}

std::optional<Refusal> ShownHistory::process(const ShowingReport& report, double now_s, bool newest) {
  const std::int64_t clock = unwrap_clock(report.clock, now_s);
  const std::int64_t shown = clock - report.delay;
  const double client_s = ShowingReport::time_of(clock);
  if (client_s > now_s + kClockSlackS || client_s < now_s - kOldestReportS) {
    instants_.clear();
    // Its era says nothing any more: the next one may be equal by chance.
    changed_ = changed_ || newest;
    return client_s > now_s ? Refusal::from_future : Refusal::too_old;
  }
  const Instant instant{client_s, ShowingReport::time_of(shown)};
  // A clock that went back shows instants again. The client may not have noticed yet.
  const bool went_back = newest && client_s < newest_client_s_;
  if (newest) newest_client_s_ = client_s;
  // A client changes to prediction when its delay is zero, and begins an era. Its message about that may
  // arrive later.
  if (predicts_ && !is_present_) changed_ = true;
  if (era_ != report.era || changed_ || went_back) {
    begin_era(report.era, instant.shown_s);
    is_present_ = report.delay == 0;
  } else if (predicts_) {
    for (const auto& entity : entities_) {
      if (entity) entity->change_path(path_, converter());
    }
    ++frames_version_;
  }
  predicts_ = false;
  // The client is in a buffered mode already, and its message about that is still in flight.
  constexpr auto kNoDelay = static_cast<std::uint32_t>(0.005 / kStampUnitS);
  if (path_ == MotionPath::predict && report.delay > kNoDelay) make_unknown(instant.shown_s);
  note_instant(instant);
  if (!std::exchange(has_report_, true)) apply_unreported(report);
  // The report lists the newest arrival first. Several may have been applied at one instant, and their order
  // matters.
  for (std::size_t i = report.count; i-- > 0;) {
    const ShowingReport::Arrival& arrival = report.arrivals[i];
    Sent* const datagram = find_open(arrival.sequence);
    if (datagram == nullptr) continue;
    const double shown_s = ShowingReport::time_of(shown - arrival.ago);
    lag_s_ += kLagGain * (std::clamp(shown_s - datagram->sent_s, -2.0, 2.0) - lag_s_);
    apply(*datagram, shown_s);
    close(*datagram);
  }
  doubt_undrawn(instant);
  guess_arrivals(instant, now_s);
  apply_ends(instant);
  return std::nullopt;
}

// Applies the ends of frames that the client knows.
void ShownHistory::apply_ends(const Instant& instant) {
  std::erase_if(ended_frames_, [&](const EndedFrame& ended) {
    if (!ended.confirmed && instant.shown_s < ended.noticed_s) return false;
    // The end lies before the present server time. In a buffered mode, the client will show it only then.
    const double left_s = path_ == MotionPath::interpolate ? instant.now_s + kDrawnS
                                                           : std::min(ended.applied_s, instant.shown_s);
    for (const auto& occupant : entities_) {
      if (occupant) occupant->left_frame(frame_of(ended.id), left_s, blend_.duration_s);
    }
    return true;
  });
}

ShownEntityHistory::FrameConverter ShownHistory::converter(int most) const {
  return [this, most](const State& state, FrameId from, FrameId to, double time_s,
                      double known_s) -> std::optional<State> {
    const auto out_of = frame_at(from, {time_s, known_s}, most);
    const auto into = frame_at(to, {time_s, known_s}, most);
    if (!out_of || !into) return std::nullopt;
    const State world = from ? out_of_frame(*out_of, state) : state;
    return to ? into_frame(*into, world) : world;
  };
}

void ShownHistory::begin_era(unsigned era, double shown_s) {
  if (era_) {
    make_unknown(shown_s);
  } else {
    // Updates may arrive while the client's clock begins. How it blends them then is not known exactly.
    began_s_ = shown_s;
    known_from_s_ = shown_s + blend_.duration_s;
  }
  era_ = era;
  changed_ = false;
  instants_.clear();
  for (const auto& entity : entities_) {
    if (entity) entity->restart(path_, shown_s);
  }
}

// What the client shows is unknown until it has blended over a jump at `shown_s`.
void ShownHistory::make_unknown(double shown_s) {
  known_from_s_ = shown_s + kLongestJumpBlendS + blend_.duration_s;
}

void ShownHistory::note_instant(const Instant& instant) {
  // A late report is inserted in order of time if it still matters.
  auto place = instants_.end();
  while (place != instants_.begin() && (place - 1)->now_s > instant.now_s)
    --place;
  instants_.insert(place, instant);
  const double oldest_s = instants_.back().now_s - kHistoryS - kClockSlackS;
  std::size_t old = instants_.size() > kMaxInstants ? 1 : 0;
  while (instants_.size() > old + 2 && instants_[old + 1].now_s < oldest_s)
    ++old;
  instants_.erase(instants_.begin(), instants_.begin() + static_cast<std::ptrdiff_t>(old));
}

// If the client drew no picture for a while before this report, as when it was suspended for a moment, it
// noticed changes of frame late.
void ShownHistory::doubt_undrawn(const Instant& instant) {
  constexpr double kLongestFrameS = 0.2;
  const auto here =
      std::ranges::find_if(instants_, [&](const Instant& i) { return i.now_s == instant.now_s; });
  if (here == instants_.begin() || here == instants_.end()) return;
  const Instant& before = *(here - 1);
  if (instant.now_s - before.now_s < kLongestFrameS) return;
  for (const auto& entity : entities_) {
    if (entity) entity->doubt_changes_of_frame(before.shown_s, instant.shown_s, converter());
  }
}

void ShownHistory::apply(Sent& datagram, double shown_s) {
  // A client cannot apply a motion before it is sent, and a report cannot express a longer delay than this.
  // So a client gains nothing by claiming that a motion arrived later than the limit.
  constexpr double kLongestReportedDelayS = ShowingReport::kMaxDelay * kStampUnitS + kClockSlackS;
  shown_s = std::clamp(shown_s, datagram.sent_s - kLongestReportedDelayS,
                       datagram.sent_s + std::max(limit_s_, kHistoryS));
  const auto carry = converter();
  // The histories are rarely in a cache. Together, all of them would not fit into it.
  for (const SentContent& content : datagram.content) {
    if (content.id.slot() < entities_.size())
      prefetch(entities_[content.id.slot()].get(), sizeof(ShownEntityHistory));
  }
  for (const SentContent& content : datagram.content) {
    if (const ShownEntityHistory* entity = find(content.id)) entity->prefetch_newest();
  }
  for (const SentContent& content : datagram.content) {
    if (content.kind == SentContent::Kind::end) {
      for (EndedFrame& ended : ended_frames_) {
        if (ended.id == content.id) ended.applied_s = std::min(ended.applied_s, shown_s);
      }
      continue;
    }
    const bool announces = content.kind == SentContent::Kind::spawn;
    if (announces && expected_.erase(content.id) > 0) announced(content.id, content.motion);
    ShownEntityHistory* entity = find(content.id);
    if (entity != nullptr && announces) {
      entity->announce(shown_s, content.motion, blend_, kKeepS, carry);
    } else if (entity != nullptr) {
      entity->add(shown_s, content.motion, blend_, kKeepS, carry);
    } else if (!announces && (std::erase(own_, content.id) > 0 || expected_.erase(content.id) > 0)) {
      // How the client blends from its own motion is unknown, and so is when it applied a spawn that no
      // report lists.
      announced(content.id, content.motion);
      find(content.id)->appear(shown_s);
      const double fades_s = std::erase(predicted_, content.id) > 0 ? kEndOfPredictionS : 0.0;
      find(content.id)->doubt_jump(shown_s, shown_s + fades_s);
    }
    if (find(content.id) == nullptr) continue;
    if (announces && !early_levers_m_.empty()) carry_early(content.id, shown_s);
    note_frame(*content.motion, shown_s, shown_s);
    if (shown_s < applied_s_ && find(content.id)->lever_m() >= 0.0) ++frames_version_;
  }
  applied_s_ = std::max(applied_s_, shown_s);
}

// Guesses when the client applied datagrams that it acknowledged long ago without reporting their arrival.
// Either the reports were lost, or the client applied them before it showed anything.
// At the first report: no report will say when the client applied what it acknowledged before and does not
// list now. It reports as soon as it shows anything, so it applied this before it showed anything.
void ShownHistory::apply_unreported(const ShowingReport& first) {
  std::erase_if(unreported_, [&](Sequence sequence) {
    Sent* const datagram = find_open(sequence);
    if (datagram == nullptr) return true;
    const auto arrivals = std::span(first.arrivals).first(first.count);
    const bool is_listed =
        std::ranges::find(arrivals, sequence, &ShowingReport::Arrival::sequence) != arrivals.end();
    if (is_listed) return false;
    apply(*datagram, -kUnreported);
    close(*datagram);
    return true;
  });
}

void ShownHistory::guess_arrivals(const Instant& instant, double now_s) {
  std::erase_if(unreported_, [&](Sequence sequence) {
    Sent* const found = find_open(sequence);
    if (found == nullptr) return true;
    Sent& datagram = *found;
    datagram.applied_by_s = std::min(datagram.applied_by_s, instant.shown_s);
    if (now_s - datagram.acked_s < kGuessAfterS) return false;
    const double delay_s = instant.now_s - instant.shown_s;
    const double from_s = datagram.sent_s - delay_s - kEarliestS;
    for (const SentContent& content : datagram.content) {
      ShownEntityHistory* entity = find(content.id);
      if (entity == nullptr) continue;
      entity->doubt(from_s, datagram.applied_by_s, blend_.duration_s);
      // The client may have been suspended, and may catch up.
      constexpr double kGapM = 0.05;
      if (datagram.applied_by_s - from_s > kMotionGapS)
        entity->doubt_jump(from_s, datagram.applied_by_s, kGapM);
    }
    const double guess_s = std::min(datagram.sent_s + lag_s_, datagram.applied_by_s);
    // What the client applied before it showed anything was long ago, as RemoteEntity sees it.
    apply(datagram, guess_s < began_s_ ? -kUnreported : guess_s);
    for (const SentContent& content : datagram.content) {
      ShownEntityHistory* entity = content.kind == SentContent::Kind::spawn ? find(content.id) : nullptr;
      if (entity != nullptr) entity->doubt(from_s, datagram.applied_by_s, blend_.duration_s);
    }
    close(datagram);
    return true;
  });
}

RewindStatus ShownHistory::status(double time_s, double now_s) const {
  const double oldest_s = now_s - std::min(limit_s_, kHistoryS);
  if (!(time_s >= oldest_s) || !(time_s <= now_s + kClockSlackS)) return RewindStatus::unavailable;
  if (instants_.empty() || time_s > instants_.back().now_s + kReportedTimeS) return RewindStatus::pending;
  const bool undecided = std::any_of(unreported_.begin(), unreported_.end(), [&](Sequence sequence) {
    const Sent* const datagram = find_open(sequence);
    return datagram != nullptr && datagram->sent_s - kEarliestS <= time_s;
  });
  if (undecided) return RewindStatus::pending;
  const auto shown_s = interpolated_shown_time(time_s);
  const bool known = shown_s && *shown_s >= oldest_s && *shown_s >= known_from_s_;
  return known ? RewindStatus::known : RewindStatus::unavailable;
}

std::optional<double> ShownHistory::shown_at(double time_s, double now_s) const {
  return status(time_s, now_s) == RewindStatus::known ? interpolated_shown_time(time_s) : std::nullopt;
}

std::optional<double> ShownHistory::interpolated_shown_time(double time_s) const {
  if (time_s < instants_.front().now_s) return std::nullopt;
  const auto after =
      std::find_if(instants_.begin(), instants_.end(), [&](const Instant& i) { return i.now_s > time_s; });
  if (after == instants_.end()) return time_s - delay_s(instants_.back());
  // The rate at which the delay changes is continuous. After lost reports a straight line would be wrong by
  // some milliseconds, so this is a cubic. If it bends a lot, it is too uncertain.
  constexpr double kLargestBendS = 0.002;
  const DelayCurve curve = delay_curve(after);
  if (curve.largest_bend_s() > kLargestBendS) return std::nullopt;
  return time_s - curve.at((time_s - (after - 1)->now_s) / curve.span_s);
}

// How far the instant `shown_s` from shown_at() may be off because nothing is known between two reports, s.
double ShownHistory::error_s(double shown_s) const {
  const auto after =
      std::find_if(instants_.begin(), instants_.end(), [&](const Instant& i) { return i.shown_s > shown_s; });
  if (after == instants_.begin() || after == instants_.end()) return 0.0;
  constexpr double kFastestChange = 0.5;  // of the rate, s/s^2 (PlayoutClock)
  const DelayCurve curve = delay_curve(after);
  if (!(curve.span_s > 0.0)) return 0.0;
  return std::min(curve.largest_bend_s(), kFastestChange * curve.span_s * curve.span_s / 8.0);
}

// The delay from the report before `after` to that report.
ShownHistory::DelayCurve ShownHistory::delay_curve(std::vector<Instant>::const_iterator after) const {
  const Instant& a = *(after - 1);
  DelayCurve curve{after->now_s - a.now_s, delay_s(a), delay_s(*after)};
  curve.rate_before = delay_rate_near(after - 1, -1).value_or(curve.mean_rate());
  curve.rate_after = delay_rate_near(after, 1).value_or(curve.mean_rate());
  return curve;
}

double ShownHistory::DelayCurve::at(double u) const {
  const double bend_s =
      span_s * u * (1.0 - u) * ((rate_before - mean_rate()) * (1.0 - u) - (rate_after - mean_rate()) * u);
  return before_s + u * (after_s - before_s) + bend_s;
}

double ShownHistory::DelayCurve::largest_bend_s() const {
  return 0.25 * span_s * std::max(std::abs(rate_before - mean_rate()), std::abs(rate_after - mean_rate()));
}

// The rate at which the delay changes near an instant, s/s, from the reports before it (`direction` -1) or
// after it (1). Empty if there are too few. Times in reports are rounded, so this needs some time.
std::optional<double> ShownHistory::delay_rate_near(std::vector<Instant>::const_iterator at,
                                                    int direction) const {
  constexpr double kLeastS = 0.03;
  constexpr double kMostS = 0.15;
  constexpr double kFastest = 0.25;  // PlayoutClock changes no delay faster
  const auto end = direction < 0 ? instants_.begin() : instants_.end() - 1;
  for (auto other = at; other != end;) {
    other += direction;
    const double span_s = other->now_s - at->now_s;
    if (std::abs(span_s) > kMostS) break;
    if (std::abs(span_s) < kLeastS) continue;
    return std::clamp((delay_s(*other) - delay_s(*at)) / span_s, -kFastest, kFastest);
  }
  return std::nullopt;
}

// Notes that a frame contains another entity. The entity of the frame is then corrected gently, as on the
// client. The client began with that between the instants `from_s` and `shown_s`.
void ShownHistory::note_frame(const Motion& motion, double from_s, double shown_s) {
  if (!motion.frame) return;
  ShownEntityHistory* frame = find(entity_of(motion.frame));
  const double lever_m = glm::length(motion.state.position);
  if (frame == nullptr) {  // the client has the entity before its frame
    double& early_m = early_levers_m_[entity_of(motion.frame)];
    early_m = std::max(early_m, lever_m);
    return;
  }
  if (lever_m <= frame->lever_m()) return;
  if (frame->has_step_within(from_s, shown_s)) frame->doubt(from_s, shown_s, kLongestGentleS);
  frame->carry(shown_s, lever_m, converter());
}

// Gives a frame that has arrived the lever of the entities that arrived before it.
void ShownHistory::carry_early(EntityId frame, double shown_s) {
  const auto early = early_levers_m_.find(frame);
  if (early == early_levers_m_.end()) return;
  find(frame)->carry(shown_s, early->second, converter());
  early_levers_m_.erase(early);
}

void ShownHistory::note_owned_frame(const Motion& motion) {
  // The owner's motions are rounded, and not all are sent.
  constexpr double kRoundingFactor = 1.05;
  if (!motion.frame || instants_.empty()) return;
  const ShownEntityHistory* frame = find(entity_of(motion.frame));
  if (frame == nullptr || glm::length(motion.state.position) <= kRoundingFactor * frame->lever_m()) return;
  const double delay_s = instants_.back().now_s - instants_.back().shown_s;
  note_frame(motion, motion.time_s - delay_s - kOwnedWithinS, motion.time_s - delay_s);
}

std::optional<State> ShownHistory::frame_at(FrameId frame, const Moment& at, int most) const {
  if (!frame) return State{};
  ShownEntityHistory* const entity = find(entity_of(frame));
  return entity != nullptr && most > 0 ? in_world(*entity, at, most - 1) : std::nullopt;
}

std::optional<State> ShownHistory::in_world(ShownEntityHistory& entity, const Moment& at, int most) const {
  const auto converted = entity.is_framed() ? converter(most) : ShownEntityHistory::FrameConverter{};
  entity.refresh(frames_version_, converted);
  const auto shown = entity.foreseen(at.time_s, at.known_s, converted, at.error_s);
  if (!shown) return std::nullopt;
  if (!shown->frame) return shown->state;
  const auto frame = frame_at(shown->frame, at, most);
  if (!frame) return std::nullopt;
  return out_of_frame(*frame, shown->state);
}

std::optional<State> ShownHistory::shown(EntityId id, double shown_s) const {
  ShownEntityHistory* const entity = find(id);
  return entity != nullptr ? in_world(*entity, {shown_s, shown_s, error_s(shown_s)}, kMostConversions)
                           : std::nullopt;
}

void ShownHistory::shown(double shown_s, std::vector<SeenPose>& poses) const {
  const Moment moment{shown_s, shown_s, error_s(shown_s)};
  for (const auto& entity : entities_) {
    if (!entity) continue;
    if (const auto state = in_world(*entity, moment, kMostConversions))
      poses.push_back({entity->id(), state->pose()});
  }
}

}  // namespace reckoner
