// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/replay.hpp"
#include "scenario/source.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

inline constexpr double kPlotWarmUpS = 2.0;  ///< until client and clock have settled; not drawn

/// One frame of the plotted entity. A method that showed nothing in a frame has none for it.
struct PlotFrame {
  double time_s = 0.0;  ///< from the start of what is plotted
  glm::dvec3 truth{0.0};
  glm::dvec3 shown{0.0};
};

/// How one method showed the entity.
struct PlotMethod {
  std::string title;
  std::string colour;
  std::vector<PlotFrame> frames;
  double p95_m = 0.0;  ///< same-time error of the frames
};

/// What a plot shows: one entity, the same seconds of it by each method.
struct Plot {
  std::string title;  ///< above all
  std::vector<PlotMethod> methods;
};

/// The gnuplot script that draws it into the SVG file `out`: the truth's path from above, each method's path
/// over it, and their errors over time.
[[nodiscard]] std::string plot_script(const Plot& plot, const std::string& out);

/// Replays and keeps what was shown of one entity; `rate_hz` becomes the updates per second it got. Title and
/// colour are the caller's. Frames after a teleport are left out as the figures leave them out.
[[nodiscard]] Result<PlotMethod> record_method(const scenario::Source& source, const ReplayOptions& options,
                                               std::size_t entity, double& rate_hz);

}  // namespace reckoner::harness
