// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <glm/vec3.hpp>

namespace reckoner::harness {

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

}  // namespace reckoner::harness
