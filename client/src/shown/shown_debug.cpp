// SPDX-License-Identifier: MIT
#include "client/src/shown/shown_debug.hpp"

#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

// How long what is being blended at `shown_s` goes on.
double blend_left_s(const ShownBlends& blends, double shown_s) {
  double left_s = 0.0;
  if (!blends.free.over(shown_s))
    left_s = blends.free.start_s() + blends.free.duration_s() - std::max(shown_s, blends.free.start_s());
  if (!blends.along.over(shown_s)) left_s = std::max(left_s, blends.along.end_s() - shown_s);
  return left_s;
}

}  // namespace

std::optional<ShownDebug> debug_of(const KnownEntity& entity, const Frames& frames, double now_s,
                                   double shown_s) {
  const RemoteEntity& remote = entity.remote;
  const FrameId frame = remote.frame(shown_s);
  const auto shown = frames.carried(remote.shown(shown_s), frame, FrameId{}, shown_s);
  const auto motion = frames.carried(remote.unblended(shown_s), frame, FrameId{}, shown_s);
  if (!shown || !motion) return std::nullopt;

  ShownDebug debug{.id = entity.id, .shown = *shown, .motion = *motion};
  debug.shown_time_s = entity.owned ? now_s : shown_s;
  debug.motion_time_s = remote.newest().time_s;
  debug.age_s = entity.owned ? 0.0 : now_s - remote.newest().time_s;
  debug.blend_m = glm::distance(shown->position, motion->position);
  debug.blend_rad = angle_between(shown->orientation, motion->orientation);
  debug.blend_left_s = blend_left_s(remote.blends(), shown_s);
  debug.fading = !entity.owned && shown_s > remote.holds_until_s();
  debug.owned = entity.owned;
  debug.frame = entity_of(frame);
  return debug;
}

}  // namespace reckoner
