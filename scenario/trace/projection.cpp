// SPDX-License-Identifier: MIT
#include "scenario/trace/projection.hpp"

#include <cmath>

namespace reckoner::scenario {
namespace {

constexpr double kRadiusM = 6'378'137.0;  // WGS 84
constexpr double kEccentricity2 = 0.00669437999014;
constexpr double kDegree = 0.017453292519943295;

}  // namespace

TangentPlane::TangentPlane(double latitude, double longitude) : latitude_(latitude), longitude_(longitude) {
  const double sine = std::sin(latitude * kDegree);
  const double flat = 1.0 - kEccentricity2 * sine * sine;
  const double across_m = kRadiusM / std::sqrt(flat);
  east_per_degree_m_ = across_m * std::cos(latitude * kDegree) * kDegree;
  north_per_degree_m_ = across_m * (1.0 - kEccentricity2) / flat * kDegree;
}

double TangentPlane::east_m(double longitude) const {
  return std::remainder(longitude - longitude_, 360.0) * east_per_degree_m_;
}

double TangentPlane::north_m(double latitude) const {
  return (latitude - latitude_) * north_per_degree_m_;
}

}  // namespace reckoner::scenario
