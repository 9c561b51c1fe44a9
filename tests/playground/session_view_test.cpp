// SPDX-License-Identifier: MIT
// The page's view of a recorded session: its pictures, its explanations, and hostile files.
#include "playground/src/session_view.hpp"

#include "harness/explain/trials/trial_game.hpp"
#include "scenario/builtin/random.hpp"
#include "tests/support/recorded_drive.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace reckoner::playground {
namespace {

harness::PlayedTrial played() {
  return harness::play_trial(harness::draw_plan(harness::Cause::loss, 4), true);
}

TEST(SessionView, PlaysTheFramesAndExplainsTheSteps) {
  const auto trial = played();
  const auto view = view_session(trial.session, "trial.log", {}, {}, 10);
  ASSERT_TRUE(view) << view.error();
  EXPECT_FALSE(view->cut);
  EXPECT_NEAR(static_cast<double>(view->pictures), 60.0 * view->facts.seconds, 3.0);
  ASSERT_EQ(view->names.size(), view->ids.size());
  ASSERT_EQ(view->shown.size(), view->pictures * view->ids.size() * 7);
  ASSERT_FALSE(view->steps.empty());
  // The poses are those that the client drew.
  for (const auto& [name, drawn] : trial.drawn) {
    const auto entity = static_cast<std::size_t>(std::find(view->names.begin(), view->names.end(), name) -
                                                 view->names.begin());
    ASSERT_LT(entity, view->names.size()) << name;
    const harness::DrawnPose& last = drawn.back();
    const std::size_t at = ((view->pictures - 1) * view->ids.size() + entity) * 7;
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(view->shown[at + static_cast<std::size_t>(i)], last.position[i] - view->origin[i], 1e-3)
          << name;
  }
  const auto json = nlohmann::json::parse(session_json(*view));
  EXPECT_EQ(json["explained"]["steps"].size(), view->steps.size());
  EXPECT_EQ(json["entities"].size(), view->ids.size());
  EXPECT_FALSE(json["datagrams"]["lost"].empty());
}

TEST(SessionView, ListsTheCorrectionsOfPredictedEntities) {
  test::DrivePlan plan;
  plan.disturbance = test::DrivePlan::Disturbance::push;
  plan.size = 0.5;
  const test::RecordedDrive drive = test::play_drive(plan);
  const auto view = view_session(drive.session, "drive.log", {}, {}, 10);
  ASSERT_TRUE(view) << view.error();
  ASSERT_EQ(view->corrections.size(), drive.corrections.size());
  ASSERT_EQ(view->ids.size(), 1u);
  const std::size_t last = (view->pictures - 1) * 7;
  for (int i = 0; i < 3; ++i) {
    const double drawn = drive.drawn.back().position[i] - view->origin[i];
    EXPECT_NEAR(view->shown[last + static_cast<std::size_t>(i)], drawn, 1e-3);
  }
  const auto json = nlohmann::json::parse(session_json(*view));
  EXPECT_EQ(json["explained"]["corrections"].size(), 2u);
  EXPECT_EQ(json["explained"]["correction_causes"]["differs"], 1);
}

// The page moves to the time of a step that a reader picks, so the pictures must reach it.
TEST(SessionView, ReachesEveryStepWhereverTheRecordingEnds) {
  const auto recording = played().session;
  for (std::size_t cut = 0; cut < 60; ++cut) {
    auto shorter = recording;
    shorter.resize(recording.size() * (300 + cut) / 360);
    const auto view = view_session(shorter, "trial.log", {}, {}, 1000);
    ASSERT_TRUE(view) << view.error();
    ASSERT_FALSE(view->steps.empty());
    const double end_s = static_cast<double>(view->pictures - 1) / SessionView::kPictureRateHz;
    for (const harness::ExplainedStep& step : view->steps)
      EXPECT_LE(step.at_s, end_s) << "cut " << cut << ", frame " << step.frame;
  }
}

TEST(SessionView, RefusesWhatIsNoSessionOrNoDecisions) {
  EXPECT_EQ(view_session(std::vector<std::byte>(100), "x.log", {}, {}, 10).error(),
            "x.log is not a recorded session");
  EXPECT_NE(view_session(played().session, "x.log", "a,b\n", "d.csv", 10).error().find("d.csv:1"),
            std::string::npos);
}

TEST(SessionView, SurvivesDamagedRecordings) {
  const auto recording = played().session;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    scenario::Random random(seed);
    auto damaged = recording;
    damaged.resize(64 + random.below(damaged.size() - 64));
    for (int i = 0; i < 20; ++i)
      damaged[64 + random.below(damaged.size() - 64)] = static_cast<std::byte>(random.below(256));
    if (const auto view = view_session(damaged, "x.log", {}, {}, 10)) (void)session_json(*view);
  }
}

}  // namespace
}  // namespace reckoner::playground
