// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <reckoner/reckoning/result.hpp>

namespace CLI {
class App;
}

namespace reckoner::harness {

/// What `curve` draws, and how finely.
struct CurveArguments {
  std::string kind;  ///< catmull-rom, tcb or chaikin
  std::string points_file;
  int samples = 16;            ///< a segment
  bool uniform_speed = false;  ///< evenly in distance instead of evenly in t
  bool closed = false;
  std::string knots = "uniform";  ///< catmull-rom: uniform, centripetal or chordal
  std::string ends = "double";    ///< catmull-rom: double or reflect
  double closing_time = 0.0;      ///< tcb, closed; 0: the mean of the others
  int passes = 1;                 ///< chaikin
  std::optional<double> angle_limit_deg;
  std::optional<double> outlier_limit_deg;
  double tolerance = 1e-6;  ///< of the distances, in the points' unit
};

/// The curve through the points in `points_text` as CSV, t,distance,x,y,z,dx,dy,dz with a header; dx,dy,dz is
/// the derivative with respect to t. Points are x[,y[,z]] a line, TCB keys
/// t,x,y,z[,tension,continuity,bias,ease_to,ease_from]; a header, blank lines and # comments are skipped.
/// Errors say the line.
[[nodiscard]] Result<std::string> curve_csv(const CurveArguments& arguments, std::string_view points_text);

void add_curve_command(CLI::App& app, int& exit_code);

}  // namespace reckoner::harness
