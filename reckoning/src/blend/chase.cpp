// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <optional>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/blend.hpp>

namespace reckoner {
namespace {

// The time at which |v + a t| reaches `most`, s; infinity if it never does.
double reaches_s(const glm::dvec3& v, const glm::dvec3& a, double most) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const double a2 = glm::dot(a, a);
  if (!(a2 > 0.0)) return kNever;
  const double va = glm::dot(v, a);
  const double root = va * va + a2 * (most * most - glm::dot(v, v));
  return root > 0.0 ? std::max(0.0, (std::sqrt(root) - va) / a2) : 0.0;
}

// A cheap sufficient test: true if the body stays below `max_mps` for `span_s` seconds.
bool surely_slower(const State& state, double span_s, double max_mps) {
  const glm::dvec3 v{state.velocity};
  const glm::dvec3 a{state.acceleration};
  return 2.0 * (glm::dot(v, v) + glm::dot(a, a) * span_s * span_s) < max_mps * max_mps;
}

}  // namespace

Motion limited_to_top_speed(const Motion& motion, double valid_until_s, double time_s) {
  if (motion.route != nullptr || !std::isfinite(motion.max_speed_mps)) return motion;
  if (motion.never_reverses && is_braking(motion.state)) return motion;
  const double valid_until = std::max(valid_until_s, motion.time_s);
  // While the acceleration fades, the velocity lies between its values at the beginning and at the end of the
  // fade.
  const double until_s = time_s > valid_until ? valid_until + kFadeAccelerationS : time_s;
  const double span_s = until_s - motion.time_s;
  if (!(span_s > 0.0) || surely_slower(motion.state, span_s, motion.max_speed_mps)) return motion;
  const double reached_s = reaches_s(glm::dvec3{motion.state.velocity}, glm::dvec3{motion.state.acceleration},
                                     motion.max_speed_mps);
  if (reached_s >= span_s) return motion;
  Motion kept = motion;
  kept.time_s = std::min(motion.time_s + reached_s, valid_until);
  kept.state = state_at(motion, kept.time_s);
  kept.state.acceleration = glm::vec3{0.0f};
  return kept;
}

bool stays_within_limits(const Motion& motion, double span_s) {
  const glm::dvec3 p = glm::abs(motion.state.position);
  const double reach_m = (glm::length(glm::dvec3{motion.state.velocity}) +
                          glm::length(glm::dvec3{motion.state.acceleration}) * span_s) *
                         span_s;
  return (motion.state.acceleration == glm::vec3{0.0f} ||
          surely_slower(motion.state, span_s, motion.max_speed_mps)) &&
         std::max({p.x, p.y, p.z}) + reach_m <= motion.world_size_m;
}

std::optional<double> first_faster(const glm::dvec3& v0, const glm::dvec3& middle, const glm::dvec3& v1,
                                   double max_mps) {
  // The tolerance of 1e-6 allows for velocities in single precision.
  const double most2 = max_mps * max_mps * (1.0 + 1e-6);
  const auto slower = [most2](const glm::dvec3& v) { return glm::dot(v, v) <= most2; };
  const auto search = [&](auto& self, const glm::dvec3& a, const glm::dvec3& b, const glm::dvec3& c,
                          double from, double size, int depth) -> std::optional<double> {
    if (!slower(a)) return from;
    if (slower(b) && slower(c)) return std::nullopt;
    if (depth == 0) return from;
    const glm::dvec3 left = 0.5 * (a + b);
    const glm::dvec3 right = 0.5 * (b + c);
    const glm::dvec3 mid = 0.5 * (left + right);
    if (const auto found = self(self, a, left, mid, from, 0.5 * size, depth - 1)) return found;
    return self(self, mid, right, c, from + 0.5 * size, 0.5 * size, depth - 1);
  };
  constexpr int kDepth = 10;
  return search(search, v0, middle, v1, 0.0, 1.0, kDepth);
}

glm::dvec3 Chase::velocity_towards(const State& target, const Point& from, double step_s, double max_mps) {
  const glm::dvec3 end{target.velocity};
  const glm::dvec3 off = target.position - from.position - (from.velocity + end) * (0.5 * step_s);
  const glm::dvec3 wanted = end + off / std::max(kTimeConstantS, step_s);
  const double speed = glm::length(wanted);
  return speed > max_mps ? wanted * (max_mps / speed) : wanted;
}

}  // namespace reckoner
