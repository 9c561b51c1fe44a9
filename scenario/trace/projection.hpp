// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner::scenario {

/// A plane that touches the earth (WGS 84) at a point. Its error is below 0.1 % within 100 km, except near
/// the poles.
class TangentPlane {
 public:
  /// Degrees.
  TangentPlane(double latitude, double longitude);

  [[nodiscard]] double east_m(double longitude) const;
  [[nodiscard]] double north_m(double latitude) const;

 private:
  double latitude_;
  double longitude_;
  double east_per_degree_m_;
  double north_per_degree_m_;
};

}  // namespace reckoner::scenario
