// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"
#include "harness/metrics/metrics.hpp"
#include "scenario/source.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/reckoning/route.hpp>

namespace reckoner::harness {

/// The bits of all updates in a run, without datagram headers. They are divided by how the server published
/// the entity.
struct RouteTraffic {
  std::uint64_t route_bits = 0;  ///< bits of entities that were published on a route
  std::uint64_t free_bits = 0;
};

/// The figures of entities that follow routes. The truth decides whether an entity is on its route; times off
/// the route (excursions) count separately. Errors and distances leave out the first 2 s of the run. Times
/// and traffic do not.
struct RouteFigures {
  double route_s = 0.0;      ///< entity-seconds in which the truth was on a route
  double excursion_s = 0.0;  ///< entity-seconds of these entities off their routes
  RouteTraffic traffic;
  Distribution route_now_error_m;
  Distribution excursion_now_error_m;
  /// Distance between the shown pose and the curve of the route. It includes only entities that have been on
  /// their route for 2 s: by then, the client has repaired and blended out any loss at their return to the
  /// route.
  Distribution route_curve_distance_m;
};

/// Measures shown pictures of a source with routes. Call frame() for every picture in the order of time.
/// `truth` must outlive it.
class RouteMetrics {
 public:
  RouteMetrics(const scenario::Source& truth, double start_s, double frame_rate_hz);

  void frame(double time_s, std::span<const ShownPose> shown);

  /// The figures, without traffic.
  [[nodiscard]] RouteFigures figures() const;

 private:
  const scenario::Source* truth_;
  double start_s_;
  double frame_s_;
  std::vector<Route> routes_;
  std::vector<double> left_s_;  // for each entity: the last time at which it was off its route
  double route_s_ = 0.0;
  double excursion_s_ = 0.0;
  std::vector<double> route_errors_m_;
  std::vector<double> excursion_errors_m_;
  std::vector<double> curve_distances_m_;
};

}  // namespace reckoner::harness
