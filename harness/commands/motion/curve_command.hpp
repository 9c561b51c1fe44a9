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

/// The options of the command `curve`.
struct CurveArguments {
  std::string kind;  ///< catmull-rom, tcb or chaikin
  std::string points_file;
  int samples = 16;            ///< per segment
  bool uniform_speed = false;  ///< equal steps of distance instead of t
  bool closed = false;
  std::string knots = "uniform";  ///< catmull-rom: uniform, centripetal or chordal
  std::string ends = "double";    ///< catmull-rom: double or reflect
  double closing_time = 0.0;      ///< tcb, closed; 0: the mean interval between keys
  int passes = 1;                 ///< chaikin: number of passes
  std::optional<double> angle_limit_deg;
  std::optional<double> outlier_limit_deg;
  double tolerance = 1e-6;  ///< of distances, in the unit of the points
};

/// The curve through the points in `points_text` as CSV with the header t,distance,x,y,z,dx,dy,dz; dx,dy,dz
/// is the derivative with respect to t. Points have the form x[,y[,z]], one per line. TCB keys have the form
/// t,x,y,z[,tension,continuity,bias,ease_to,ease_from]. A header, blank lines and # comments are skipped.
/// Errors in the points name the line.
[[nodiscard]] Result<std::string> curve_csv(const CurveArguments& arguments, std::string_view points_text);

void add_curve_command(CLI::App& app, int& exit_code);

}  // namespace reckoner::harness
