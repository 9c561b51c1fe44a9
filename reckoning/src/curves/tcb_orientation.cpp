// SPDX-License-Identifier: MIT
#include "tcb_keys.hpp"

#include <reckoner/reckoning/curves/tcb_orientation.hpp>
#include <reckoner/reckoning/rotation.hpp>

namespace reckoner {
namespace {

struct Weights {
  double b1, b2, b3;
};

// Cumulative Bernstein polynomials of degree 3, and their derivatives.
Weights weights(double u) {
  const double r = 1.0 - u;
  return {1.0 - r * r * r, u * u * (3.0 - 2.0 * u), u * u * u};
}
Weights weight_rates(double u) {
  const double r = 1.0 - u;
  return {3.0 * r * r, 6.0 * u * r, 3.0 * u * u};
}

}  // namespace

Result<OrientationSpline> OrientationSpline::make(std::span<const OrientationKey> keys) {
  if (std::string error = tcb_keys::error(keys); !error.empty()) return Error{std::move(error)};
  std::vector<glm::dquat> orientations;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const glm::dquat& q = keys[i].orientation;
    const double norm = std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!std::isfinite(norm) || !(norm > kSamePoint)) {
      return Error{"key " + std::to_string(i) + ": orientation is zero or not finite"};
    }
    orientations.emplace_back(q.w / norm, q.x / norm, q.y / norm, q.z / norm);
  }

  std::vector<glm::dvec3> steps;
  std::vector<double> durations;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    steps.push_back(rotation_log(glm::conjugate(orientations[i]) * orientations[i + 1]));
    durations.push_back(keys[i + 1].time - keys[i].time);
  }
  const auto tangents = tcb_keys::tangents(keys, steps, durations);

  OrientationSpline out;
  out.start_ = keys.front().time;
  out.end_ = keys.back().time;
  out.last_ = orientations.back();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Segment s;
    s.start = keys[i].time;
    s.duration = durations[i];
    s.easing = Easing(keys[i].ease_from, keys[i + 1].ease_to);
    s.from = orientations[i];
    s.w1 = tangents[i].leaves / 3.0;
    s.w3 = tangents[i].arrives / 3.0;
    // What is left of the step once the first and last part are taken off.
    s.w2 = rotation_log(rotation_exp(-s.w1) * rotation_exp(steps[i]) * rotation_exp(-s.w3));
    out.segments_.push_back(s);
  }
  return out;
}

OrientationSpline::Place OrientationSpline::locate(double time) const {
  if (!(time > start_)) return {&segments_.front(), 0.0};
  if (time >= end_) return {&segments_.back(), 1.0};
  const auto after = std::upper_bound(segments_.begin(), segments_.end(), time,
                                      [](double t, const Segment& s) { return t < s.start; });
  const Segment& segment = *(after - 1);
  return {&segment, (time - segment.start) / segment.duration};
}

glm::dquat OrientationSpline::orientation(double time) const {
  if (segments_.empty() || time >= end_) return last_;
  const auto [segment, u] = locate(time);
  const Weights b = weights(segment->easing.value(u));
  return glm::normalize(segment->from * rotation_exp(segment->w1 * b.b1) * rotation_exp(segment->w2 * b.b2) *
                        rotation_exp(segment->w3 * b.b3));
}

glm::dvec3 OrientationSpline::angular_velocity(double time) const {
  if (segments_.empty()) return glm::dvec3(0.0);
  const auto [segment, u] = locate(time);
  const double e = segment->easing.value(u);
  const Weights b = weights(e);
  const Weights rate = weight_rates(e);
  // Each factor turns about its own fixed axis; bring the three axes into the world by the factors to their
  // left.
  const glm::dquat q1 = segment->from * rotation_exp(segment->w1 * b.b1);
  const glm::dquat q2 = q1 * rotation_exp(segment->w2 * b.b2);
  const glm::dvec3 w = q1 * (segment->w1 * rate.b1) + q2 * (segment->w2 * rate.b2) +
                       q2 * (rotation_exp(segment->w3 * b.b3) * (segment->w3 * rate.b3));
  return w * (segment->easing.rate(u) / segment->duration);
}

}  // namespace reckoner
