// SPDX-License-Identifier: MIT
#include "child_process.hpp"
#include "cli_options.hpp"
#include "commands.hpp"
#include "plot_script.hpp"
#include "scratch_folder.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include <fmt/core.h>
#include <glm/geometric.hpp>

namespace reckoner::harness {
namespace {

constexpr double kWarmUpS = 2.0;        // until client and clock have settled; not shown
constexpr double kSkipTeleportS = 0.7;  // as the figures leave it out
constexpr double kDefaultSeconds = 8.0;

struct PlotArguments {
  program::SourceOptions source;
  LinkArguments link;
  RunArguments run;
  std::string show;
  std::string out;
};

// Index of the entity to draw: the named one, or the first that is there from the start.
Result<std::size_t> chosen(const scenario::Source& source, const PlotArguments& arguments) {
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (arguments.show.empty() ? source.entity(i).first_s <= source.start_s()
                               : source.entity(i).name == arguments.show) {
      return i;
    }
  }
  return Error{"there is no entity " + arguments.show};
}

Result<PlotMethod> run_method(const scenario::Source& source, const ReplayOptions& options,
                              std::size_t entity, double& rate_hz) {
  PlotMethod method;
  const double from_s = source.start_s() + options.start_s + kWarmUpS;
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

std::optional<Error> draw(const Plot& plot, const std::string& out) {
  const ScratchFolder scratch;
  if (scratch.path().empty()) return Error{"cannot make a temporary folder"};
  const std::filesystem::path drawn = scratch.path() / "plot.svg";
  const std::filesystem::path script = scratch.path() / "plot.gp";
  std::ofstream(script) << plot_script(plot, drawn.string());
  auto gnuplot = ChildProcess::start("gnuplot", {script.string()}, scratch.path() / "gnuplot.log");
  if (!gnuplot) return Error{gnuplot.error() + " (it draws the plots; Debian: gnuplot-nox)"};
  for (int i = 0; i < 3000 && !gnuplot->exit_code(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (gnuplot->exit_code() != 0) return Error{"gnuplot failed: " + gnuplot->output()};
  std::error_code failed;
  std::filesystem::copy_file(drawn, out, std::filesystem::copy_options::overwrite_existing, failed);
  if (failed) return Error{"cannot write " + out + ": " + failed.message()};
  return std::nullopt;
}

int run_plot(PlotArguments arguments) {
  if (arguments.source.seconds <= 0.0) arguments.source.seconds = kDefaultSeconds;
  arguments.source.seconds += kWarmUpS;
  auto options = replay_options(arguments.run, arguments.source, arguments.link);
  if (!options) return complain(options.error());
  const auto source = program::open_source(arguments.source);
  if (!source) return complain(source.error());
  const auto entity = chosen(**source, arguments);
  if (!entity) return complain(entity.error());

  double rate_hz = 0.0;
  options->method = "reckoner";
  auto reckoner = run_method(**source, *options, *entity, rate_hz);
  if (!reckoner) return complain(reckoner.error());
  if (rate_hz <= 0.0) return complain("nothing was sent about the entity: there is nothing to compare");
  ReplayOptions even = *options;
  even.method = "snap";
  even.budget = {};
  even.budget.fixed_rate_hz = rate_hz;
  double ignored = 0.0;
  auto snap = run_method(**source, even, *entity, ignored);
  if (!snap) return complain(snap.error());
  snap->title = "Snapping to updates";
  snap->colour = "#d64545";
  reckoner->title = "Reckoner";
  reckoner->colour = "#2680c2";

  Plot plot;
  plot.title = fmt::format(
      "The same motion, the same network ({:g} ms, {:g} ms of jitter, {:g} % loss), {:.1f} updates "
      "per second each",
      options->links.down.latency_ms, options->links.down.jitter_ms, options->links.down.loss_percent,
      rate_hz);
  plot.methods = {std::move(*snap), std::move(*reckoner)};
  if (const auto wrong = draw(plot, arguments.out)) return complain(wrong->message, program::kFailed);
  fmt::print("{}: {} over {}, {:.1f} updates per second\n", arguments.out, name_of(arguments.source),
             arguments.link.name(), rate_hz);
  return 0;
}

}  // namespace

void add_plot_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("plot", "draw truth, snap and Reckoner side by side as an SVG (needs gnuplot)");
  auto arguments = std::make_shared<PlotArguments>();
  command->add_option("--out", arguments->out, "the SVG file to write")->required();
  command->add_option("--show", arguments->show, "id of the entity to draw (default: the first)");
  program::add_source_options(*command, arguments->source);
  add_link_options(*command, arguments->link);
  add_run_options(*command, arguments->run);
  command->footer(
      "Example:\n"
      "  reckoner-harness plot --scenario crowd --network mobile --seconds 6 --out crowd.svg\n"
      "A trace's busiest entity: --trace FILE --entity busiest");
  command->callback([arguments, &exit_code] { exit_code = run_plot(*arguments); });
}

}  // namespace reckoner::harness
