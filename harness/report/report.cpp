// SPDX-License-Identifier: MIT
#include "harness/report/report.hpp"

#include "harness/report/compare_output.hpp"
#include "harness/report/gnuplot.hpp"
#include "harness/report/plot.hpp"
#include "harness/report/report_html.hpp"
#include "harness/report/report_plots.hpp"
#include "scenario/trace/output_file.hpp"
#include "scenario/trace/utf8_path.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace reckoner::harness {
namespace {

constexpr std::size_t kDrawnSources = 4;
constexpr double kDrawnSeconds = 8.0;
constexpr double kRatesHz[] = {4.0, 10.0, 20.0, 30.0};

// gnuplot writes a complete file. Inside a page, only the <svg> element may remain.
std::string inlined(const std::string& svg) {
  const auto start = svg.find("<svg");
  return start == std::string::npos ? svg : svg.substr(start);
}

// Some sources, evenly spaced over the list, because similar kinds of motion are next to each other in it.
std::vector<NamedSource> subset(const std::vector<NamedSource>& sources) {
  const std::size_t count = std::min(kDrawnSources, sources.size());
  std::vector<NamedSource> some;
  for (std::size_t i = 0; i < count; ++i)
    some.push_back(sources[i * sources.size() / count]);
  return some;
}

Result<ReportFigure> path_figure(const Comparison& comparison, const NamedSource& source) {
  ReplayOptions options = comparison.options;
  options.links = comparison.networks.front().links;
  options.seed = comparison.seeds.front();
  options.seconds = kDrawnSeconds + kPlotWarmUpS;
  options.method = "reckoner";
  double rate_hz = 0.0;
  auto ours = record_method(*source.source, options, 0, rate_hz);
  if (!ours) return Error{ours.error()};
  options.method = "projective";
  if (options.budget.updates_per_second <= 0.0) {
    options.budget = {};
    options.budget.fixed_rate_hz = std::max(1.0, rate_hz);
  }
  auto theirs = record_method(*source.source, options, 0, rate_hz);
  if (!theirs) return Error{theirs.error()};
  ours->title = "Reckoner";
  ours->colour = "#2680c2";
  theirs->title = "Projective blending";
  theirs->colour = "#d64545";
  Plot plot;
  plot.methods = {std::move(*theirs), std::move(*ours)};
  auto svg = draw_svg([&plot](const std::string& out) { return plot_script(plot, out); });
  if (!svg) return Error{svg.error()};
  return ReportFigure{"Paths from above: " + source.name, inlined(*svg),
                      "The true path is grey. The lower plot shows the distance between the true and the "
                      "drawn position at each instant."};
}

Result<ReportFigure> rate_figure(const Comparison& comparison, const std::vector<NamedSource>& some,
                                 const ComparedFigure& error) {
  // The rate really used. Under a budget it may be less than the permitted rate.
  const ComparedFigure spent{"updates_per_s", [](const Figures& figures) -> std::optional<double> {
                               if (!figures.down || figures.entity_seconds <= 0.0) return std::nullopt;
                               return static_cast<double>(figures.down->updates) / figures.entity_seconds;
                             }};
  SeriesPlot plot{"updates per second and entity", "error, 95th percentile (m)", {}};
  for (const std::string& method : comparison.methods)
    plot.series.push_back({method, {}});
  for (const double rate_hz : kRatesHz) {
    Comparison one = comparison;
    one.sources = some;
    one.networks.resize(1);
    one.seeds.resize(1);
    one.options.budget = {};
    one.options.budget.updates_per_second = rate_hz;
    const auto compared = compare(one);
    if (!compared) return Error{compared.error()};
    for (PlotSeries& series : plot.series) {
      const auto x = trace_mean(compared->pooled, one.networks[0].name, series.name, spent);
      const auto y = trace_mean(compared->pooled, one.networks[0].name, series.name, error);
      if (x && y) series.points.emplace_back(*x, *y);  // a method that showed nothing has no point
    }
  }
  auto svg = draw_svg([&plot](const std::string& out) { return series_script(plot, out); });
  if (!svg) return Error{svg.error()};
  return ReportFigure{"Error against updates per second", inlined(*svg),
                      fmt::format("The error of each technique at several update rates: geometric mean over "
                                  "{} of the traces. Lower is better.",
                                  some.size())};
}

Result<ReportFigure> smoothness_figure(const Comparison& comparison, const std::vector<CompareRun>& runs,
                                       const std::vector<ComparedFigure>& figures) {
  SeriesPlot plot{"excess acceleration (m/s^2), a measure of shaking", "error, 95th percentile (m)", {}};
  const std::string& network = comparison.networks.front().name;
  for (const std::string& method : comparison.methods) {
    const auto x = trace_mean(runs, network, method, figures[2]);
    const auto y = trace_mean(runs, network, method, figures[0]);
    if (x && y) plot.series.push_back({method, {{*x, *y}}});
  }
  auto svg = draw_svg([&plot](const std::string& out) { return series_script(plot, out); });
  if (!svg) return Error{svg.error()};
  return ReportFigure{
      "Error against smoothness", inlined(*svg),
      "Accurate and smooth techniques are at the bottom left. Geometric means over all traces."};
}

}  // namespace

Result<std::string> write_report(const Comparison& comparison, const std::vector<CompareRun>& runs,
                                 const std::string& folder) {
  const bool buffered = is_buffered(comparison.options.playout.mode);
  const auto compared = compared_figures(buffered);
  const auto some = subset(comparison.sources);
  std::vector<ReportFigure> figures;
  auto smoothness = smoothness_figure(comparison, runs, compared);
  if (!smoothness) return Error{smoothness.error()};
  figures.push_back(std::move(*smoothness));
  auto rates = rate_figure(comparison, some, compared[0]);
  if (!rates) return Error{rates.error()};
  figures.push_back(std::move(*rates));
  for (const NamedSource& source : some) {
    auto paths = path_figure(comparison, source);
    if (!paths) return Error{paths.error()};
    figures.push_back(std::move(*paths));
  }
  std::error_code failed;
  std::filesystem::create_directories(path_of(folder), failed);
  const std::string page = utf8_of(path_of(folder) / "index.html");
  if (auto wrong = scenario::write_file(page, report_html(runs, buffered, figures))) return std::move(*wrong);
  return page;
}

}  // namespace reckoner::harness
