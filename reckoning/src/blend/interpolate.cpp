// SPDX-License-Identifier: MIT
#include "reckoning/src/blend/interpolate.hpp"

#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

// A time between two motions: the time from the first motion to the second, s, and the share u of it that has
// passed, 0 to 1.
struct Between {
  double duration_s;
  double u;
};

Between place(const Motion& from, const Motion& to, double time_s) {
  const double duration_s = to.time_s - from.time_s;
  return {duration_s, (time_s - from.time_s) / duration_s};
}

CubicPiece<glm::dvec3> path(const State& from, const State& to, double duration_s) {
  return hermite_piece(from.position, to.position, glm::dvec3{from.velocity} * duration_s,
                       glm::dvec3{to.velocity} * duration_s);
}

// At u = 1 the second derivative of u^2 (1 - u)^2 is 2. So b is half of the difference between the wanted
// second derivative and the second derivative of the cubic.
glm::dvec3 bend(const CubicPiece<glm::dvec3>& cubic, const Motion& from, const Motion& to,
                double duration_s) {
  if (!bends(from, to)) return glm::dvec3{0.0};
  return 0.5 * (glm::dvec3{to.state.acceleration} * (duration_s * duration_s) - cubic.second_derivative(1.0));
}

}  // namespace

CurveStarts curve_starts(const Motion& from, const Motion& to) {
  // Over a shorter time, rounding errors of position and velocity would decide.
  constexpr double kShortestS = 1.0 / 30.0;
  // A change within a larger share of the gap is not sudden, and the whole curve is better: with constant
  // jerk the formula gives two thirds, although the motion changed all the time.
  constexpr double kSudden = 0.35;
  // The sender notices a change and sends its motion within this time. Meanwhile the error grows.
  constexpr double kNoticedS = 0.05;
  const double gap_s = to.time_s - from.time_s;
  if (!(gap_s > static_cast<double>(from.quiet.gap_s)) || bends(from, to)) return {from.time_s, from.time_s};
  const State expected = state_at(from, to.time_s);
  const auto start = [&](double off, double rate_off, double promised) {
    const double span_s = std::max(kShortestS, 2.0 * off / rate_off);  // not finite without a change of rate
    const bool held = off <= 2.0 * promised + rate_off * kNoticedS;
    return held && span_s < kSudden * gap_s ? to.time_s - span_s : from.time_s;
  };
  return {start(glm::distance(expected.position, to.state.position),
                glm::distance(glm::dvec3{expected.velocity}, glm::dvec3{to.state.velocity}),
                static_cast<double>(from.quiet.error_m)),
          start(angle_between(expected.orientation, to.state.orientation),
                glm::distance(glm::dvec3{expected.angular_velocity}, glm::dvec3{to.state.angular_velocity}),
                static_cast<double>(from.quiet.error_rad))};
}

State interpolate_gap(const Motion& from, const Motion& to, double time_s) {
  const CurveStarts starts = curve_starts(from, to);
  if (starts.position_s == from.time_s && starts.orientation_s == from.time_s)
    return interpolate(from, to, time_s);
  // The state whose curve begins at `start_s`.
  const auto since = [&](double start_s) {
    if (time_s < start_s || start_s >= to.time_s) return state_at(from, time_s);
    Motion start = from;
    start.state = state_at(from, start_s);
    start.time_s = start_s;
    return interpolate(start, to, time_s);
  };
  State out = since(starts.position_s);
  const State turned = since(starts.orientation_s);
  out.orientation = turned.orientation;
  out.angular_velocity = turned.angular_velocity;
  return out;
}

State interpolate(const Motion& from, const Motion& to, double time_s) {
  const Between at = place(from, to, time_s);
  const CubicPiece<glm::dvec3> positions = path(from.state, to.state, at.duration_s);
  State out;
  const glm::dvec3 b = bend(positions, from, to, at.duration_s);
  out.position = positions.position(at.u) + b * bend_share(at.u);
  const double slope = 2.0 * at.u * (1.0 - at.u) * (1.0 - 2.0 * at.u);  // derivative of bend_share()
  out.velocity = glm::vec3{(positions.derivative(at.u) + b * slope) / at.duration_s};

  const glm::dquat start{from.state.orientation};
  const glm::dvec3 whole =
      rotation_log(glm::normalize(glm::dquat{to.state.orientation} * glm::conjugate(start)));
  const glm::dvec3 end_rate = angular_velocity_to_rotation_rate(whole, glm::dvec3{to.state.angular_velocity});
  const CubicPiece<glm::dvec3> turns =
      hermite_piece(glm::dvec3{0.0}, whole, glm::dvec3{from.state.angular_velocity} * at.duration_s,
                    end_rate * at.duration_s);
  const glm::dvec3 turn = turns.position(at.u);
  out.orientation = glm::quat{glm::normalize(rotation_exp(turn) * start)};
  out.angular_velocity =
      glm::vec3{rotation_rate_to_angular_velocity(turn, turns.derivative(at.u) / at.duration_s)};
  return out;
}

glm::dvec3 interpolate_position(const Motion& from, const Motion& to, double time_s) {
  const Between at = place(from, to, time_s);
  const CubicPiece<glm::dvec3> positions = path(from.state, to.state, at.duration_s);
  return positions.position(at.u) + bend(positions, from, to, at.duration_s) * bend_share(at.u);
}

glm::dvec3 bending_acceleration(const Motion& from, const Motion& to, const glm::dvec3& b) {
  const double duration_s = to.time_s - from.time_s;
  const glm::dvec3 cubic = path(from.state, to.state, duration_s).second_derivative(1.0);
  return (cubic + 2.0 * b) / (duration_s * duration_s);
}

}  // namespace reckoner
