// SPDX-License-Identifier: MIT
#include "plot_recording.hpp"

#include <algorithm>

#include <glm/geometric.hpp>

namespace reckoner::harness {

constexpr double kSkipTeleportS = 0.7;  // as the figures leave it out

Result<PlotMethod> record_method(const scenario::Source& source, const ReplayOptions& options,
                                 std::size_t entity, double& rate_hz) {
  PlotMethod method;
  const double from_s = source.start_s() + options.start_s + kPlotWarmUpS;
  std::vector<double> errors;
  const auto sink = [&](double time_s, std::span<const ShownPose> shown) {
    for (const ShownPose& pose : shown) {
      const scenario::SourceEntity& info = source.entity(entity);
      if (pose.entity != entity || time_s < from_s || time_s > info.last_s) continue;
      if (source.teleports_within(entity, time_s - kSkipTeleportS, time_s)) continue;
      const glm::dvec3 truth = source.pose(entity, time_s).position;
      method.frames.push_back({time_s - from_s, truth, pose.pose.position});
      errors.push_back(glm::length(pose.pose.position - truth));
    }
  };
  const auto result = replay(source, options, sink);
  if (!result) return Error{result.error()};
  if (method.frames.empty()) return Error{options.method + " never showed the entity"};
  method.p95_m = describe(std::move(errors)).p95;
  const Figures& figures = result->entities[entity];
  rate_hz = static_cast<double>(figures.updates.value_or(0)) / std::max(1e-9, figures.entity_seconds);
  return method;
}

}  // namespace reckoner::harness
