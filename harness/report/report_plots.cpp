// SPDX-License-Identifier: MIT
#include "harness/report/report_plots.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace reckoner::harness {
namespace {

constexpr const char* kOurColour = "#2680c2";
constexpr std::array kColours{"#d64545", "#e9a23b", "#52a36b", "#8a63c9", "#c2569b",
                              "#3aa3a0", "#8d6e53", "#6b7a89", "#a3b03a"};

// Range and ticks of a logarithmic axis. The ticks are at 1, 2 and 5 in every decade.
std::string axis(char name, double low, double high) {
  std::string ticks;
  for (double decade = 1e-6; decade < 1e6; decade *= 10.0) {
    for (const double step : {1.0, 2.0, 5.0})
      ticks += fmt::format("{}{:g}", ticks.empty() ? "" : ",", step * decade);
  }
  return fmt::format("set {0}range [{1:g}:{2:g}]\nset {0}tics ({3})\n", name, 0.8 * low, 1.25 * high, ticks);
}

std::string axes(const SeriesPlot& plot) {
  double low[2] = {1e6, 1e6};
  double high[2] = {1e-6, 1e-6};
  for (const PlotSeries& series : plot.series) {
    for (const auto& [x, y] : series.points) {
      const double at[2] = {x, y};
      for (int i = 0; i < 2; ++i) {
        low[i] = std::min(low[i], std::max(at[i], 1e-6));
        high[i] = std::max(high[i], at[i]);
      }
    }
  }
  return axis('x', low[0], high[0]) + axis('y', low[1], high[1]);
}

}  // namespace

std::string series_script(const SeriesPlot& plot, const std::string& out) {
  std::string script = fmt::format(
      "set terminal svg size 1080,560 enhanced font 'Helvetica,15' background rgb 'white'\n"
      "set output '{}'\nset encoding utf8\n"
      "set border 3 lc rgb '#9aa5b1'\nset logscale xy\nset key outside right top textcolor rgb '#1f2933'\n"
      "set xtics nomirror out textcolor rgb '#52606d'\nset ytics nomirror out textcolor rgb '#52606d'\n"
      "set grid lc rgb '#e4e7eb' lw 1\n"
      "set xlabel '{}' textcolor rgb '#52606d'\nset ylabel '{}' textcolor rgb '#52606d'\n",
      out, plot.x_label, plot.y_label);
  script += axes(plot);
  std::string lines;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const PlotSeries& series = plot.series[i];
    script += fmt::format("$s{} << EOD\n", i);
    for (const auto& [x, y] : series.points)
      script += fmt::format("{:.6g} {:.6g}\n", x, y);
    script += "EOD\n";
    const bool ours = series.name == "reckoner";
    lines += fmt::format("{}$s{} using 1:2 with linespoints pt 7 ps {} lw {} lc rgb '{}' title '{}'",
                         lines.empty() ? "" : ", ", i, ours ? 0.9 : 0.6, ours ? 3 : 1.4,
                         ours ? kOurColour : kColours[i % kColours.size()], series.name);
  }
  return script + "plot " + lines + "\n";
}

}  // namespace reckoner::harness
