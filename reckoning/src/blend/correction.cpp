// SPDX-License-Identifier: MIT
#include "reckoning/src/blend/correction.hpp"

#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

// The acceleration of a gentle blend is at most 6 E0/T^2 + 4 E1/T. T is chosen so that this is kGentleMps2,
// which changes the velocity by 0.08 m/s per picture at 60 Hz. But T is at most kLongestGentleS.
constexpr double kGentleMps2 = 5.0;

// A game that never sets the top speed of an archetype gets a very high one (Archetype::max_speed_mps). Few
// bodies are faster than this.
constexpr double kMostUsualMps = 30.0;
constexpr double kTimesUsual = 3.0;

// The largest speed of a catch-up is looked for at this number of instants.
constexpr int kLooks = 16;

// Durations and shapes, from the one that looks best to the fastest.
struct Attempt {
  double duration_s;
  const BlendShape* shape;
};
std::array<Attempt, 3> attempts(double wanted_s) {
  return {Attempt{std::min(wanted_s, kLongestCatchUpS), &steady_blend()},
          Attempt{kLongestCatchUpS, &steady_blend()}, Attempt{kLongestCatchUpS, &brisk_blend()}};
}

glm::vec3 no_faster(const glm::vec3& velocity, double max_mps) {
  const double speed = glm::length(glm::dvec3{velocity});
  return speed > max_mps ? glm::vec3{glm::dvec3{velocity} * (max_mps / speed)} : velocity;
}

// The largest speed of a body that moves with the velocity of `base` and is blended.
double fastest_mps(const Blend& blend, const State& base) {
  double most = 0.0;
  for (int i = 1; i < kLooks; ++i) {
    const State shown = blend.apply(base, blend.start_s() + blend.duration_s() * i / kLooks);
    most = std::max(most, glm::length(glm::dvec3{shown.velocity}));
  }
  return most;
}

double fastest_mps(const RouteBlend& blend, const RouteState& base) {
  double most = 0.0;
  for (int i = 1; i < kLooks; ++i) {
    const RouteState shown = blend.apply(base, blend.end_s() - blend.duration_s() * i / kLooks);
    most = std::max(most, std::abs(shown.speed));
  }
  return most;
}

}  // namespace

double jump_speed_mps(const Motion& motion, double moves_mps) {
  return kTimesUsual * std::max(moves_mps, std::min<double>(motion.max_speed_mps, kMostUsualMps));
}

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

std::optional<Blend> catch_up_blend(const CatchUp& catch_up, const Motion& motion) {
  const double most_mps = jump_speed_mps(motion, catch_up.moves_mps);
  // A pose in the middle of a jump has the speed of the jump.
  State from = catch_up.shown;
  from.velocity = no_faster(from.velocity, 1.5 * most_mps);
  for (const Attempt& attempt : attempts(catch_up.wanted_s)) {
    const Blend blend{from,         catch_up.base, catch_up.start_s, attempt.duration_s, catch_up.turn_share,
                      attempt.shape};
    if (fastest_mps(blend, catch_up.base) <= most_mps) return blend;
  }
  return std::nullopt;
}

std::optional<RouteBlend> catch_up_along(const RouteState& shown, const RouteState& base, double start_s,
                                         double wanted_s, const Motion& motion) {
  const double most_mps = jump_speed_mps(motion, std::abs(base.speed));
  RouteState from = shown;
  from.speed = std::clamp(from.speed, -most_mps, most_mps);
  for (const Attempt& attempt : attempts(wanted_s)) {
    const RouteBlend blend{*motion.route, from, base, start_s, attempt.duration_s, attempt.shape};
    if (fastest_mps(blend, base) <= most_mps) return blend;
  }
  return std::nullopt;
}

}  // namespace reckoner
