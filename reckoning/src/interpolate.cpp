// SPDX-License-Identifier: MIT
#include <reckoner/reckoning/curves/cubic_path.hpp>
#include <reckoner/reckoning/interpolate.hpp>
#include <reckoner/reckoning/rotation.hpp>

namespace reckoner {
namespace {

// A time between two motions.
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

}  // namespace

State interpolate(const Motion& from, const Motion& to, double time_s) {
  const Between at = place(from, to, time_s);
  const CubicPiece<glm::dvec3> positions = path(from.state, to.state, at.duration_s);
  State out;
  out.position = positions.position(at.u);
  out.velocity = glm::vec3{positions.derivative(at.u) / at.duration_s};

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
  return path(from.state, to.state, at.duration_s).position(at.u);
}

}  // namespace reckoner
