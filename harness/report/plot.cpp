// SPDX-License-Identifier: MIT
#include "harness/report/plot.hpp"

#include "harness/metrics/measured_pictures.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <glm/geometric.hpp>

namespace reckoner::harness {

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

namespace {

constexpr const char* kTruthColour = "#9aa5b1";
constexpr double kBreakS = 0.1;  // pictures further apart than this are not joined by a line

// The data of all pictures as a gnuplot datablock: time, true x and y, shown x and y, error.
std::string data_block(const PlotMethod& method, const std::string& name) {
  std::string text = fmt::format("${} << EOD\n", name);
  for (std::size_t i = 0; i < method.frames.size(); ++i) {
    const PlotPicture& frame = method.frames[i];
    if (i > 0 && frame.time_s - method.frames[i - 1].time_s > kBreakS) text += "\n";
    text += fmt::format("{:.3f} {:.3f} {:.3f} {:.3f} {:.3f} {:.4f}\n", frame.time_s, frame.truth.x,
                        frame.truth.y, frame.shown.x, frame.shown.y, glm::length(frame.shown - frame.truth));
  }
  return text + "EOD\n";
}

struct Range {
  double low = 1e30;
  double high = -1e30;
  void extend(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// Ranges for a square of ground that all panels show, so that their scales are equal.
std::string ground_ranges(const Plot& plot) {
  Range x;
  Range y;
  for (const PlotMethod& method : plot.methods) {
    for (const PlotPicture& frame : method.frames) {
      for (const glm::dvec3& point : {frame.truth, frame.shown}) {
        x.extend(point.x);
        y.extend(point.y);
      }
    }
  }
  const double half = 0.54 * std::max({x.high - x.low, y.high - y.low, 0.1});
  const double x0 = 0.5 * (x.low + x.high);
  const double y0 = 0.5 * (y.low + y.high);
  return fmt::format("set xrange [{:.3f}:{:.3f}]\nset yrange [{:.3f}:{:.3f}]\n", x0 - half, x0 + half,
                     y0 - half, y0 + half);
}

}  // namespace

std::string plot_script(const Plot& plot, const std::string& out) {
  std::string script = fmt::format(
      "set terminal svg size 1080,720 enhanced font 'Helvetica,15' background rgb 'white'\n"
      "set output '{}'\nset encoding utf8\n",
      out);
  for (std::size_t i = 0; i < plot.methods.size(); ++i) {
    script += data_block(plot.methods[i], fmt::format("m{}", i));
  }
  script += fmt::format(
      "set multiplot\n"
      "set border 0\nunset xtics\nunset ytics\nunset key\nset size ratio -1\n"
      "set label 1 '{}' at screen 0.03,0.955 left font 'Helvetica,19' textcolor rgb '#1f2933'\n",
      plot.title);
  script += ground_ranges(plot);
  const double width = 1.0 / static_cast<double>(plot.methods.size() + 1);
  const auto panel = [&](std::size_t column, const std::string& title, const std::string& colour,
                         const std::string& lines) {
    const double left = width * static_cast<double>(column);
    script += fmt::format("set lmargin at screen {:.3f}\nset rmargin at screen {:.3f}\n", left + 0.025,
                          left + width - 0.015);
    script += "set tmargin at screen 0.84\nset bmargin at screen 0.38\n";
    script += fmt::format(
        "set label 2 '{}' at screen {:.3f},0.885 left font 'Helvetica-Bold,16' textcolor rgb '{}'\n", title,
        left + 0.03, colour);
    script += "plot " + lines + "\nunset label 1\n";
  };
  panel(0, "Truth", "#52606d", fmt::format("$m0 using 2:3 with lines lw 2 lc rgb '{}'", kTruthColour));
  for (std::size_t i = 0; i < plot.methods.size(); ++i) {
    const PlotMethod& method = plot.methods[i];
    panel(i + 1, method.title, method.colour,
          fmt::format("$m{0} using 2:3 with lines lw 2 lc rgb '{1}', "
                      "$m{0} using 4:5 with lines lw 1.6 lc rgb '{2}'",
                      i, kTruthColour, method.colour));
  }
  script +=
      "unset label 2\nset size noratio\nset lmargin at screen 0.075\nset rmargin at screen 0.975\n"
      "set tmargin at screen 0.29\nset bmargin at screen 0.105\n"
      "set border 3 lc rgb '#9aa5b1'\nset autoscale x\nset yrange [0:*]\n"
      "set xtics nomirror out textcolor rgb '#52606d'\nset ytics nomirror out textcolor rgb '#52606d'\n"
      "set grid ytics lc rgb '#e4e7eb' lw 1\n"
      "set xlabel 'time (s)' textcolor rgb '#52606d' offset 0,0.5\n"
      "set label 3 'Error at the same instant (m)' at screen 0.03,0.325 "
      "left "
      "textcolor rgb '#1f2933'\n"
      "unset key\n";
  double at = 0.975;
  for (std::size_t i = plot.methods.size(); i-- > 0;) {
    const PlotMethod& method = plot.methods[i];
    script += fmt::format(
        "set label {} '{}: 95 % below {:.2f} m' at screen {:.3f},0.325 right textcolor rgb '{}'\n", 10 + i,
        method.title, method.p95_m, at, method.colour);
    at -= 0.22;
  }
  script += "plot ";
  for (std::size_t i = 0; i < plot.methods.size(); ++i) {
    script += fmt::format("{}$m{} using 1:6 with lines lw 1.6 lc rgb '{}'", i == 0 ? "" : ", ", i,
                          plot.methods[i].colour);
  }
  return script + "\nunset multiplot\n";
}

}  // namespace reckoner::harness
