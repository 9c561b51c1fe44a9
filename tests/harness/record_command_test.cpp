// SPDX-License-Identifier: MIT
#include "harness/commands/commands.hpp"
#include "harness/replay/replay.hpp"
#include "harness/sim/link.hpp"
#include "scenario/builtin/physics/physics_scenes.hpp"
#include "scenario/trace/csv.hpp"
#include "scenario/trace/trace.hpp"

#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

int run(const std::string& arguments) {
  CLI::App app{"reckoner-harness"};
  int exit_code = 0;
  add_record_command(app, exit_code);
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code();
  }
  return exit_code;
}

Figures replayed(const scenario::Source& source, PlayoutMode mode) {
  ReplayOptions options;
  options.links = {*find_network("lan"), *find_network("lan")};
  options.tick_rate_hz = 30.0;
  options.budget = {.threshold_m = 0.01, .threshold_rad = 0.002};
  options.playout.mode = mode;
  const auto result = replay(source, options);
  EXPECT_TRUE(result) << result.error();
  return result ? result->run : Figures{};
}

TEST(RecordCommand, NeedsAnOutputAndAKnownScene) {
  EXPECT_NE(run("record --scenario cubes"), 0);
  EXPECT_NE(run("record --scenario asteroids --quantised unused.bin"), 0);
  EXPECT_NE(run("record --scenario crowd --csv unused.csv"), 0);
  EXPECT_NE(run("record --csv unused.csv"), 0);
}

TEST(RecordCommand, ItsFilePlaysLikeTheScene) {
  const std::string path = testing::TempDir() + "reckoner_record_command.csv";
  const std::string command =
      "record --scenario asteroids --entities 40 --settling 5 --seconds 5 --csv " + path;
  if (!scenario::has_physics()) {
    EXPECT_NE(run(command), 0);
    GTEST_SKIP() << "this build has no physics engine (Bullet)";
  }
  ASSERT_EQ(run(command), 0);
  const auto file = scenario::load_trace(path);
  std::remove(path.c_str());
  ASSERT_TRUE(file) << file.error();
  ASSERT_EQ((*file)->size(), 40u);
  auto recording =
      scenario::record_physics_scene({.scene = "asteroids", .bodies = 40, .settling_s = 5.0, .seconds = 5.0});
  ASSERT_TRUE(recording);
  const auto scene = scenario::play_recording(std::move(recording->motion), "asteroids");
  ASSERT_TRUE(scene) << scene.error();
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
    const Figures figures = replayed(**file, mode);
    EXPECT_EQ(to_json(figures), to_json(replayed(**scene, mode)));
    EXPECT_GT(payload_bits_per_body_frame(figures), 1.0);
    EXPECT_GT(figures.shown_error_m.p99, 0.0);
    EXPECT_TRUE(figures.shown_angle_error_rad);
  }
}

TEST(RecordCommand, WritesTheFramesOfTheCubes) {
  const std::string path = testing::TempDir() + "reckoner_record_command.bin";
  const std::string command = "record --scenario cubes --seconds 0.5 --quantised " + path;
  if (!scenario::has_physics()) {
    EXPECT_NE(run(command), 0);
    GTEST_SKIP() << "this build has no physics engine (Bullet)";
  }
  ASSERT_EQ(run(command), 0);
  const auto bytes = scenario::read_text_file(path);
  std::remove(path.c_str());
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->size(), 30u * 901u * 8u * 4u);
}

}  // namespace
}  // namespace reckoner::harness
