// SPDX-License-Identifier: MIT
#include "playground/src/settings.hpp"

#include "playground/src/command_text.hpp"
#include "playground/src/recorded_run.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::playground {
namespace {

constexpr char kSmall[] =
    R"({"scenario":"hop","seconds":5,"network":"wifi","updates_per_second":10,"methods":["reckoner","snap"]})";

TEST(PlaygroundSettings, ReadsEveryMember) {
  const auto settings = read_settings(
      R"({"trace":"a.csv","entity":"7","start":2,"seconds":3,"network":"mobile","mode":"delayed:150","seed":9,
          "changes":[{"option":"loss","value":4,"side":"down"},{"option":"jitter-ms","value":1}],
          "threshold_m":0.2,"blend_frames":3,"blend_curve":"cubic","methods":["snap","snap","reckoner"]})");
  ASSERT_TRUE(settings) << settings.error();
  EXPECT_EQ(settings->source.entity, "7");
  EXPECT_EQ(settings->methods, (std::vector<std::string>{"snap", "reckoner"}));
  const auto links = harness::links_of(settings->link);
  ASSERT_TRUE(links);
  EXPECT_EQ(links->down.loss_percent, 4.0);
  EXPECT_EQ(links->up.loss_percent, 3.0);
  EXPECT_EQ(links->up.jitter_ms, 1.0);
  EXPECT_EQ(settings->run.options.budget.threshold_m, 0.2);
  EXPECT_EQ(settings->run.options.blend_frames, 3.0);
  EXPECT_EQ(settings->run.blend.curve, "cubic");
}

TEST(PlaygroundSettings, RefusesWrongTypesNamesAndText) {
  for (const char* text : {"", "[]", "7", R"({"seconds":"5"})", R"({"seconds":-1})", R"({"seed":1.5})",
                           R"({"methods":["best"]})", R"({"blend_curve":"round"})", R"({"methods":{}})",
                           R"({"changes":[{"option":"loss","value":"much"}]})",
                           R"({"changes":[{"option":"loss","value":1,"side":"left"}]})", R"({"scenario":)"})
    EXPECT_FALSE(read_settings(text)) << text;
}

TEST(PlaygroundSettings, ErrorsOfARunAreThoseOfTheHarness) {
  const auto unknown = read_settings(R"({"scenario":"hop","network":"moon"})");
  ASSERT_TRUE(unknown);
  const auto run = run_settings(*unknown, "", Wanted::figures);
  ASSERT_FALSE(run);
  EXPECT_NE(run.error().find("unknown network moon"), std::string::npos);
  const auto trace = read_settings(R"({"trace":"a.csv","network":"lan"})");
  ASSERT_TRUE(trace);
  const auto bad = run_settings(*trace, "not a table\n", Wanted::figures);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().find("a.csv"), 0u) << bad.error();
}

// A recording far away is moved into the world. One that is too large for the world cannot be shown.
TEST(PlaygroundSettings, RecordingThatDoesNotFitTheWorldIsAnError) {
  std::string far = "id,t,x,y,z\n", large = far;
  for (int i = 0; i <= 100; ++i) {
    const std::string t = std::to_string(0.05 * i);
    far += "a," + t + "," + std::to_string(2e5 + i) + ",0,0\n";
    large += "a," + t + ",0,0,0\nb," + t + "," + std::to_string(9e5 + i) + ",0,0\n";
  }
  const auto settings = read_settings(R"({"trace":"far.csv","network":"lan","methods":["snap","reckoner"]})");
  ASSERT_TRUE(settings);
  EXPECT_TRUE(run_settings(*settings, far, Wanted::figures_and_frames));
  const auto run = run_settings(*settings, large, Wanted::figures_and_frames);
  ASSERT_FALSE(run);
  EXPECT_NE(run.error().find("far.csv"), std::string::npos) << run.error();
  EXPECT_NE(run.error().find(" m"), std::string::npos) << run.error();
}

TEST(PlaygroundSettings, TheCommandQuotesForTheShell) {
  auto settings = read_settings(R"({"trace":"my 'duel'.csv","network":"wifi","updates_per_second":7.5})");
  ASSERT_TRUE(settings);
  const std::string command = command_line(*settings);
  EXPECT_NE(command.find(R"(--trace 'my '\''duel'\''.csv' )"), std::string::npos) << command;
  EXPECT_NE(command.find("--updates-per-second 7.5 "), std::string::npos) << command;
}

TEST(PlaygroundSettings, TheConfigurationNamesTheMode) {
  const auto settings = read_settings(R"({"scenario":"hop","mode":"delayed:150","updates_per_second":10})");
  ASSERT_TRUE(settings);
  const std::string code = cpp_configuration(*settings);
  EXPECT_NE(
      code.find("client.playout.mode = reckoner::PlayoutMode::delayed;\nclient.playout.delay_s = 0.15;"),
      std::string::npos)
      << code;
  EXPECT_NE(code.find("server.updates_per_second = 10;"), std::string::npos) << code;
}

TEST(RecordedRun, TracksFollowTheTruthAndFiguresDoNotDependOnThem) {
  const auto settings = read_settings(kSmall);
  ASSERT_TRUE(settings);
  const auto run = run_settings(*settings, "", Wanted::figures_and_frames);
  ASSERT_TRUE(run) << run.error();
  ASSERT_EQ(run->tracks.size(), 2u);
  EXPECT_EQ(run->frames, 301u);
  EXPECT_EQ(run->truth.size(), run->frames * run->entities * kPoseFloats);
  for (const MethodTrack& track : run->tracks) {
    ASSERT_EQ(track.poses.size(), run->truth.size());
    EXPECT_FALSE(track.packets.empty());
    double error_m = 0.0;
    const std::size_t last = (run->frames - 1) * run->entities * kPoseFloats;
    for (std::size_t i = 0; i < 3; ++i)
      error_m += std::abs(track.poses[last + i] - run->truth[last + i]);
    EXPECT_GT(error_m, 0.0);
    EXPECT_LT(error_m, 10.0);
  }
  const auto figures = run_settings(*settings, "", Wanted::figures);
  ASSERT_TRUE(figures);
  EXPECT_TRUE(figures->tracks.empty());
  EXPECT_EQ(figures_text(*figures), figures_text(*run));
}

}  // namespace
}  // namespace reckoner::playground
