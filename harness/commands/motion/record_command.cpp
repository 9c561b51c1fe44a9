// SPDX-License-Identifier: MIT
#include "harness/commands/cli_options.hpp"
#include "harness/commands/commands.hpp"
#include "harness/commands/motion/quantised_cubes.hpp"
#include "scenario/builtin/physics/physics_scenes.hpp"
#include "scenario/trace/recording.hpp"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace reckoner::harness {
namespace {

struct RecordArguments {
  program::SourceOptions source;
  double rate_hz = 60.0;
  std::string csv;
  std::string quantised;
};

constexpr double kEndlessSeconds = 60.0;  // length of the recording of a scenario without an end

// Samples a source at an even rate. The ends of an entity's life are samples, too.
scenario::Recording sample(const scenario::Source& source, const RecordArguments& arguments) {
  scenario::Recording recording;
  const double length_s = arguments.source.seconds > 0.0 ? arguments.source.seconds : kEndlessSeconds;
  const bool to_the_end = std::isfinite(source.end_s()) && arguments.source.seconds <= 0.0;
  const double end_s = to_the_end ? source.end_s() : std::min(source.end_s(), source.start_s() + length_s);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const scenario::SourceEntity& entity = source.entity(i);
    recording.has_orientation = recording.has_orientation || entity.has_orientation;
    scenario::Recording::Entity recorded{.id = entity.name, .samples = {}};
    const auto first = static_cast<std::int64_t>(std::ceil(
        (std::max(entity.first_s, source.start_s()) - source.start_s()) * arguments.rate_hz - 1e-6));
    for (std::int64_t k = first;; ++k) {
      const double time_s = source.start_s() + static_cast<double>(k) / arguments.rate_hz;
      if (time_s > std::min(entity.last_s, end_s) + 1e-9) break;
      const Pose pose = source.pose(i, time_s);
      recorded.samples.push_back({time_s, pose.position, glm::dquat(pose.orientation)});
    }
    if (!recorded.samples.empty()) recording.entities.push_back(std::move(recorded));
  }
  return recording;
}

int run_record(const RecordArguments& arguments) {
  if (arguments.csv.empty() && arguments.quantised.empty())
    return report_error("nothing to write: use --csv FILE or --quantised FILE", program::kBadInput);
  if (!arguments.quantised.empty()) {
    if (arguments.source.scenario != "cubes")
      return report_error("--quantised needs --scenario cubes", program::kBadInput);
    if (const auto wrong = write_quantised_cubes(arguments.quantised, arguments.source.seed))
      return report_error(wrong->message, program::kFailed);
    fmt::print("wrote {}\n", arguments.quantised);
  }
  if (arguments.csv.empty()) return 0;
  const auto source = program::open_source(arguments.source);
  if (!source) return report_error(source.error(), program::kBadInput);
  const scenario::Recording recording = sample(**source, arguments);
  if (const auto wrong = scenario::write_recording(arguments.csv, recording))
    return report_error(wrong->message, program::kFailed);
  std::size_t rows = 0;
  for (const auto& entity : recording.entities)
    rows += entity.samples.size();
  fmt::print("wrote {}: {} entities, {} rows\n", arguments.csv, recording.entities.size(), rows);
  return 0;
}

}  // namespace

void add_record_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("record", "write motion to a CSV file, which every command can play with --trace");
  auto arguments = std::make_shared<RecordArguments>();
  program::add_source_options(*command, arguments->source);
  command->add_option("--seed", arguments->source.seed, "seed of the scenario");
  command->add_option("--rate", arguments->rate_hz, "samples per second")->check(CLI::Range(1.0, 1000.0));
  command->add_option("--csv", arguments->csv, "the file to write")->group("Output");
  command
      ->add_option(
          "--quantised", arguments->quantised,
          "with --scenario cubes: write the frames as 32-bit integers, eight for each cube (largest, a, "
          "b, c, x, y, z, interacting), for coders made for that challenge")
      ->group("Output");
  command->footer(
      "Example: record a scene once, then replay it on a machine without a physics engine:\n"
      "  reckoner-harness record --scenario cubes --csv cubes.csv\n"
      "  reckoner-harness replay --trace cubes.csv --network lan");
  command->callback([arguments, &exit_code] { exit_code = run_record(*arguments); });
}

}  // namespace reckoner::harness
