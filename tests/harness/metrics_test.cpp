// SPDX-License-Identifier: MIT
#include "harness/metrics/metrics.hpp"

#include "motion_source.hpp"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

using test::MotionSource;

constexpr double kFrameS = 1.0 / 60.0;

Pose at(double x, double y = 0.0, double z = 0.0) {
  return Pose{{x, y, z}};
}

// A motion straight ahead at 2 m/s.
MotionSource straight() {
  return MotionSource::single([](double t) { return at(2.0 * t); });
}

// Shows `shown(t)` for entity 0 in every picture from 0 on, with a shown time `delay_s` ago.
void play(Metrics& metrics, double seconds, const std::function<Pose(double)>& shown, double delay_s = 0.0) {
  for (int k = 0; k * kFrameS <= seconds; ++k) {
    const double t = k * kFrameS;
    const ShownPose pose{0, shown(t), t - delay_s};
    metrics.frame(t, {&pose, 1}, delay_s);
  }
}

TEST(Metrics, PerfectMotionHasNoError) {
  const MotionSource truth = straight();
  Metrics metrics(truth, {});
  play(metrics, 10.0, [&](double t) { return truth.pose(0, t); });
  const Figures figures = metrics.figures();
  EXPECT_EQ(figures.now_error_m.max, 0.0);
  EXPECT_EQ(figures.shown_error_m.max, 0.0);
  EXPECT_NEAR(figures.velocity_step_mps.max, 0.0, 1e-9);
  EXPECT_NEAR(figures.excess_acceleration_mps2, 0.0, 1e-9);
  EXPECT_EQ(figures.pops_per_s, 0.0);
  EXPECT_NEAR(figures.entity_seconds, 10.0, 0.05);
  EXPECT_EQ(figures.missing_s, 0.0);
  EXPECT_EQ(figures.ghost_s, 0.0);
  EXPECT_FALSE(figures.clock_error_ms.has_value());
}

TEST(Metrics, ConstantOffsetIsAnErrorWithoutSteps) {
  const MotionSource truth = straight();
  Metrics metrics(truth, {});
  play(metrics, 10.0, [](double t) { return at(2.0 * t, 0.3, 0.4); });
  const Figures figures = metrics.figures();
  for (const double value : {figures.now_error_m.rms, figures.now_error_m.p50, figures.now_error_m.p95,
                             figures.now_error_m.p99, figures.now_error_m.max}) {
    EXPECT_NEAR(value, 0.5, 1e-12);
  }
  EXPECT_NEAR(figures.velocity_step_mps.max, 0.0, 1e-9);
}

TEST(Metrics, DelayCostsSameTimeErrorOnly) {
  const MotionSource truth = straight();
  Metrics metrics(truth, {});
  play(
      metrics, 10.0, [&](double t) { return truth.pose(0, t - 0.1); }, 0.1);
  const Figures figures = metrics.figures();
  EXPECT_NEAR(figures.now_error_m.p95, 0.2, 1e-9);
  EXPECT_NEAR(figures.shown_error_m.max, 0.0, 1e-9);
  EXPECT_NEAR(figures.delay_ms.mean, 100.0, 1e-6);
  EXPECT_NEAR(figures.delay_ms.max, 100.0, 1e-6);
}

TEST(Metrics, OneChangeOfVelocityIsOneStepAndOnePop) {
  const MotionSource truth = straight();
  Metrics metrics(truth, {});
  // From frame 300 on, the shown pose also moves sideways, at one metre a second.
  play(metrics, 10.0, [](double t) { return at(2.0 * t, std::max(0.0, t - 300 * kFrameS)); });
  const Figures figures = metrics.figures();
  EXPECT_NEAR(figures.velocity_step_mps.max, 1.0, 1e-6);
  EXPECT_NEAR(figures.velocity_step_mps.p99, 0.0, 1e-6);
  EXPECT_NEAR(figures.pops_per_s * 481 * kFrameS, 1.0, 1e-6);  // frames 120 to 600 count
}

TEST(Metrics, StepsOfTheTruthDoNotCount) {
  const auto zigzag = [](double t) { return at(2.0 * t, std::abs(std::fmod(t, 1.0) - 0.5)); };
  const MotionSource truth = MotionSource::single(zigzag);
  Metrics metrics(truth, {});
  play(metrics, 10.0, zigzag);
  EXPECT_NEAR(metrics.figures().velocity_step_mps.max, 0.0, 1e-9);
  EXPECT_EQ(metrics.figures().pops_per_s, 0.0);
}

TEST(Metrics, ExcessAccelerationOfAKnownWave) {
  const MotionSource truth = straight();
  Metrics metrics(truth, {});
  constexpr double kAmplitude = 0.05;
  constexpr double kOmega = 6.0;
  play(metrics, 60.0, [](double t) { return at(2.0 * t, kAmplitude * std::sin(kOmega * t)); });
  // The second difference of a sine is its acceleration times sinc^2(omega dt / 2).
  const double half = 0.5 * kOmega * kFrameS;
  const double expected =
      kAmplitude * kOmega * kOmega / std::sqrt(2.0) * std::pow(std::sin(half) / half, 2.0);
  EXPECT_NEAR(metrics.figures().excess_acceleration_mps2, expected, 0.01 * expected);
}

TEST(Metrics, AngleErrorIsTheAngleToTheTruth) {
  const MotionSource truth = straight();
  Metrics metrics(truth, {});
  const glm::quat turned = glm::angleAxis(0.2f, glm::vec3{0.0f, 0.0f, 1.0f});
  // -q is the same rotation.
  play(metrics, 5.0, [&](double t) { return Pose{{2.0 * t, 0.0, 0.0}, -turned}; });
  ASSERT_TRUE(metrics.figures().angle_error_rad.has_value());
  EXPECT_NEAR(metrics.figures().angle_error_rad->p95, 0.2, 1e-3);
}

// The pose is shown half a second late, with the orientation of that earlier time. It is wrong for the
// present, and right for its shown time.
TEST(Metrics, ShownAngleErrorRefersToTheShownTime) {
  const auto turning = [](double t) {
    return Pose{{2.0 * t, 0.0, 0.0},
                glm::angleAxis(static_cast<float>(0.3 * t), glm::vec3{0.0f, 0.0f, 1.0f})};
  };
  const MotionSource truth = MotionSource::single(turning);
  Metrics metrics(truth, {});
  const glm::quat off = glm::angleAxis(0.05f, glm::vec3{1.0f, 0.0f, 0.0f});
  const auto shown = [&](double t) {
    Pose pose = turning(t - 0.5);
    pose.orientation = off * pose.orientation;
    return pose;
  };
  play(metrics, 8.0, shown, 0.5);
  EXPECT_NEAR(metrics.figures().shown_angle_error_rad->p95, 0.05, 1e-3);
  EXPECT_NEAR(metrics.figures().angle_error_rad->p95, std::hypot(0.05, 0.15), 2e-3);
}

TEST(Metrics, NoAngleErrorWithoutOrientation) {
  MotionSource truth = straight();
  truth.at(0).info.has_orientation = false;
  Metrics metrics(truth, {});
  play(metrics, 5.0, [&](double t) { return truth.pose(0, t); });
  EXPECT_FALSE(metrics.figures().angle_error_rad.has_value());
  EXPECT_FALSE(metrics.figures().shown_angle_error_rad.has_value());
}

TEST(Metrics, ExcludesTheDocumentedFrames) {
  MotionSource truth = straight();
  truth.at(0).teleports_s = {4.0};
  truth.at(0).gaps_s = {{6.0 + 0.5 * kFrameS, 7.0 + 0.5 * kFrameS}};
  Metrics metrics(truth, {});
  // The shown pose is completely wrong in all excluded pictures and right in all others.
  play(metrics, 10.0, [&](double t) {
    const bool counts = t >= 2.0 - 1e-9 && !(t >= 4.0 - 1e-9 && t < 4.7 - 1e-9) && !truth.in_gap(0, t);
    return counts ? truth.pose(0, t) : at(2.0 * t, 50.0 * std::sin(900.0 * t));
  });
  const Figures figures = metrics.figures();
  EXPECT_EQ(figures.now_error_m.max, 0.0);
  EXPECT_NEAR(figures.velocity_step_mps.max, 0.0, 1e-9);  // differences restart after excluded pictures
  EXPECT_EQ(figures.frames.run_start, 120u);
  EXPECT_NEAR(static_cast<double>(figures.frames.teleport), 42.0, 1.0);
  EXPECT_EQ(figures.frames.gap, 60u);
  EXPECT_EQ(figures.frames.counted + figures.frames.excluded(), 601u);
  EXPECT_EQ(figures.teleports, 1u);
}

MotionSource visitor(double first_s, double last_s) {
  scenario::SourceEntity stays;
  stays.last_s = 20.0;
  scenario::SourceEntity visits;
  visits.first_s = first_s;
  visits.last_s = last_s;
  return MotionSource({{stays, [](double) { return at(0.0); }}, {visits, [](double) { return at(5.0); }}});
}

TEST(Metrics, CountsMissingEntitiesAfterTheGracePeriod) {
  const MotionSource truth = visitor(5.0, 15.0);
  MetricsConfig config;
  config.one_way_s = 0.1;
  Metrics metrics(truth, config);
  play(metrics, 20.0, [](double) { return at(0.0); });  // entity 1 is never shown
  EXPECT_NEAR(metrics.figures().missing_s, 10.0 - 0.4, 0.05);
  EXPECT_NEAR(metrics.entity_figures(1).missing_s, 9.6, 0.05);
  EXPECT_EQ(metrics.entity_figures(0).missing_s, 0.0);
}

TEST(Metrics, CountsGhostsAfterTheGracePeriod) {
  const MotionSource truth = visitor(5.0, 15.0);
  MetricsConfig config;
  config.one_way_s = 0.1;
  Metrics metrics(truth, config);
  for (int k = 0; k <= 1200; ++k) {
    const double t = k * kFrameS;
    const ShownPose both[2] = {{0, at(0.0), t}, {1, at(5.0), t}};
    metrics.frame(t, {both, t < 5.0 ? 1u : 2u});
  }
  EXPECT_NEAR(metrics.figures().ghost_s, 5.0 - 0.4, 0.05);
  EXPECT_EQ(metrics.figures().missing_s, 0.0);
  EXPECT_EQ(metrics.entity_figures(1).frames.entity_start, 18u);
}

// The body rests at 0 until 5 s. Then it rests 20 m away.
MotionSource jumper() {
  MotionSource source = MotionSource::single([](double t) { return at(t < 5.0 ? 0.0 : 20.0); });
  source.at(0).teleports_s = {5.0};
  return source;
}

TEST(Metrics, SnapSettlesAndIsNeverBetween) {
  const MotionSource truth = jumper();
  Metrics metrics(truth, {});
  play(metrics, 10.0, [](double t) { return at(t < 5.1 - 1e-9 ? 0.0 : 20.0); });
  EXPECT_EQ(metrics.figures().teleports, 1u);
  EXPECT_NEAR(metrics.figures().teleport_settle_ms, 100.0, 1.0);
  EXPECT_EQ(metrics.figures().between_teleport_frames, 0u);
}

TEST(Metrics, BlendAcrossATeleportIsDetected) {
  const MotionSource truth = jumper();
  Metrics metrics(truth, {});
  play(metrics, 10.0, [](double t) { return at(20.0 * std::clamp((t - 5.1) / 0.1, 0.0, 1.0)); });
  EXPECT_GE(metrics.figures().between_teleport_frames, 2u);
}

TEST(Metrics, ClockErrorsAreAbsolute) {
  const MotionSource truth = straight();
  Metrics metrics(truth, {});
  metrics.clock_error(-0.003);
  metrics.clock_error(0.003);
  ASSERT_TRUE(metrics.figures().clock_error_ms.has_value());
  EXPECT_NEAR(metrics.figures().clock_error_ms->p95, 3.0, 1e-9);
}

}  // namespace
}  // namespace reckoner::harness
