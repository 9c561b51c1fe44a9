// SPDX-License-Identifier: MIT
#include <algorithm>

#include <reckoner/reckoning/remote_entity.hpp>

namespace reckoner {
namespace {

// Turns are corrected in a share of the time: what shows of a correction is how hard it accelerates, and one
// of the place does that to all that is drawn. Measured: docs/TUNING.md.
constexpr double kTurnShare = 2.0 / 3.0;

Blend correction(const State& shown, const State& motion, double time_s, double blend_s) {
  return {shown, motion, time_s, blend_s, kTurnShare};
}

}  // namespace

RemoteEntity::RemoteEntity(const Motion& first, Path path) : path_(path) {
  history_[0] = first;
  blends_.teleports = first.teleports;
}

RemoteEntity::RemoteEntity(std::span<const Motion> known, Path path, const ShownBlends& blends)
    : count_(std::min(known.size(), kHistory)), path_(path), blends_(blends) {
  const auto newest = known.last(count_);
  std::copy(newest.begin(), newest.end(), history_.begin());
}

bool RemoteEntity::receive(const Motion& motion, double shown_time_s, double blend_s, double holds_until_s) {
  const auto begin = history_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(count_);
  auto place = std::lower_bound(begin, end, motion.time_s,
                                [](const Motion& known, double time_s) { return known.time_s < time_s; });
  if (place != end && place->time_s == motion.time_s) return false;
  if (place == begin && count_ == kHistory) return false;

  const State base_before = view().unblended(shown_time_s);
  const std::optional<RouteState> along_before = view().shown_along(shown_time_s);
  const Route* const route_before = view().active(shown_time_s).route;
  const State shown_before = view().shown(shown_time_s);
  const std::uint8_t teleports_before = view().active(shown_time_s).teleports;
  if (count_ == kHistory) {
    std::move(begin + 1, place, begin);  // forgets the oldest
    --place;
  } else {
    std::move_backward(place, end, end + 1);
    ++count_;
  }
  *place = motion;
  blends_.holds_until_s = holds_until_s;

  if (view().active(shown_time_s).teleports != teleports_before) {
    blends_.along = {};
    start_blend(Blend{}, shown_time_s);
    return true;
  }
  if (along_before && view().stays_on(route_before, shown_time_s)) {
    blend_along(*along_before, shown_time_s, blend_s);
    return true;
  }
  blends_.along = {};
  const State base_after = view().unblended(shown_time_s);
  // A motion that lies ahead of what is shown, or came too late to matter, changes nothing at this instant:
  // a blend that is under way goes on.
  const bool same = base_after.position == base_before.position &&
                    base_after.velocity == base_before.velocity &&
                    base_after.orientation == base_before.orientation &&
                    base_after.angular_velocity == base_before.angular_velocity;
  if (!same) start_blend(correction(shown_before, base_after, shown_time_s, blend_s), shown_time_s);
  return true;
}

void RemoteEntity::hold_until(double holds_until_s, double time_s, double blend_s) {
  double& known_s = blends_.holds_until_s;
  const bool changes = time_s > std::min(holds_until_s, known_s) && holds_until_s != known_s;
  const Route* const on = changes ? route(time_s) : nullptr;
  if (on != nullptr && view().stays_on(on, time_s)) {
    const RouteState before = *view().shown_along(time_s);
    known_s = holds_until_s;
    start_blend(Blend{}, time_s);
    blend_along(before, time_s, blend_s);
    return;
  }
  const State before = shown(time_s);
  known_s = holds_until_s;
  if (changes) correct(before, time_s, blend_s);
}

void RemoteEntity::correct(const State& shown, double time_s, double blend_s) {
  start_blend(correction(shown, view().unblended(time_s), time_s, blend_s), time_s);
}

void RemoteEntity::jump(double before_s, double now_s, double rate, double blend_s) {
  const Route* const on = view().route(before_s);
  if (on != nullptr && view().stays_on(on, now_s)) {
    RouteState before = *view().shown_along(before_s);
    before.speed *= rate;
    start_blend(Blend{}, now_s);
    blend_along(before, now_s, blend_s);
    return;
  }
  State before = view().shown(before_s);
  before.velocity *= static_cast<float>(rate);
  before.angular_velocity *= static_cast<float>(rate);
  correct(before, now_s, blend_s);
}

void RemoteEntity::set_path(Path path, double time_s, double blend_s) {
  if (path == path_) return;
  const State before = view().shown(time_s);
  const std::uint8_t teleports_before = view().active(time_s).teleports;
  path_ = path;
  blends_.along = {};
  const bool jumped = view().active(time_s).teleports != teleports_before;
  start_blend(jumped ? Blend{} : correction(before, view().unblended(time_s), time_s, blend_s), time_s);
}

// Carries on from `shown_before` along the route. A blend in space that is under way goes on over it.
void RemoteEntity::blend_along(const RouteState& shown_before, double time_s, double blend_s) {
  const std::optional<RouteState> now = view().shown_along(time_s);
  if (now->distance == shown_before.distance && now->speed == shown_before.speed) return;
  if (view().active(time_s).teleports != blends_.teleports) start_blend(Blend{}, time_s);
  blends_.along =
      RouteBlend{*view().active(time_s).route, shown_before, *view().along(time_s), time_s, blend_s};
}

void RemoteEntity::start_blend(const Blend& blend, double time_s) {
  blends_.free = blend;
  blends_.teleports = view().active(time_s).teleports;
}

}  // namespace reckoner
