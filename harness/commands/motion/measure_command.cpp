// SPDX-License-Identifier: MIT
#include "harness/commands/cli_options.hpp"
#include "harness/commands/commands.hpp"
#include "harness/metrics/coverage.hpp"
#include "harness/metrics/figures_json.hpp"
#include "harness/metrics/figures_text.hpp"
#include "harness/metrics/measure.hpp"
#include "programs/common/options/blend_options.hpp"
#include "programs/common/options/setting_options.hpp"

#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace reckoner::harness {
namespace {

struct MeasureArguments {
  std::string truth;
  std::string rendered;
  std::string json;
  double one_way_ms = 100.0;
  MeasureOptions options;
};

int run_measure(const MeasureArguments& arguments) {
  MeasureOptions options = arguments.options;
  options.one_way_s = 0.001 * arguments.one_way_ms;
  const auto figures = measure_files(arguments.truth, arguments.rendered, options);
  if (!figures) return report_error(figures.error(), program::kBadInput);
  if (const auto unshown = find_unshown(*figures)) return report_error(unshown->message, program::kFailed);
  fmt::print("{} against {}: {:.1f} entity-seconds\n", arguments.rendered, arguments.truth,
             figures->entity_seconds);
  print_figures(*figures);
  if (!arguments.json.empty()) {
    if (const auto wrong = write_json(arguments.json, figures_json(*figures))) {
      return report_error(wrong->message, program::kFailed);
    }
  }
  return 0;
}

}  // namespace

void add_measure_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("measure", "measure what a real client showed against a real server's truth");
  auto arguments = std::make_shared<MeasureArguments>();
  command->add_option("--truth", arguments->truth, "the CSV of reckoner-server --truth")->required();
  command->add_option("--rendered", arguments->rendered, "the CSV of reckoner-client --rendered")->required();
  command->add_option("--json", arguments->json, "write the figures to this file");
  command->add_option("--teleport-mps", arguments->options.teleport_mps, "a faster step is a teleport, m/s")
      ->check(CLI::PositiveNumber);
  command->add_option("--frame-rate", arguments->options.frame_rate_hz, "frames of the client per second")
      ->check(program::range_in(program::kBlendSettings, "frame_rate_hz", "--frame-rate"));
  command
      ->add_option("--one-way-ms", arguments->one_way_ms,
                   "time that a spawn or despawn may take to arrive, ms")
      ->check(CLI::NonNegativeNumber);
  command->footer(
      "Example: three processes on one machine, then the measurement:\n"
      "  reckoner-server --scenario crowd --port 7777 --seconds 20 --truth truth.csv &\n"
      "  reckoner-harness conditioner --listen 7778 --to 127.0.0.1:7777 --network intercity --seconds 20 &\n"
      "  reckoner-client --connect 127.0.0.1:7778 --seconds 15 --rendered shown.csv\n"
      "  reckoner-harness measure --truth truth.csv --rendered shown.csv");
  command->callback([arguments, &exit_code] { exit_code = run_measure(*arguments); });
}

}  // namespace reckoner::harness
