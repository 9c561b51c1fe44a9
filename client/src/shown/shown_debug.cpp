// SPDX-License-Identifier: MIT
#include "client/src/shown/shown_debug.hpp"

#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

// Returns the time until all blends in progress at `shown_s` end, s.
double blend_left_s(const ShownBlends& blends, double shown_s) {
  double left_s = 0.0;
  for (const Blend* blend : {&blends.free, &blends.catch_up}) {
    const double end_s = blend->start_s() + blend->duration_s();
    if (!blend->over(shown_s)) left_s = std::max(left_s, end_s - std::max(shown_s, blend->start_s()));
  }
  for (const RouteBlend* blend : {&blends.along, &blends.catch_up_along}) {
    if (!blend->over(shown_s)) left_s = std::max(left_s, blend->end_s() - shown_s);
  }
  return left_s;
}

}  // namespace

std::optional<ShownDebug> debug_of(const KnownEntity& entity, const Frames& frames, double now_s,
                                   double shown_s) {
  const RemoteEntity& remote = entity.remote;
  const FrameId frame = remote.frame(shown_s);
  const auto shown = frames.converted(remote.shown(shown_s), frame, FrameId{}, shown_s);
  const auto motion = frames.converted(remote.unblended(shown_s), frame, FrameId{}, shown_s);
  if (!shown || !motion) return std::nullopt;

  ShownDebug debug{.id = entity.id, .shown = *shown, .motion = *motion};
  debug.shown_time_s = entity.owned ? now_s : shown_s;
  debug.motion_time_s = remote.newest().time_s;
  debug.age_s = entity.owned ? 0.0 : now_s - remote.newest().time_s;
  debug.blend_m = glm::distance(shown->position, motion->position);
  debug.blend_rad = angle_between(shown->orientation, motion->orientation);
  debug.blend_left_s = blend_left_s(remote.blends(), shown_s);
  debug.fading = !entity.owned && shown_s > remote.valid_until_s();
  debug.owned = entity.owned;
  debug.frame = entity_of(frame);
  return debug;
}

}  // namespace reckoner
