// SPDX-License-Identifier: MIT
// Figures count only if at least 95 % of the expected poses were shown.
#include "harness/metrics/coverage.hpp"

#include "harness/commands/commands.hpp"
#include "harness/metrics/figures_json.hpp"
#include "harness/replay/compare.hpp"
#include "harness/replay/method.hpp"
#include "harness/replay/replay.hpp"
#include "harness/sim/link.hpp"
#include "motion_source.hpp"
#include "scenario/trace/csv.hpp"
#include "scenario/trace/output_file.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

using test::MotionSource;

constexpr double kSeconds = 8.0;

// Entities that walk on circles at these distances from the origin, m.
MotionSource walkers(const std::vector<double>& distances_m, const std::string& name = "walker") {
  std::vector<MotionSource::Entity> all;
  for (std::size_t i = 0; i < distances_m.size(); ++i) {
    MotionSource::Entity& one = all.emplace_back();
    one.info = {.name = name + std::to_string(i), .last_s = kSeconds};
    one.pose = [x = distances_m[i]](double t) {
      return Pose{{x + 3.0 * std::cos(t), 3.0 * std::sin(t), 0.0}, State{}.orientation};
    };
  }
  return MotionSource(std::move(all));
}

ReplayOptions over(const char* network) {
  ReplayOptions options;
  options.links = {*find_network(network), *find_network(network)};
  options.seconds = kSeconds;
  return options;
}

std::string error_of(const scenario::Source& source, const ReplayOptions& options) {
  const auto result = replay(source, options);
  if (!result) return result.error();
  const auto unshown = find_unshown(*result);
  return unshown ? unshown->message : "";
}

TEST(Coverage, FiguresOfWhatIsShownCount) {
  for (const NamedNetwork& network : named_networks())
    EXPECT_EQ(error_of(walkers({0.0, 50.0}), over(std::string(network.name).c_str())), "") << network.name;
}

TEST(Coverage, EntitiesBeyondTheWorldAreAnErrorForEveryMethod) {
  const MotionSource source = walkers({200'000.0});
  for (const std::string& method : method_names()) {
    ReplayOptions options = over("lan");
    options.method = method;
    const std::string error = error_of(source, options);
    EXPECT_NE(error.find("0 of "), std::string::npos) << method << ": " << error;
    EXPECT_NE(error.find("'walker0'"), std::string::npos) << error;
    EXPECT_NE(error.find("world_size_m"), std::string::npos) << error;
  }
}

TEST(Coverage, NameThatTheServerRefusesIsTheReason) {
  const std::string error = error_of(walkers({0.0}, std::string(64, 'n')), over("lan"));
  EXPECT_NE(error.find("the name has more than 64 bytes"), std::string::npos) << error;
}

TEST(Coverage, ClientThatNeverJoinsIsTheReason) {
  ReplayOptions options = over("lan");
  options.links.up.loss_percent = 100.0;
  const std::string error = error_of(walkers({0.0}), options);
  EXPECT_NE(error.find("the client "), std::string::npos) << error;
}

TEST(Coverage, OwnedEntitiesCountLikeOthers) {
  ReplayOptions options = over("lan");
  options.owner_links = {*find_network("wifi"), *find_network("wifi")};
  EXPECT_EQ(error_of(walkers({0.0}), options), "");
  EXPECT_NE(error_of(walkers({200'000.0}), options).find("world_size_m"), std::string::npos);
}

TEST(Coverage, RunWithoutAMeasuredFrameIsAnError) {
  for (const double seconds : {0.1, 1.0, 1.9}) {
    ReplayOptions options = over("lan");
    options.seconds = seconds;
    EXPECT_NE(error_of(walkers({0.0}), options).find("nothing was measured"), std::string::npos) << seconds;
  }
  MotionSource gap = walkers({0.0});
  gap.at(0).gaps_s = {{-1.0, kSeconds + 1.0}};
  EXPECT_NE(error_of(gap, over("lan")).find("nothing was measured"), std::string::npos);
  MotionSource jumps = walkers({0.0});
  for (double t = 0.25; t < kSeconds; t += 0.25)
    jumps.at(0).teleports_s.push_back(t);
  EXPECT_NE(error_of(jumps, over("lan")).find("nothing was measured"), std::string::npos);
}

TEST(Coverage, AtLeast95PercentMustBeShown) {
  for (const std::size_t count : {10u, 19u, 20u, 40u}) {
    std::vector<double> distances_m(count, 0.0);
    for (std::size_t i = 0; i < count; ++i)
      distances_m[i] = 10.0 * static_cast<double>(i);
    distances_m.back() = 300'000.0;
    EXPECT_EQ(error_of(walkers(distances_m), over("lan")).empty(), count >= 20) << count;
  }
  Figures run;
  run.frames = {.expected = 1000, .shown = 950, .counted = 950};
  EXPECT_FALSE(find_unshown(run));
  run.frames.shown = 949;
  const auto unshown = find_unshown(run, "the reason");
  ASSERT_TRUE(unshown);
  EXPECT_EQ(unshown->message,
            "the figures do not count: only 949 of 1000 expected poses were shown (94.9 %): the reason");
}

TEST(Coverage, EntityThatWasNeverShownHasNoErrorInTheJson) {
  std::vector<double> distances_m(20, 0.0);
  distances_m[7] = 300'000.0;
  const auto result = replay(walkers(distances_m), over("lan"));
  ASSERT_TRUE(result);
  ASSERT_FALSE(find_unshown(*result));
  const auto hidden = figures_json(result->entities[7]);
  EXPECT_TRUE(hidden["now_error_m"].is_null());
  EXPECT_TRUE(hidden["shown_error_m"].is_null());
  EXPECT_TRUE(hidden["angle_error_rad"].is_null());
  EXPECT_EQ(hidden["frames"]["shown"], 0);
  EXPECT_GT(hidden["frames"]["expected"], 300);
  EXPECT_GT(figures_json(result->entities[6])["now_error_m"]["p95"], 0.0);
  EXPECT_GT(figures_json(result->run)["now_error_m"]["p95"], 0.0);
}

TEST(Coverage, ComparisonFailsWithTheTraceTheMethodAndTheReason) {
  Comparison comparison;
  comparison.sources.push_back({"near", std::make_unique<MotionSource>(walkers({0.0}))});
  comparison.sources.push_back({"far", std::make_unique<MotionSource>(walkers({200'000.0}))});
  comparison.networks.push_back({"lan", {*find_network("lan"), *find_network("lan")}});
  comparison.methods = {"snap", "reckoner"};
  comparison.seeds = {1};
  comparison.options.seconds = kSeconds;
  const auto runs = compare(comparison);
  ASSERT_FALSE(runs);
  EXPECT_EQ(runs.error().find("far over lan, reckoner: "), 0u) << runs.error();
  EXPECT_NE(runs.error().find("world_size_m"), std::string::npos) << runs.error();
}

int run_command(const std::string& arguments) {
  CLI::App app{"reckoner-harness"};
  int exit_code = 0;
  add_replay_command(app, exit_code);
  add_compare_command(app, exit_code);
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code();
  }
  return exit_code;
}

// Writes a trace of a body on a circle at the distance `x_m` from the origin.
std::string write_trace(const std::string& name, double x_m) {
  std::string text = "id,t,x,y,z\n";
  for (int i = 0; i <= 240; ++i) {
    const double t = i / 30.0;
    text += fmt::format("a,{:.4f},{:.4f},{:.4f},0\n", t, x_m + 3.0 * std::cos(t), 3.0 * std::sin(t));
  }
  const std::string path = ::testing::TempDir() + name;
  EXPECT_FALSE(scenario::write_file(path, text));
  return path;
}

TEST(Coverage, CommandsFailAndWriteNoFigures) {
  const std::string json = ::testing::TempDir() + "coverage.json";
  const std::string near = write_trace("coverage_near.csv", 0.0);
  const std::string far = write_trace("coverage_far.csv", 200'000.0);
  std::remove(json.c_str());
  EXPECT_NE(run_command("replay --network lan --recentre never --trace " + far + " --json " + json), 0);
  EXPECT_FALSE(scenario::read_text_file(json));
  EXPECT_NE(run_command("compare --network lan --recentre never --methods reckoner,snap --seeds 1 --trace " +
                        near + " " + far + " --json " + json),
            0);
  EXPECT_FALSE(scenario::read_text_file(json));
  EXPECT_NE(run_command("replay --network lan --seconds 1 --trace " + near), 0);
  EXPECT_EQ(run_command("replay --network lan --trace " + near + " --json " + json), 0);
  EXPECT_TRUE(scenario::read_text_file(json));
}

}  // namespace
}  // namespace reckoner::harness
