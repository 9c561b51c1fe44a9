// SPDX-License-Identifier: MIT
#include <glm/geometric.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner {
namespace {

// Normalised in double precision, so that out_of_frame() and into_frame() are exact inverses of each other.
glm::dquat turn_of(const glm::quat& orientation) {
  return glm::normalize(glm::dquat{orientation});
}

}  // namespace

State out_of_frame(const State& frame, const State& local) {
  const glm::dquat turn = turn_of(frame.orientation);
  const glm::dvec3 rate{frame.angular_velocity};
  const glm::dvec3 arm = turn * local.position;
  const glm::dvec3 drift = turn * glm::dvec3{local.velocity};
  const glm::dvec3 swept = glm::cross(rate, arm);
  State out;
  out.position = frame.position + arm;
  out.velocity = glm::vec3{glm::dvec3{frame.velocity} + swept + drift};
  out.acceleration = glm::vec3{glm::dvec3{frame.acceleration} + glm::cross(rate, swept) +
                               2.0 * glm::cross(rate, drift) + turn * glm::dvec3{local.acceleration}};
  out.orientation = glm::quat{glm::normalize(turn * glm::dquat{local.orientation})};
  out.angular_velocity = glm::vec3{rate + turn * glm::dvec3{local.angular_velocity}};
  return out;
}

State into_frame(const State& frame, const State& outer) {
  const glm::dquat back = glm::conjugate(turn_of(frame.orientation));
  const glm::dvec3 rate{frame.angular_velocity};
  const glm::dvec3 arm = outer.position - frame.position;
  const glm::dvec3 swept = glm::cross(rate, arm);
  const glm::dvec3 drift = glm::dvec3{outer.velocity} - glm::dvec3{frame.velocity} - swept;
  State local;
  local.position = back * arm;
  local.velocity = glm::vec3{back * drift};
  local.acceleration = glm::vec3{back * (glm::dvec3{outer.acceleration} - glm::dvec3{frame.acceleration} -
                                         glm::cross(rate, swept) - 2.0 * glm::cross(rate, drift))};
  local.orientation = glm::quat{glm::normalize(back * glm::dquat{outer.orientation})};
  local.angular_velocity = glm::vec3{back * (glm::dvec3{outer.angular_velocity} - rate)};
  return local;
}

Pose out_of_frame(const Pose& frame, const Pose& local) {
  const glm::dquat turn = turn_of(frame.orientation);
  return {frame.position + turn * local.position,
          glm::quat{glm::normalize(turn * glm::dquat{local.orientation})}};
}

Pose into_frame(const Pose& frame, const Pose& outer) {
  const glm::dquat back = glm::conjugate(turn_of(frame.orientation));
  return {back * (outer.position - frame.position),
          glm::quat{glm::normalize(back * glm::dquat{outer.orientation})}};
}

}  // namespace reckoner
