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

inline constexpr double kPlotWarmUpS = 2.0;  ///< not drawn: the time until client and clock have settled, s

/// One picture of the plotted entity. A method has no PlotPicture for a picture in which it did not show the
/// entity.
struct PlotPicture {
  double time_s = 0.0;  ///< from the start of the plot
  glm::dvec3 truth{0.0};
  glm::dvec3 shown{0.0};
};

/// The pictures of one method.
struct PlotMethod {
  std::string title;
  std::string colour;
  std::vector<PlotPicture> frames;
  double p95_m = 0.0;  ///< same-time error over all pictures
};

/// A plot of one entity over the same period by several methods.
struct Plot {
  std::string title;  ///< at the top of the plot
  std::vector<PlotMethod> methods;
};

/// The gnuplot script that draws `plot` into the SVG file `out`: the true path from above, the path that each
/// method shows, and the errors over time.
[[nodiscard]] std::string plot_script(const Plot& plot, const std::string& out);

/// Runs a replay and records how `entity` is shown. Sets `rate_hz` to the updates per second sent about it.
/// Title and colour are left empty. Leaves out the 0.7 s after a teleport, as the figures do. Fails if the
/// replay fails or never shows the entity.
[[nodiscard]] Result<PlotMethod> record_method(const scenario::Source& source, const ReplayOptions& options,
                                               std::size_t entity, double& rate_hz);

}  // namespace reckoner::harness
