// SPDX-License-Identifier: MIT
#include "harness/commands/cli_options.hpp"
#include "harness/commands/commands.hpp"
#include "harness/report/gnuplot.hpp"
#include "harness/report/plot.hpp"
#include "scenario/trace/output_file.hpp"

#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace reckoner::harness {
namespace {

constexpr double kDefaultSeconds = 8.0;

struct PlotArguments {
  program::SourceOptions source;
  LinkArguments link;
  RunArguments run;
  std::string show;
  std::string out;
};

// Index of the entity to draw: the one with the given name, or the first that exists from the start.
Result<std::size_t> chosen(const scenario::Source& source, const PlotArguments& arguments) {
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (arguments.show.empty() ? source.entity(i).first_s <= source.start_s()
                               : source.entity(i).name == arguments.show) {
      return i;
    }
  }
  return Error{"unknown entity " + arguments.show};
}

std::optional<Error> draw(const Plot& plot, const std::string& out) {
  const auto svg = draw_svg([&plot](const std::string& path) { return plot_script(plot, path); });
  if (!svg) return Error{svg.error()};
  return scenario::write_file(out, *svg);
}

int run_plot(PlotArguments arguments) {
  if (arguments.source.seconds <= 0.0) arguments.source.seconds = kDefaultSeconds;
  arguments.source.seconds += kPlotWarmUpS;
  auto options = replay_options(arguments.run, arguments.source, arguments.link);
  if (!options) return report_error(options.error());
  const auto source = program::open_source(arguments.source);
  if (!source) return report_error(source.error());
  const auto entity = chosen(**source, arguments);
  if (!entity) return report_error(entity.error());

  double rate_hz = 0.0;
  options->method = "reckoner";
  auto reckoner = record_method(**source, *options, *entity, rate_hz);
  if (!reckoner) return report_error(reckoner.error());
  if (rate_hz <= 0.0)
    return report_error("no update was sent about the entity, so there is no rate for a comparison");
  ReplayOptions even = *options;
  even.method = "snap";
  even.budget = {};
  even.budget.fixed_rate_hz = rate_hz;
  double ignored = 0.0;
  auto snap = record_method(**source, even, *entity, ignored);
  if (!snap) return report_error(snap.error());
  snap->title = "Snapping to updates";
  snap->colour = "#d64545";
  reckoner->title = "Reckoner";
  reckoner->colour = "#2680c2";

  Plot plot;
  plot.title = fmt::format(
      "Equal motion, network ({:g} ms, {:g} ms of jitter, {:g} % loss) and rate ({:.1f} updates per second)",
      options->links.down.latency_ms, options->links.down.jitter_ms, options->links.down.loss_percent,
      rate_hz);
  plot.methods = {std::move(*snap), std::move(*reckoner)};
  if (const auto wrong = draw(plot, arguments.out)) return report_error(wrong->message, program::kFailed);
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
