// SPDX-License-Identifier: MIT
#include "client/src/prediction/error_fade.hpp"

#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>

#include <glm/geometric.hpp>

namespace reckoner {

void ErrorFade::begin(const State& shown, const State& path, double time_s, double most_m,
                      double duration_s) {
  begin_s_ = time_s;
  position_m_ = shown.position - path.position;
  velocity_mps_ = glm::dvec3(shown.velocity) - glm::dvec3(path.velocity);
  rotation_rad_ = rotation_log(glm::dquat(shown.orientation) * glm::conjugate(glm::dquat(path.orientation)));
  rotation_rps_ = glm::dvec3(shown.angular_velocity) - glm::dvec3(path.angular_velocity);
  const double error_m = glm::length(position_m_);
  duration_s_ = error_m <= most_m ? duration_s * kLongM / std::max(kLongM, error_m) : 0.0;
}

ErrorFade::Shares ErrorFade::shares(double time_s) const {
  if (duration_s_ <= 0.0 || time_s >= begin_s_ + duration_s_) return {};
  const double u = std::max(0.0, time_s - begin_s_) / duration_s_;
  const double left = 1.0 - u;
  return {left * left * (1.0 + 2.0 * u), duration_s_ * u * left * left, -6.0 * u * left / duration_s_,
          left * (1.0 - 3.0 * u)};
}

State ErrorFade::apply(const State& path, double time_s) const {
  const Shares s = shares(time_s);
  if (s.of_error == 0.0 && s.of_rate == 0.0) return path;
  State shown = path;
  shown.position += s.of_error * position_m_ + s.of_rate * velocity_mps_;
  shown.velocity += glm::vec3(s.of_error_rate * position_m_ + s.of_rate_rate * velocity_mps_);
  const glm::dvec3 turned = s.of_error * rotation_rad_ + s.of_rate * rotation_rps_;
  shown.orientation = glm::quat(glm::normalize(rotation_exp(turned) * glm::dquat(path.orientation)));
  shown.angular_velocity += glm::vec3(s.of_error_rate * rotation_rad_ + s.of_rate_rate * rotation_rps_);
  return shown;
}

double ErrorFade::error_m(double time_s) const {
  const Shares s = shares(time_s);
  return glm::length(s.of_error * position_m_ + s.of_rate * velocity_mps_);
}

}  // namespace reckoner
