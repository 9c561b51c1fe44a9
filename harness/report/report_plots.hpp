// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace reckoner::harness {

/// One point or curve of a plot.
struct PlotSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

/// A plot of series on logarithmic axes: points joined by lines in order. Reckoner's stands out.
struct SeriesPlot {
  std::string x_label;
  std::string y_label;
  std::vector<PlotSeries> series;
};

/// The gnuplot script that draws it into the SVG file `out`.
[[nodiscard]] std::string series_script(const SeriesPlot& plot, const std::string& out);

}  // namespace reckoner::harness
