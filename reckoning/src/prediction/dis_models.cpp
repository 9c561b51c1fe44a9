// SPDX-License-Identifier: MIT
#include "reckoning/src/prediction/dis_models.hpp"

#include "reckoning/src/motion/portable_math.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

constexpr std::array<std::string_view, 9> kNames{"static", "fpw", "rpw", "rvw", "fvw",
                                                 "fpb",    "rpb", "rvb", "fvb"};

// Above this angle, rad, cancellation in the closed forms is harmless; below it, the series converge fast.
constexpr double kSeriesBelow = 1.0;

// The sum of a series over n = 0, 2, 4, ... The first term is 1/factorial. The term of n + 2 is the term of n
// times -x / ((n+a)(n+a+1)). If `weight` is above 0, each term is also divided by n + weight, because 1/(n +
// weight) is the integral of s^(n+weight-1) from 0 to 1.
double series(double x, double factorial, int a, int weight) {
  double term = 1.0 / factorial;
  double sum = 0.0;
  for (int n = 0; n < 20; n += 2) {
    sum += weight > 0 ? term / (n + weight) : term;
    term *= -x / static_cast<double>((n + a) * (n + a + 1));
  }
  return sum;
}

struct Coefficients {
  double c1;  // factor of [w]x
  double c2;  // factor of [w]x squared
};

// (1 - cos q)/q^2 and (q - sin q)/q^3.
Coefficients r1_coefficients(double q) {
  if (std::abs(q) < kSeriesBelow) return {series(q * q, 2.0, 3, 0), series(q * q, 6.0, 4, 0)};
  return {(1.0 - portable::cos(q)) / (q * q), (q - portable::sin(q)) / (q * q * q)};
}

// (sin q - q cos q)/q^3 and (q^2/2 - cos q - q sin q + 1)/q^4.
Coefficients r2_coefficients(double q) {
  if (std::abs(q) < kSeriesBelow) return {series(q * q, 1.0, 2, 3), series(q * q, 2.0, 3, 4)};
  const double sine = portable::sin(q);
  const double cosine = portable::cos(q);
  return {(sine - q * cosine) / (q * q * q), (0.5 * q * q - cosine - q * sine + 1.0) / (q * q * q * q)};
}

glm::dquat unit(const glm::dquat& q) {
  const double norm = std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  if (!(norm > 0.0)) return {1.0, 0.0, 0.0, 0.0};
  return {q.w / norm, q.x / norm, q.y / norm, q.z / norm};
}

}  // namespace

std::string_view name_of(DeadReckoningModel model) {
  const auto index = static_cast<std::size_t>(model) - 1;
  return index < kNames.size() ? kNames[index] : std::string_view{"unknown"};
}

std::optional<DeadReckoningModel> dead_reckoning_model(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<DeadReckoningModel>(found - kNames.begin() + 1);
}

glm::dquat orientation_of(const EulerAngles& angles) {
  const double y = 0.5 * angles.psi;
  const double p = 0.5 * angles.theta;
  const double r = 0.5 * angles.phi;
  return glm::dquat(portable::cos(y), 0.0, 0.0, portable::sin(y)) *
         glm::dquat(portable::cos(p), 0.0, portable::sin(p), 0.0) *
         glm::dquat(portable::cos(r), portable::sin(r), 0.0, 0.0);
}

EulerAngles euler_angles_of(const glm::dquat& q) {
  // xx, xy, xz: the body's x axis in world axes. yz, zz: the components of the body's y and z axes along the
  // world's z axis.
  const double xx = 1.0 - 2.0 * (q.y * q.y + q.z * q.z);
  const double xy = 2.0 * (q.x * q.y + q.w * q.z);
  const double xz = 2.0 * (q.x * q.z - q.w * q.y);
  const double yz = 2.0 * (q.y * q.z + q.w * q.x);
  const double zz = 1.0 - 2.0 * (q.x * q.x + q.y * q.y);
  const double horizontal = portable::hypot(xx, xy);
  const double theta = portable::atan2(-xz, horizontal);
  if (horizontal < 1e-9) {
    return {portable::atan2(-2.0 * (q.x * q.y - q.w * q.z), 1.0 - 2.0 * (q.x * q.x + q.z * q.z)), theta, 0.0};
  }
  return {portable::atan2(xy, xx), theta, portable::atan2(yz, zz)};
}

glm::dvec3 dis_r1(const glm::dvec3& w, double t, const glm::dvec3& v) {
  const auto [c1, c2] = r1_coefficients(glm::length(w) * t);
  const glm::dvec3 turned = glm::cross(w, v);
  return t * (v + t * (c1 * turned + t * c2 * glm::cross(w, turned)));
}

glm::dvec3 dis_r2(const glm::dvec3& w, double t, const glm::dvec3& a) {
  const auto [c1, c2] = r2_coefficients(glm::length(w) * t);
  const glm::dvec3 turned = glm::cross(w, a);
  return t * t * (0.5 * a + t * (c1 * turned + t * c2 * glm::cross(w, turned)));
}

DisState extrapolate(DeadReckoningModel model, const DisState& state, double dt_s) {
  DisState out = state;
  out.orientation = unit(state.orientation);
  if (!uses_velocity(model)) return out;

  const glm::dvec3 w = uses_angular_velocity(model) ? state.angular_velocity : glm::dvec3(0.0);
  const glm::dvec3 a = uses_acceleration(model) ? state.acceleration : glm::dvec3(0.0);
  if (in_body_axes(model)) {
    out.position += out.orientation * (dis_r1(w, dt_s, state.velocity) + dis_r2(w, dt_s, a));
  } else {
    out.position += dt_s * (state.velocity + 0.5 * dt_s * a);
  }
  out.velocity += dt_s * a;
  // The rate is about the body's own axes, so the rotation is applied before the old orientation.
  if (uses_angular_velocity(model)) out.orientation = unit(out.orientation * rotation_exp(w * dt_s));
  return out;
}

State to_state(DeadReckoningModel model, const DisState& state) {
  State out;
  const glm::dquat q = unit(state.orientation);
  out.position = state.position;
  out.orientation = glm::quat(q);
  if (!uses_velocity(model)) return out;

  const glm::dvec3 w = uses_angular_velocity(model) ? state.angular_velocity : glm::dvec3(0.0);
  const glm::dvec3 a = uses_acceleration(model) ? state.acceleration : glm::dvec3(0.0);
  if (in_body_axes(model)) {
    out.velocity = glm::vec3(q * state.velocity);
    out.acceleration = glm::vec3(q * (a + glm::cross(w, state.velocity)));
  } else {
    out.velocity = glm::vec3(state.velocity);
    out.acceleration = glm::vec3(a);
  }
  out.angular_velocity = glm::vec3(q * w);
  return out;
}

State dead_reckon(DeadReckoningModel model, const DisState& state, double dt_s) {
  return to_state(model, extrapolate(model, state, dt_s));
}

}  // namespace reckoner
