// SPDX-License-Identifier: MIT
#include "reckoning/src/blend/interpolate.hpp"

#include "reckoning/src/motion/rotation.hpp"

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
