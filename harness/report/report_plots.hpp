// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace reckoner::harness {

/// One curve of a plot, or a single point.
struct PlotSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

/// A plot of several curves on logarithmic axes. Each curve joins its points in order. The curve of the
/// method "reckoner" is emphasised.
struct SeriesPlot {
  std::string x_label;
  std::string y_label;
  std::vector<PlotSeries> series;
};

/// The gnuplot script that draws `plot` into the SVG file `out`.
[[nodiscard]] std::string series_script(const SeriesPlot& plot, const std::string& out);

}  // namespace reckoner::harness
