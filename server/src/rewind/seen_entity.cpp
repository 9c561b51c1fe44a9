// SPDX-License-Identifier: MIT
#include "server/src/rewind/seen_entity.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <reckoner/reckoning/remote_entity.hpp>

namespace reckoner {

SeenEntity::SeenEntity(EntityId id, const Motion& first, Path path)
    : id_(id), path_(path), first_s_(first.time_s) {
  shown_s_.push_back(-kNever);
  steps_.push_back({first, RemoteEntity{first, path}.blends()});
}

void SeenEntity::appear(double shown_s) {
  appear_s_ = path_ == Path::interpolate ? std::max(shown_s, first_s_) : shown_s;
}

double SeenEntity::newest_s() const {
  double newest_s = -kNever;
  for (const Step& step : steps_)
    newest_s = std::max(newest_s, step.motion.time_s);
  return newest_s;
}

std::size_t SeenEntity::step_at(double shown_s) const {
  // Callers mostly ask for a recent instant, so search from the end.
  std::size_t i = shown_s_.size() - 1;
  while (i > 0 && shown_s_[i] > shown_s)
    --i;
  return i;
}

void SeenEntity::add(double shown_s, const Motion& motion, double blend_s, double keep_s,
                     const Carry& carry) {
  const bool known = std::any_of(steps_.begin(), steps_.end(),
                                 [&](const Step& s) { return s.motion.time_s == motion.time_s; });
  if (known) return;
  const std::size_t earliest = shown_s_.size() - std::min(shown_s_.size(), kMostReplayed);
  const std::size_t place = std::max(step_at(shown_s), earliest) + 1;
  shown_s = std::max(shown_s, shown_s_[place - 1]);
  const auto offset = static_cast<std::ptrdiff_t>(place);
  // An entity that was not shown yet has no pose to blend from.
  const bool blends = appeared() && shown_s >= appear_s_;
  shown_s_.insert(shown_s_.begin() + offset, shown_s);
  steps_.insert(steps_.begin() + offset, {motion, {}, blends ? blend_s : 0.0});
  replay_from(place, carry);
  forget_before(shown_s_.back() - keep_s);
  while (steps_.size() > kMostSteps)
    forget_oldest();
}

// Returns the motions known before a step, sorted by time stamp.
std::vector<Motion> SeenEntity::known_before(std::size_t step) const {
  std::vector<Motion> known;
  for (std::size_t i = 0; i < step; ++i)
    known.push_back(steps_[i].motion);
  const auto earlier = [](const Motion& a, const Motion& b) { return a.time_s < b.time_s; };
  std::sort(known.begin(), known.end(), earlier);
  return known;
}

// Recomputes the blends of this step and of all later ones with the client's own code.
void SeenEntity::replay_from(std::size_t step, const Carry& carry) {
  RemoteEntity entity{known_before(step), path_, steps_[step - 1].blends};
  for (std::size_t i = step; i < steps_.size(); ++i) {
    const Motion& motion = steps_[i].motion;
    const FrameId frame = entity.frame(shown_s_[i]);
    std::optional<State> shown;
    if (carry && motion.frame != frame && steps_[i].blend_s > 0.0)
      shown = carry(entity.shown(shown_s_[i]), frame, motion.frame, shown_s_[i]);
    (void)entity.receive(motion, shown_s_[i], steps_[i].blend_s, kHoldsForever, shown);
    steps_[i].blends = entity.blends();
  }
}

void SeenEntity::carry(double lever_m) {
  for (Step& step : steps_) {
    step.blends.gentle_until_s = kNever;
    step.blends.lever_m = std::max(step.blends.lever_m, lever_m);
  }
}

// The newest of the dropped motions stays, because the entity was shown from it.
void SeenEntity::forget_before(double shown_s) {
  while (steps_.size() > 1 && shown_s_[1] < shown_s) {
    const double newer_s = std::max(steps_[0].motion.time_s, steps_[1].motion.time_s);
    if (path_ == Path::interpolate && newer_s > shown_s) return;
    forget_oldest();
  }
}

void SeenEntity::forget_oldest() {
  const Motion& first = steps_[0].motion;
  Motion& second = steps_[1].motion;
  if (second.time_s < first.time_s) second = first;
  steps_.erase(steps_.begin());
  shown_s_.erase(shown_s_.begin());
}

void SeenEntity::restart(Path path, double shown_s) {
  path_ = path;
  std::sort(steps_.begin(), steps_.end(),
            [](const Step& a, const Step& b) { return a.motion.time_s < b.motion.time_s; });
  std::fill(shown_s_.begin(), shown_s_.end(), -kNever);
  for (Step& step : steps_)
    step.blends = {.teleports = step.motion.teleports,
                   .frame = step.motion.frame,
                   .gentle_until_s = step.blends.gentle_until_s,
                   .lever_m = step.blends.lever_m};
  if (appeared()) appear(shown_s);
}

std::optional<SeenEntity::InFrame> SeenEntity::shown(double shown_s) const {
  if (!(shown_s >= appear_s_)) return std::nullopt;
  const std::size_t last = step_at(shown_s);
  const ShownBlends& blends = steps_[last].blends;
  // The pose depends on at most two of the motions known by then: the newest one, or the shown one and the
  // next.
  const Motion* from = nullptr;
  const Motion* to = nullptr;
  for (std::size_t i = 0; i <= last; ++i) {
    const Motion& motion = steps_[i].motion;
    if (path_ == Path::predict || motion.time_s <= shown_s) {
      if (from == nullptr || motion.time_s > from->time_s) from = &motion;
    } else if (to == nullptr || motion.time_s < to->time_s) {
      to = &motion;
    }
  }
  if (from == nullptr) std::swap(from, to);
  // a chase depends on the earlier motions, too
  if (path_ == Path::interpolate && blends.chase.start_s <= shown_s) {
    const std::vector<Motion> known = known_before(last + 1);
    return InFrame{ShownMotions{known, path_, blends}.shown(shown_s), from->frame};
  }
  if (to == nullptr) return InFrame{ShownMotions{{from, 1}, path_, blends}.shown(shown_s), from->frame};
  const std::array<Motion, 2> pair{*from, *to};
  return InFrame{ShownMotions{pair, path_, blends}.shown(shown_s), from->frame};
}

}  // namespace reckoner
