// SPDX-License-Identifier: MIT
#include "client/src/world/motion_blender.hpp"

#include "net/src/messages/datagram.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner {
namespace {

// A predicted entity without valid motions catches up within this time when updates arrive again, s, or
// within the time of an ordinary blend if that is longer. A slower catch-up leaves more error
// (docs/TUNING.md).
constexpr double kCatchUpAfterSilenceS = 0.14;

}  // namespace

double MotionBlender::applied_s() const {
  const double shown_s = playout_.shown_s();
  return showing_.wanted() ? ShowingReport::time_of(ShowingReport::units(shown_s)) : shown_s;
}

bool MotionBlender::blend_onto(KnownEntity& entity, const Motion& motion) {
  const RemoteEntity& remote = entity.remote;
  const bool shows = playout_.started();
  const double shown_s = shows ? applied_s() : remote.oldest().time_s;
  const bool interpolates = playout_.path() == MotionPath::interpolate;
  const double longest_s = interpolates ? kLongestCatchUpS : kCatchUpAfterSilenceS;
  const double behind_s = std::clamp(shown_s - remote.valid_until_s(), 0.0, longest_s);
  BlendTime blend{playout_.blend_s(), behind_s};
  blend.hurries = shows && fades_.limit().has_stalled(playout_.now_s());
  const double valid_until_s = fades_.limit().of(std::max(motion.time_s, remote.newest().time_s));
  const double limit_s = shows && shown_s > valid_until_s ? valid_until_s : kAlwaysValid;
  // An entity that was not shown yet has no pose to blend from. It counts as shown since its arrival or, in a
  // buffered mode, since its first motion: the server knows these times, but not the times of pictures
  // (lag compensation).
  const double first_s = interpolates ? entity.spawned_s : entity.appeared_s;
  // While a prediction is shown, no blend is: the end of the prediction begins one.
  const bool was_shown = shows && !entity.prediction_shown && shown_s > std::max(entity.appeared_s, first_s);
  if (!frames_.receive(entity, motion, shown_s, was_shown ? blend : BlendTime{0.0}, limit_s)) return false;
  fades_.note_limit(limit_s);
  // The server does not know of stalls, silences and pauses.
  const Blend& catch_up = remote.blends().catch_up;
  const bool begins = catch_up.duration_s() > 0.0 && catch_up.start_s() == shown_s;
  const bool catches_up = begins || remote.jumped_s() == shown_s;
  if (catches_up) showing_.note_jump();
  if (motion.teleports != entity.teleports_reported || has_jumped(entity)) events_.note_news(entity);
  return true;
}

}  // namespace reckoner
