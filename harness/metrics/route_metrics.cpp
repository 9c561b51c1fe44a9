// SPDX-License-Identifier: MIT
#include "harness/metrics/route_metrics.hpp"

#include "harness/metrics/measured_pictures.hpp"

#include <cassert>
#include <limits>
#include <utility>

#include <glm/geometric.hpp>

namespace reckoner::harness {
namespace {

constexpr double kRejoinedS = 2.0;

}  // namespace

RouteMetrics::RouteMetrics(const scenario::Source& truth, double start_s, double frame_rate_hz)
    : truth_(&truth),
      start_s_(start_s),
      frame_s_(1.0 / frame_rate_hz),
      left_s_(truth.size(), -std::numeric_limits<double>::infinity()) {
  for (const RouteDefinition& definition : truth.routes()) {
    Result<Route> route = Route::make(definition);
    assert(route);
    routes_.push_back(std::move(*route));
  }
}

void RouteMetrics::frame(double time_s, std::span<const ShownPose> shown) {
  for (std::size_t i = 0; i < truth_->size(); ++i) {
    const scenario::SourceEntity& entity = truth_->entity(i);
    if (!truth_->route_of(i) || time_s < entity.first_s || time_s > entity.last_s) continue;
    const bool on_route = truth_->on_route(i, time_s);
    (on_route ? route_s_ : excursion_s_) += frame_s_;
    if (!on_route) left_s_[i] = time_s;
  }
  if (time_s - start_s_ < kSkipRunS) return;
  for (const ShownPose& pose : shown) {
    const auto route = truth_->route_of(pose.entity);
    if (!route) continue;
    const bool on_route = left_s_[pose.entity] != time_s;
    const double error = glm::length(pose.pose.position - truth_->pose(pose.entity, time_s).position);
    (on_route ? route_errors_m_ : excursion_errors_m_).push_back(error);
    if (time_s - left_s_[pose.entity] > kRejoinedS)
      curve_distances_m_.push_back(routes_[*route].nearest(pose.pose.position).distance_to_point);
  }
}

RouteFigures RouteMetrics::figures() const {
  RouteFigures result;
  result.route_s = route_s_;
  result.excursion_s = excursion_s_;
  result.route_now_error_m = describe(route_errors_m_);
  result.excursion_now_error_m = describe(excursion_errors_m_);
  result.route_curve_distance_m = describe(curve_distances_m_);
  return result;
}

}  // namespace reckoner::harness
