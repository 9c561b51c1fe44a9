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

/// What the updates of a run cost, without the heads of datagrams, by how the entity was published.
struct RouteTraffic {
  std::uint64_t route_bits = 0;  ///< on a route
  std::uint64_t free_bits = 0;
};

/// The figures of entities that follow routes. "On its route" is said by the truth; frames off it
/// (excursions) are counted apart. Figures leave out the run's first 2 s, as Metrics does, but not times and
/// traffic.
struct RouteFigures {
  double route_s = 0.0;      ///< entity-seconds of truth on a route
  double excursion_s = 0.0;  ///< of the same entities, off it
  RouteTraffic traffic;
  Distribution route_now_error_m;
  Distribution excursion_now_error_m;
  /// Of shown poses from the curve, of entities that have been on their route for 1 s: what was lost when
  /// they came back has been repaired by then, and blended in.
  Distribution route_curve_distance_m;
};

/// Measures shown frames of a source with routes. Feed it every frame in order of time. `truth` must outlive
/// it.
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
  std::vector<double> left_s_;  // by entity: when it was last off its route
  double route_s_ = 0.0;
  double excursion_s_ = 0.0;
  std::vector<double> route_errors_m_;
  std::vector<double> excursion_errors_m_;
  std::vector<double> curve_distances_m_;
};

}  // namespace reckoner::harness
