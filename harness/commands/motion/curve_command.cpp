// SPDX-License-Identifier: MIT
#include "harness/commands/motion/curve_command.hpp"

#include "harness/commands/cli_options.hpp"
#include "harness/commands/motion/curve_points.hpp"
#include "scenario/trace/csv.hpp"

#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner::harness {
namespace {

using Path = CubicPath<glm::dvec3>;

constexpr double kRadiansPerDegree = 0.01745329251994329577;
constexpr int kMaxSamples = 1'000'000;

// The CSV output, one row per sample. The meaning of t depends on the kind of curve.
class Table {
 public:
  void add(double t, double distance, const CurvePoint<glm::dvec3>& at) {
    const auto& [p, d] = at;
    fmt::format_to(std::back_inserter(text_), "{},{},{},{},{},{},{},{}\n", t, distance, p.x, p.y, p.z, d.x,
                   d.y, d.z);
  }
  [[nodiscard]] std::string release() { return std::move(text_); }

 private:
  std::string text_ = "t,distance,x,y,z,dx,dy,dz\n";
};

// Functions for walking along a curve: conversions between the path's parameter and t, and the derivative
// with respect to t.
struct Drawing {
  const Path& path;
  std::function<double(double)> t_at;            // from the path's parameter
  std::function<double(std::size_t, double)> t;  // from a segment and a share of it, 0 to 1
  std::function<double(double)> parameter_at;    // from t
  std::function<glm::dvec3(double)> derivative;  // at t
};

Result<std::string> draw(const Drawing& curve, const CurveArguments& arguments, std::size_t segments) {
  const auto arc = ArcLengthTable::make(curve.path, arguments.tolerance);
  if (!arc) return Error{arc.error()};
  Table table;
  const auto row = [&](double t, double distance) {
    table.add(t, distance, {curve.path.position(curve.parameter_at(t)), curve.derivative(t)});
  };
  const auto samples = static_cast<std::size_t>(arguments.samples);
  const std::size_t rows = segments * samples;
  for (std::size_t i = 0; i <= rows; ++i) {
    if (arguments.uniform_speed) {
      const double distance =
          rows == 0 ? 0.0 : arc->length() * static_cast<double>(i) / static_cast<double>(rows);
      row(curve.t_at(arc->parameter_at(distance)), distance);
      continue;
    }
    const bool end = i == rows;
    const double share = end ? 1.0 : static_cast<double>(i % samples) / static_cast<double>(samples);
    const double t = curve.t(end && segments > 0 ? segments - 1 : i / samples, share);
    row(t, arc->distance_at(curve.parameter_at(t)));
  }
  return table.release();
}

Result<std::string> catmull_rom_csv(const CurveArguments& a, std::string_view text) {
  const auto points = read_points(text);
  if (!points) return Error{points.error()};
  CatmullRomOptions options;
  if (a.knots == "centripetal") options.knots = CatmullRomKnots::centripetal;
  if (a.knots == "chordal") options.knots = CatmullRomKnots::chordal;
  if (a.ends == "reflect") options.ends = CatmullRomEnds::reflected;
  if (a.closed) options.ends = CatmullRomEnds::closed;
  const auto curve = CatmullRom<glm::dvec3>::make(*points, options);
  if (!curve) return Error{curve.error()};
  const auto same = [](double t) { return t; };
  return draw({curve->path(), same, [](std::size_t i, double u) { return static_cast<double>(i) + u; }, same,
               [&](double t) { return curve->derivative(t); }},
              a, curve->segment_count());
}

Result<std::string> tcb_csv(const CurveArguments& a, std::string_view text) {
  const auto keys = read_keys(text);
  if (!keys) return Error{keys.error()};
  TcbOptions options;
  if (a.closed) {
    options.closing_time = a.closing_time;
    if (a.closing_time == 0.0 && keys->size() > 1) {
      options.closing_time = (keys->back().time - keys->front().time) / static_cast<double>(keys->size() - 1);
    }
  }
  const auto curve = TcbSpline<glm::dvec3>::make(*keys, options);
  if (!curve) return Error{curve.error()};
  const auto times = curve->times();
  const auto time = [times](std::size_t i, double u) {
    // Return the times of keys exactly, without rounding errors of a sum.
    if (times.size() == 1 || u == 0.0) return times[i];
    return u == 1.0 ? times[i + 1] : times[i] + u * (times[i + 1] - times[i]);
  };
  return draw(
      {curve->path(), [&](double parameter) { return curve->time_at(parameter); }, time,
       [&](double t) { return curve->path_parameter(t); }, [&](double t) { return curve->velocity(t); }},
      a, times.size() - 1);
}

Result<std::string> chaikin_csv(const CurveArguments& a, std::string_view text) {
  const auto points = read_points(text);
  if (!points) return Error{points.error()};
  ChaikinOptions options{a.passes, a.closed, {}, {}};
  if (a.angle_limit_deg) options.angle_limit = *a.angle_limit_deg * kRadiansPerDegree;
  if (a.outlier_limit_deg) options.outlier_limit = *a.outlier_limit_deg * kRadiansPerDegree;
  const auto line = chaikin<glm::dvec3>(*points, options);
  if (!line) return Error{line.error()};
  if (line->empty()) return Table{}.release();
  const auto path = polyline_path<glm::dvec3>(*line, a.closed);
  if (!path) return Error{path.error()};
  const auto arc = ArcLengthTable::make(*path, a.tolerance);
  if (!arc) return Error{arc.error()};
  Table table;
  // Print the points of the line. At uniform speed, print as many points at equal distances from the start to
  // the end of the line. On a closed line, the last point is one step before the start.
  const std::size_t count = line->size();
  const double steps = static_cast<double>(a.closed || count == 1 ? count : count - 1);
  for (std::size_t i = 0; i < count; ++i) {
    const double distance = arc->length() * static_cast<double>(i) / steps;
    const double t = a.uniform_speed ? arc->parameter_at(distance) : static_cast<double>(i);
    table.add(t, a.uniform_speed ? distance : arc->distance_at(t), path->evaluate(t));
  }
  return table.release();
}

int run_curve(const CurveArguments& arguments) {
  const auto text = scenario::read_text_file(arguments.points_file);
  if (!text) return report_error(text.error(), program::kBadInput);
  const auto csv = curve_csv(arguments, *text);
  if (!csv) return report_error(arguments.points_file + ": " + csv.error(), program::kBadInput);
  if (std::fwrite(csv->data(), 1, csv->size(), stdout) != csv->size() || std::fflush(stdout) != 0) {
    return report_error("cannot write the curve", program::kFailed);
  }
  return 0;
}

}  // namespace

Result<std::string> curve_csv(const CurveArguments& arguments, std::string_view points_text) {
  if (arguments.samples < 1 || arguments.samples > kMaxSamples) {
    return Error{fmt::format("--samples must be 1 to {}, not {}", kMaxSamples, arguments.samples)};
  }
  if (arguments.kind == "catmull-rom") return catmull_rom_csv(arguments, points_text);
  if (arguments.kind == "tcb") return tcb_csv(arguments, points_text);
  if (arguments.kind == "chaikin") return chaikin_csv(arguments, points_text);
  return Error{"unknown kind of curve '" + arguments.kind + "': catmull-rom, tcb or chaikin"};
}

void add_curve_command(CLI::App& app, int& exit_code) {
  auto* const command =
      app.add_subcommand("curve", "Print a curve through points as CSV: t,distance,x,y,z,dx,dy,dz");
  // CLI11 keeps references to these variables until parsing is finished.
  const auto a = std::make_shared<CurveArguments>();
  const auto limit_angles = std::make_shared<bool>(false);
  const auto reject_outliers = std::make_shared<bool>(false);
  command->add_option("--kind", a->kind, "catmull-rom, tcb or chaikin")
      ->required()
      ->check(CLI::IsMember({"catmull-rom", "tcb", "chaikin"}));
  command
      ->add_option("--points", a->points_file,
                   "CSV of points x[,y[,z]]; for tcb keys t,x,y,z,tension,continuity,bias,ease_to,ease_from")
      ->required();
  command->add_option("--samples", a->samples, "Samples per segment (chaikin prints its points)");
  command->add_flag("--uniform-speed", a->uniform_speed,
                    "Sample at equal distances along the curve instead of equal steps of t");
  command->add_flag("--closed", a->closed, "Join the end to the start");
  command->add_option("--knots", a->knots, "catmull-rom: uniform, centripetal or chordal")
      ->check(CLI::IsMember({"uniform", "centripetal", "chordal"}));
  command->add_option("--ends", a->ends, "catmull-rom, not closed: double or reflect the end point")
      ->check(CLI::IsMember({"double", "reflect"}));
  command->add_option("--closing-time", a->closing_time,
                      "tcb, closed: time from the last key to the first; 0: the mean interval between keys");
  command->add_option("--passes", a->passes, "chaikin: number of corner-cutting passes");
  command->add_flag("--limit-angles", *limit_angles,
                    "chaikin: do not cut corners that turn by less than the angle limit");
  command->add_option("--angle-limit-deg", a->angle_limit_deg,
                      "Angle limit in degrees (default 30); implies --limit-angles");
  command->add_flag("--reject-outliers", *reject_outliers, "chaikin: drop spikes first");
  command->add_option("--outlier-limit-deg", a->outlier_limit_deg,
                      "Least turn of a spike in degrees (default 90); implies --reject-outliers");
  command->add_option("--tolerance", a->tolerance, "Largest error of distances, in the unit of the points");
  command->footer(
      "t counts segments (tcb: time of the keys; chaikin: points). dx,dy,dz is the derivative with respect "
      "to t. Missing axes are 0.");
  command->callback([a, limit_angles, reject_outliers, &exit_code] {
    if (*limit_angles && !a->angle_limit_deg) a->angle_limit_deg = kDefaultAngleLimit / kRadiansPerDegree;
    if (*reject_outliers && !a->outlier_limit_deg)
      a->outlier_limit_deg = kDefaultOutlierLimit / kRadiansPerDegree;
    exit_code = run_curve(*a);
  });
}

}  // namespace reckoner::harness
