// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/route.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

// Decides how an entity gets from its shown pose onto its motion. RemoteEntity uses these functions, and both
// the client and the server (for what the client showed) use RemoteEntity.
//
//   ordinary blend  small corrections; takes BlendTime::blend_s
//   gentle blend    after a change of frame, and for entities that carry others; gentle_s()
//   chase           an ordinary blend would be faster than the top speed, and a chase arrives in time
//   catch-up        after a silence, a pause or a jump of time, or where a chase would not arrive in time
//   jump            a catch-up would be faster than jump_speed_mps()

/// The longest gentle blend, s.
inline constexpr double kLongestGentleS = 0.5;

/// True if `motion` begins so long after the shown time `shown_s` that the client's clock must be late. The
/// entity then hurries (ShownBlends::hurries_until_s).
[[nodiscard]] inline bool is_far_ahead(const Motion& motion, double shown_s, MotionPath path) {
  constexpr double kLongestDelayS = 2.25;  // of buffered modes, and some room
  const double usual_s = path == MotionPath::predict ? kExtrapolateBackS : kLongestDelayS;
  return shown_s < motion.time_s - usual_s;
}

/// Duration of a gentle blend, s. `lever_m` is the distance of other entities that use this entity as their
/// frame, m.
[[nodiscard]] double gentle_s(const State& from, const State& to, double lever_m);

/// A catch-up of the pose that was shown, `shown`, onto `base`, the state of the motion at `start_s`.
struct CatchUp {
  State shown;
  State base;
  double start_s = 0.0;
  double wanted_s = 0.0;   ///< BlendTime::behind_s; it takes longer if it would be too fast
  double moves_mps = 0.0;  ///< speed of the motion before or after, m/s
  double turn_share = 1.0;
};

/// Returns the blend of the catch-up; nullopt if the pose must jump. `motion` is the motion onto which the
/// entity catches up.
[[nodiscard]] std::optional<Blend> catch_up_blend(const CatchUp& catch_up, const Motion& motion);

/// As catch_up_blend(), but along the motion's route.
[[nodiscard]] std::optional<RouteBlend> catch_up_along(const RouteState& shown, const RouteState& base,
                                                       double start_s, double wanted_s, const Motion& motion);

}  // namespace reckoner
