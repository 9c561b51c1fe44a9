// SPDX-License-Identifier: MIT
// How passengers of a ship are shown over a bad network, and the figures that measure it.
#include "harness/metrics/frame_metrics.hpp"

#include "harness/metrics/measure.hpp"
#include "harness/replay/replay.hpp"
#include "harness/sim/link.hpp"
#include "scenario/builtin/builtin.hpp"
#include "tests/support/sanitizer.hpp"

#include <array>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::harness {
namespace {

std::unique_ptr<scenario::Source> make(const std::string& name) {
  auto source = scenario::make_builtin(name);
  EXPECT_TRUE(source) << source.error();
  return std::move(*source);
}

// All true poses, with entities in the world shifted by `shift` and entities in frames shifted by `on_deck`
// in addition.
std::vector<ShownPose> shown_at(const scenario::Source& source, double time_s, const glm::dvec3& shift,
                                const glm::dvec3& on_deck) {
  std::vector<ShownPose> shown;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto frame = source.frame_of(i, time_s);
    Pose pose = source.pose_in(i, frame, time_s);
    pose.position += frame ? on_deck : shift;
    if (frame) pose = out_of_frame(shown[*frame].pose, pose);
    shown.push_back({i, pose, time_s, frame.has_value()});
  }
  return shown;
}

TEST(FrameMetrics, MeasuresRelativeToTheShownFrame) {
  const auto ship = make("ship");
  FrameMetrics metrics(*ship, 0.0);
  for (double t = 0.0; t < 30.0; t += 1.0 / 60.0)
    metrics.frame(t, shown_at(*ship, t, {3.0, 0.0, 0.0}, {0.0, 0.1, 0.0}));
  const FrameFigures f = metrics.figures();
  EXPECT_NEAR(f.frame_rest_error_m.p50, 0.1, 1e-3);
  EXPECT_NEAR(f.frame_rest_error_m.max, 0.1, 1e-2);
  EXPECT_NEAR(f.frame_walk_error_m.p50, 0.1, 1e-2);
  EXPECT_GT(f.frame_s, 15 * 20.0);
  EXPECT_GE(f.frame_changes, 3u);
  EXPECT_EQ(f.without_frame, 0u);
}

TEST(FrameMetrics, StepAtAChangeOfFrameIsMeasured) {
  const auto ship = make("ship");
  const auto worst = [&](double jolt_m) {
    FrameMetrics metrics(*ship, 0.0);
    std::vector<bool> in(ship->size());
    for (double t = 0.0; t < 30.0; t += 1.0 / 60.0) {
      auto shown = shown_at(*ship, t, glm::dvec3{0.0}, glm::dvec3{0.0});
      for (ShownPose& pose : shown) {
        if (t > 2.5 && pose.in_frame != in[pose.entity]) pose.pose.position.z += jolt_m;
        in[pose.entity] = pose.in_frame;
      }
      metrics.frame(t, shown);
    }
    return metrics.figures().frame_switch_velocity_step_mps.max;
  };
  EXPECT_LT(worst(0.0), 0.01);
  EXPECT_NEAR(worst(0.01), 0.6, 0.1);  // a jump of a centimetre in one frame
}

TEST(FrameMetrics, CountsEntitiesShownWithoutTheirFrame) {
  const auto ship = make("ship");
  FrameMetrics metrics(*ship, 0.0);
  for (double t = 0.0; t < 3.0; t += 1.0 / 60.0) {
    auto shown = shown_at(*ship, t, glm::dvec3{0.0}, glm::dvec3{0.0});
    shown.erase(shown.begin());  // the ship
    metrics.frame(t, shown);
  }
  EXPECT_GT(metrics.figures().without_frame, 100u);
}

Figures run(const std::string& scenario, std::uint64_t seed, const std::string& mode,
            const std::string& method = "reckoner") {
  ReplayOptions options;
  options.links = {*find_network("mobile"), *find_network("mobile")};
  options.seed = seed;
  options.seconds = 120.0;
  options.method = method;
  if (mode != "present") options.playout.mode = PlayoutMode::adaptive;
  const auto result = replay(*make(scenario), options);
  EXPECT_TRUE(result) << result.error();
  return result->run;
}

// The guarantees for ships in docs/frames.md.
TEST(Ship, PassengersAreShownAtTheirPositionOnDeck) {
  for (const std::string mode : {"present", "adaptive"}) {
    double aboard = 0.0, ashore = 0.0;
    for (std::uint64_t seed = 1; seed <= test::seeds_to_run(3); ++seed) {
      const Figures ship = run("ship", seed, mode);
      const Figures firm = run("ashore", seed, mode);
      ASSERT_TRUE(ship.in_frames && firm.in_frames);
      EXPECT_LT(ship.in_frames->frame_rest_error_m.p99, 0.02) << mode << seed;
      EXPECT_EQ(ship.in_frames->without_frame, 0u);
      aboard += ship.in_frames->frame_walk_error_m.p95;
      ashore += firm.in_frames->firm_walk_error_m.p95;
      EXPECT_EQ(ship.missing_s, 0.0);
      EXPECT_EQ(ship.ghost_s, 0.0);
    }
    if (test::kSanitized) continue;  // a single seed says little
    EXPECT_LT(aboard, 1.1 * ashore) << mode;
  }
}

TEST(Ship, BoardingCausesNoLargerStepThanTheWalkItself) {
  if (test::kSanitized) GTEST_SKIP() << "only figures, and other tests run this code";
  double with = 0.0, without = 0.0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    with += run("ship", seed, "present").in_frames->frame_change_velocity_step_mps.p99 / 3.0;
    without +=
        run("ship", seed, "present", "without-frames").in_frames->frame_change_velocity_step_mps.p99 / 3.0;
  }
  EXPECT_LT(with, without + 0.1);
}

// Uses frames so short that the acceleration of an ordinary correction does not look like a step.
TEST(Ship, ChangeOfFrameIsNoStep) {
  constexpr double kFrameRateHz = 240.0;
  for (const PlayoutConfig& playout : {PlayoutConfig{}, PlayoutConfig{.mode = PlayoutMode::adaptive},
                                       PlayoutConfig{.mode = PlayoutMode::delayed, .delay_s = 0.25}}) {
    for (std::uint64_t seed = 1; seed <= test::seeds_to_run(2); ++seed) {
      ReplayOptions options;
      options.links = {*find_network("mobile"), *find_network("mobile")};
      options.seed = seed;
      options.seconds = 70.0;
      options.playout = playout;
      options.frame_rate_hz = kFrameRateHz;
      const auto result = replay(*make("ship"), options);
      ASSERT_TRUE(result) << result.error();
      EXPECT_GT(result->run.in_frames->frame_changes, 10u);
      EXPECT_LT(result->run.in_frames->frame_switch_velocity_step_mps.max, 0.05) << seed;
    }
  }
}

TEST(Ship, WithoutFramesPassengersShake) {
  EXPECT_GT(run("ship", 1, "present", "without-frames").in_frames->frame_rest_error_m.p99, 0.05);
}

// The figures can be computed from files, as a real server and client write them.
TEST(Ship, CanBeMeasuredFromFiles) {
  const auto ship = make("ship");
  std::vector<scenario::PoseRow> truth, rendered;
  for (int k = 0; k < 60 * 6; ++k) {
    const double t = k / 60.0;
    for (std::size_t i = 0; i < ship->size(); ++i) {
      const auto frame = ship->frame_of(i, t);
      truth.push_back(
          {t, ship->entity(i).name, ship->pose(i, t), {}, t, frame ? ship->entity(*frame).name : ""});
    }
    for (const ShownPose& pose : shown_at(*ship, t, {1.0, 0.0, 0.0}, {0.0, 0.05, 0.0}))
      rendered.push_back({t, ship->entity(pose.entity).name, pose.pose, t, t, ""});
  }
  const auto figures = measure(truth, rendered);
  ASSERT_TRUE(figures) << figures.error();
  ASSERT_TRUE(figures->in_frames);
  EXPECT_NEAR(figures->in_frames->frame_rest_error_m.p99, 0.05, 2e-3);
  truth[1].frame = "nobody";
  EXPECT_FALSE(measure(truth, rendered));
}

}  // namespace
}  // namespace reckoner::harness
