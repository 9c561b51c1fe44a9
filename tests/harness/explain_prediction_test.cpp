// SPDX-License-Identifier: MIT
// A recorded session with a predicted entity replays to the same picture, and its corrections are explained.
#include "client/src/testing/test_switches.hpp"
#include "harness/explain/collect_facts.hpp"
#include "harness/explain/explain.hpp"
#include "harness/explain/explain_corrections.hpp"
#include "harness/explain/explain_json.hpp"
#include "net/src/messages/messages.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/sessions/session_calls.hpp"
#include "programs/common/sessions/session_log.hpp"
#include "programs/common/sessions/session_transports.hpp"
#include "tests/support/recorded_drive.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/client/client.hpp>

namespace reckoner::harness {
namespace {

using reckoner::test::DrivePlan;
using reckoner::test::RecordedDrive;
using Disturbance = DrivePlan::Disturbance;

DrivePlan plan_of(Disturbance disturbance, double size = 0.0) {
  DrivePlan plan;
  plan.disturbance = disturbance;
  plan.size = size;
  return plan;
}

// The debug data 1 s after the disturbance, when all is known.
PredictionDebug debug_of(const RecordedDrive& drive) {
  return drive.debug.at(7 * 60);
}

TEST(RecordedPrediction, ReplaysTheSamePicture) {
  std::vector<DrivePlan> plans{plan_of(Disturbance::push, 0.5), plan_of(Disturbance::lost_inputs, 0.07),
                               plan_of(Disturbance::begins_again), plan_of(Disturbance::teleport, 30.0)};
  plans[0].client.input_delay_ticks = 2;
  plans[1].client.inputs_per_datagram = 2;
  plans[1].client.playout.mode = PlayoutMode::adaptive;
  plans[2].link.jitter_ms = 10.0;
  plans[3].link.loss_percent = 3.0;
  for (const DrivePlan& plan : plans) {
    const RecordedDrive drive = reckoner::test::play_drive(plan);
    ASSERT_GE(drive.corrections.size(), 2u);
    auto reader = program::SessionReader::read(drive.session, "drive.log");
    ASSERT_TRUE(reader) << reader.error();
    program::PlayedTransport transport{*reader};
    ClientConfig config = program::config_of(reader->settings());
    config.archetypes = program::archetypes();
    Client client = make_test_client(std::move(config), transport);
    std::size_t picture = 0, corrections = 0;
    while (const auto call = transport.next_call()) {
      if (const auto correction = program::repeat_call(client, *call)) {
        ASSERT_LT(corrections, drive.corrections.size());
        EXPECT_EQ(correction->tick, drive.corrections[corrections].tick);
        EXPECT_EQ(correction->reason, drive.corrections[corrections].reason);
        ++corrections;
      }
      if (std::holds_alternative<program::FrameRecord>(*call)) {
        for (const ShownEntity& shown : client.shown()) {
          ASSERT_LT(picture, drive.drawn.size());
          ASSERT_EQ(shown.shown.position, drive.drawn[picture].position) << picture;
          ASSERT_EQ(shown.shown.orientation, drive.drawn[picture].orientation) << picture;
          ++picture;
        }
      }
      while (client.poll_event()) {
      }
    }
    EXPECT_FALSE(transport.error());
    EXPECT_EQ(transport.differences(), 0u);
    EXPECT_EQ(picture, drive.drawn.size());
    EXPECT_EQ(corrections, drive.corrections.size());
  }
}

TEST(PredictionDebug, SaysNothingOfACorrectionThatDidNotCome) {
  const RecordedDrive drive = reckoner::test::play_drive(plan_of(Disturbance::nothing));
  const PredictionDebug debug = debug_of(drive);
  EXPECT_EQ(debug.corrections, drive.corrections.size());
  EXPECT_GT(debug.ticks, 5u * 60u);
  EXPECT_LT(debug.ticks, 7u * 60u);
  EXPECT_GT(debug.lead_s, 0.04);
  EXPECT_LT(debug.lead_s, 0.1);
  EXPECT_EQ(debug.fading_m, 0.0);
  ASSERT_TRUE(debug.correction);
  EXPECT_EQ(debug.correction->cause, CorrectionCause::begins);
  EXPECT_FALSE(debug.correction->had_result);
}

TEST(PredictionDebug, KnowsHowFarThePushWas) {
  const RecordedDrive drive = reckoner::test::play_drive(plan_of(Disturbance::push, 0.5));
  const PredictionDebug debug = debug_of(drive);
  ASSERT_TRUE(debug.correction);
  EXPECT_EQ(debug.correction->reason, CorrectionReason::differs);
  EXPECT_EQ(debug.correction->cause, CorrectionCause::differs);
  EXPECT_TRUE(debug.correction->had_result);
  EXPECT_NEAR(debug.correction->error_m, 0.5, 1e-3);
  EXPECT_NEAR(debug.correction->error_rad, 0.0, 1e-3);
  EXPECT_FALSE(debug.correction->game_state_differs);
  EXPECT_NEAR(debug.correction->age_s, 7.0 - drive.corrections.back().time_s, 0.05);
  // It fades in 0.2 s.
  const auto picture = static_cast<std::size_t>(drive.corrections.back().time_s * 60.0);
  EXPECT_GT(drive.debug.at(picture + 1).fading_m, 0.3);
  EXPECT_LT(drive.debug.at(picture + 8).fading_m, 0.25);
  EXPECT_EQ(drive.debug.at(picture + 15).fading_m, 0.0);
}

TEST(PredictionDebug, NamesTheCause) {
  const auto cause_of = [](const DrivePlan& plan) {
    const PredictionDebug debug = debug_of(reckoner::test::play_drive(plan));
    return debug.correction ? debug.correction->cause : CorrectionCause::begins;
  };
  EXPECT_EQ(cause_of(plan_of(Disturbance::fuel)), CorrectionCause::game_state);
  EXPECT_EQ(cause_of(plan_of(Disturbance::teleport, 30.0)), CorrectionCause::teleported);
  // A datagram that is held up looks like a lost one.
  for (const Disturbance disturbance : {Disturbance::lost_inputs, Disturbance::held_inputs}) {
    DrivePlan plan = plan_of(disturbance, 0.07);
    EXPECT_EQ(cause_of(plan), CorrectionCause::input_lost);
    // Without bytes, a late input shows some ticks later, and the server sees only that the states differ.
    plan.has_game_state = false;
    EXPECT_EQ(cause_of(plan), CorrectionCause::input_lost);
  }
  EXPECT_EQ(cause_of(plan_of(Disturbance::stall, 0.12)), CorrectionCause::input_late);
  DrivePlan inexact = plan_of(Disturbance::inexact_step, 0.01);
  inexact.has_game_state = false;
  EXPECT_EQ(cause_of(inexact), CorrectionCause::small_difference);
}

// The facts of a recorded session.
SessionFacts facts_of(const DrivePlan& plan) {
  auto reader = program::SessionReader::read(reckoner::test::play_drive(plan).session, "drive.log");
  auto facts = collect_facts(*reader, {program::archetypes(), {}});
  EXPECT_TRUE(facts);
  EXPECT_EQ(facts->differences, 0u);
  return std::move(*facts);
}

TEST(ExplainCorrections, TellsEachCorrectionWithItsCause) {
  const auto explained = explain_corrections(facts_of(plan_of(Disturbance::push, 0.5)), {});
  ASSERT_EQ(explained.size(), 2u);
  EXPECT_EQ(explained[0].cause, CorrectionCause::begins);
  EXPECT_TRUE(explained[0].known);
  const ExplainedCorrection& push = explained[1];
  EXPECT_EQ(push.cause, CorrectionCause::differs);
  EXPECT_FALSE(push.known);
  EXPECT_EQ(push.name, "car");
  EXPECT_NEAR(push.at_s, 6.0, 0.2);
  EXPECT_NEAR(push.error_m, 0.5, 1e-3);
  EXPECT_NE(push.sentence.find("off by 0.50 m"), std::string::npos) << push.sentence;
  EXPECT_NE(push.sentence.find("The error faded in "), std::string::npos) << push.sentence;
  const auto faded = std::ranges::find(push.evidence, "faded_s", &Evidence::name);
  ASSERT_NE(faded, push.evidence.end());
  EXPECT_GT(faded->value, 0.1);
  EXPECT_LT(faded->value, 0.25);
  EXPECT_TRUE(explain_corrections(facts_of(plan_of(Disturbance::push, 0.5)), {.entity = 99}).empty());
}

TEST(ExplainCorrections, CountsTheCauses) {
  const auto count = [](const DrivePlan& plan, CorrectionCause cause) {
    return count_causes(explain_corrections(facts_of(plan), {}))[static_cast<std::size_t>(cause)];
  };
  EXPECT_EQ(count(plan_of(Disturbance::nothing), CorrectionCause::begins), 1u);
  EXPECT_EQ(count(plan_of(Disturbance::begins_again), CorrectionCause::begins), 2u);
  EXPECT_EQ(count(plan_of(Disturbance::fuel), CorrectionCause::game_state), 1u);
  EXPECT_EQ(count(plan_of(Disturbance::lost_inputs, 0.07), CorrectionCause::input_lost), 1u);
  EXPECT_EQ(count(plan_of(Disturbance::stall, 0.12), CorrectionCause::input_late), 1u);
  DrivePlan inexact = plan_of(Disturbance::inexact_step, 0.01);
  inexact.has_game_state = false;
  EXPECT_GT(count(inexact, CorrectionCause::small_difference), 3u);
}

TEST(ExplainCorrections, AStepOfAPredictedEntityIsACorrection) {
  const SessionFacts facts = facts_of(plan_of(Disturbance::push, 3.0));
  const auto steps = explain(facts, {});
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps[0].cause, Cause::correction);
  EXPECT_TRUE(steps[0].known);
  EXPECT_NE(steps[0].sentence.find("off by 3.0 m"), std::string::npos) << steps[0].sentence;
  const auto json = explain_json(facts, steps, explain_corrections(facts, {}));
  EXPECT_EQ(json["corrections"].size(), 2u);
  EXPECT_EQ(json["correction_causes"]["differs"], 1);
  EXPECT_EQ(json["corrections"][1]["cause"], "differs");
  EXPECT_NEAR(json["corrections"][1]["evidence"]["error_m"].get<double>(), 3.0, 1e-3);
}

}  // namespace
}  // namespace reckoner::harness
