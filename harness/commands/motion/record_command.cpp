// SPDX-License-Identifier: MIT
#include "harness/commands/commands.hpp"
#include "harness/commands/motion/quantised_cubes.hpp"
#include "harness/report/report_error.hpp"
#include "scenario/builtin/physics/physics_scenes.hpp"
#include "scenario/trace/write_recording.hpp"

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace reckoner::harness {
namespace {

struct RecordArguments {
  std::string scenario;
  scenario::PhysicsSceneOptions scene;
  std::string csv;
  std::string quantised;
};

// What the frames of the challenge were like, as far as is published.
constexpr CubeChanges kPublishedChanges{.within_xy_percent = {47.0, 70.0, 98.0},
                                        .within_z_percent = {54.0, 82.0, 99.7},
                                        .same_largest_percent = 90.0};

void print_changes(const CubeChanges& changes) {
  fmt::print("within six frames, of {} cubes that changed:\n", changes.changed);
  fmt::print("  {:<34} {:>10} {:>12}\n", "", "recorded %", "challenge %");
  const auto row = [](const std::string& what, double recorded, double published) {
    fmt::print("  {:<34} {:>10.1f} {:>12.1f}\n", what, recorded, published);
  };
  for (std::size_t i = 0; i < CubeChanges::kSteps.size(); ++i) {
    row(fmt::format("x, y change by at most {}/512 m", CubeChanges::kSteps[i]), changes.within_xy_percent[i],
        kPublishedChanges.within_xy_percent[i]);
  }
  for (std::size_t i = 0; i < CubeChanges::kSteps.size(); ++i) {
    row(fmt::format("z changes by at most {}/512 m", CubeChanges::kSteps[i]), changes.within_z_percent[i],
        kPublishedChanges.within_z_percent[i]);
  }
  row("the largest component is the same", changes.same_largest_percent,
      kPublishedChanges.same_largest_percent);
}

int run_record(RecordArguments& arguments) {
  if (arguments.csv.empty() && arguments.quantised.empty())
    return report_error("nothing to write: use --csv FILE or --quantised FILE");
  const bool cubes = arguments.scenario == "cubes";
  if (!arguments.quantised.empty() && !cubes) return report_error("--quantised needs --scenario cubes");
  arguments.scene.scene = arguments.scenario;
  const auto recording = scenario::record_physics_scene(arguments.scene);
  if (!recording) return report_error(recording.error());
  if (!arguments.csv.empty()) {
    if (const auto wrong = scenario::write_recording(arguments.csv, recording->motion))
      return report_error(wrong->message, program::kFailed);
    const auto& entities = recording->motion.entities;
    fmt::print("{}: {} entities with {} samples each\n", arguments.csv, entities.size(),
               entities.front().samples.size());
  }
  if (!cubes) return program::kOk;
  const std::vector<QuantisedCube> frames = quantise(*recording);
  if (!arguments.quantised.empty()) {
    if (const auto wrong = write_quantised_cubes(arguments.quantised, frames))
      return report_error(wrong->message, program::kFailed);
  }
  print_changes(changes_of(frames, recording->motion.entities.size()));
  return program::kOk;
}

}  // namespace

void add_record_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "record", "simulate a scene of colliding bodies and write it to files that need no physics engine");
  auto arguments = std::make_shared<RecordArguments>();
  command->add_option("--scenario", arguments->scenario, "asteroids or cubes")
      ->required()
      ->check(CLI::IsMember({"asteroids", "cubes"}));
  command
      ->add_option("--entities", arguments->scene.bodies,
                   "number of asteroids (default: 250); the cubes are always 901")
      ->check(CLI::Range(1, 10'000));
  command->add_option("--seed", arguments->scene.seed, "seed of the scene");
  command
      ->add_option("--settling", arguments->scene.settling_s,
                   "time for which the asteroids move before the recording begins, s")
      ->check(CLI::Range(0.0, 3600.0));
  command
      ->add_option("--seconds", arguments->scene.seconds,
                   "length of the recording, s (default: 120 for asteroids, 47.2 for cubes)")
      ->check(CLI::Range(0.0, 3600.0));
  command
      ->add_option("--csv", arguments->csv,
                   "write the motion to this file, which every command plays with --trace")
      ->group("Output");
  command
      ->add_option("--quantised", arguments->quantised,
                   "only cubes: write the pictures to this file as 32-bit integers, eight for each cube "
                   "(largest, a, b, c, x, y, z, interacting)")
      ->group("Output");
  command->footer(
      "Example: record a scene once, then replay it on a machine without the physics engine:\n"
      "  reckoner-harness record --scenario cubes --csv cubes.csv\n"
      "  reckoner-harness replay --trace cubes.csv --network lan");
  command->callback([arguments, &exit_code] { exit_code = run_record(*arguments); });
}

}  // namespace reckoner::harness
