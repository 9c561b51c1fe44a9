// SPDX-License-Identifier: MIT
#include "harness/methods/baseline.hpp"

#include <string>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner::harness {
namespace {

std::unique_ptr<Baseline> make(std::string_view name, const BaselineSetup& setup = {}) {
  for (const BaselineKind& kind : baseline_kinds()) {
    if (kind.name == name) return kind.make(setup);
  }
  ADD_FAILURE() << "no baseline " << name;
  return nullptr;
}

BaselineUpdate update(double time_s, glm::dvec3 position, glm::vec3 velocity, glm::vec3 acceleration = {},
                      std::uint32_t teleports = 0) {
  State state;
  state.position = position;
  state.velocity = velocity;
  state.acceleration = acceleration;
  return {state, time_s, teleports};
}

void expect_near(const glm::dvec3& a, const glm::dvec3& b, double tolerance) {
  EXPECT_LT(glm::length(a - b), tolerance) << a.x << ' ' << a.y << ' ' << a.z;
}

TEST(Baselines, SnapExtrapolatesTheNewestUpdate) {
  const auto snap = make("snap");
  EXPECT_FALSE(snap->show(0.0).has_value());
  snap->receive(update(1.0, {1.0, 0.0, 0.0}, {2.0f, 0.0f, 0.0f}, {9.0f, 9.0f, 9.0f}), 1.1);
  snap->receive(update(0.5, {7.0, 7.0, 7.0}, {}), 1.15);  // late: older than the newest update
  expect_near(snap->show(1.5)->pose.position, {2.0, 0.0, 0.0}, 1e-6);
}

// Number vectors: P0=(0,0) V0=(10,0) P0'=(4,2) V0'=(8,6) A=(0,-2) T=0.5.
TEST(Baselines, ProjectiveGivesThePublishedNumbers) {
  BaselineSetup setup;
  setup.interval_s = 0.5;
  const auto projective = make("projective", setup);
  projective->receive(update(-0.1, {-1.0, 0.0, 0.0}, {10.0f, 0.0f, 0.0f}), -0.1);
  projective->receive(update(0.0, {4.0, 2.0, 0.0}, {8.0f, 6.0f, 0.0f}, {0.0f, -2.0f, 0.0f}), 0.0);
  const double expected[5][3] = {{0.125, 2.140625, 0.8125},
                                 {0.25, 4.125, 2.0625},
                                 {0.375, 6.046875, 3.46875},
                                 {0.5, 8.0, 4.75},
                                 {0.75, 10.0, 5.9375}};
  for (const auto& row : expected) {
    if (row[0] == 0.75) continue;  // checked below: beyond T the motion continues
    expect_near(projective->show(row[0])->pose.position, {row[1], row[2], 0.0}, 1e-5);
  }
  expect_near(projective->show(0.75)->pose.position, {10.0, 5.9375, 0.0}, 1e-5);
}

TEST(Baselines, MethodsWithTheTrueAccelerationAreExact) {
  for (const char* name : {"quadratic", "projective", "tracker"}) {
    const auto baseline = make(name);
    const State start = update(0.0, {}, {1.0f, 2.0f, 0.0f}, {0.5f, -1.0f, 2.0f}).state;
    for (int frame = 0; frame < 120; ++frame) {
      const double t = frame / 60.0;
      if (frame % 6 == 0) baseline->receive({extrapolate(start, t - 0.05), t - 0.05, 0}, t);
      expect_near(baseline->show(t)->pose.position, extrapolate(start, t).position, 1e-3);
    }
  }
}

TEST(Baselines, EveryMethodConvergesToSteadyMotion) {
  for (const BaselineKind& kind : baseline_kinds()) {
    const auto baseline = kind.make({});
    const auto truth = [](double t) { return glm::dvec3{3.0 * t, 1.0, 0.0}; };
    glm::dvec3 shown{0.0};
    double shown_s = 0.0;
    for (int frame = 0; frame < 300; ++frame) {
      const double t = frame / 60.0;
      // The first half is wrong by 2 m, without a teleport.
      const glm::dvec3 off{0.0, frame < 60 ? 2.0 : 0.0, 0.0};
      if (frame % 6 == 0) baseline->receive(update(t - 0.05, truth(t - 0.05) + off, {3.0f, 0.0f, 0.0f}), t);
      if (const auto pose = baseline->show(t)) {
        shown = pose->pose.position;
        shown_s = pose->shown_time_s;
      }
    }
    // A known defect of the article: it ignores the packet's age and oscillates.
    const double tolerance = kind.name == "article" ? 1.5 : 0.02;
    EXPECT_LT(glm::length(shown - truth(shown_s)), tolerance) << kind.name;
  }
}

TEST(Baselines, NoneBlendsOrInterpolatesAcrossATeleport) {
  for (const BaselineKind& kind : baseline_kinds()) {
    const auto baseline = kind.make({});
    for (int frame = 0; frame < 240; ++frame) {
      const double t = frame / 60.0;
      const bool after = frame >= 120;
      if (frame % 6 == 0)
        baseline->receive(update(t, {after ? 100.0 : 0.0, 0.0, 0.0}, {}, {}, after ? 1 : 0), t);
      const auto pose = baseline->show(t);
      if (!pose) continue;
      const double x = pose->pose.position.x;
      EXPECT_TRUE(std::abs(x) < 1e-6 || std::abs(x - 100.0) < 1e-6) << kind.name << " shows " << x;
    }
    EXPECT_NEAR(baseline->show(4.0)->pose.position.x, 100.0, 1e-6) << kind.name;
  }
}

TEST(Baselines, OffsetDecaysByThePublishedFactors) {
  const auto decay = make("offset-decay");
  decay->receive(update(0.0, {0.0, 0.0, 0.0}, {}), 0.0);
  decay->receive(update(0.1, {0.2, 0.0, 0.0}, {}), 0.1);
  EXPECT_NEAR(decay->show(0.1)->pose.position.x, 0.2 - 0.2 * 0.95, 1e-9);
  EXPECT_NEAR(decay->show(0.2)->pose.position.x, 0.2 - 0.2 * 0.95 * 0.95, 1e-9);
  const auto far = make("offset-decay");
  far->receive(update(0.0, {0.0, 0.0, 0.0}, {}), 0.0);
  far->receive(update(0.1, {10.0, 0.0, 0.0}, {}), 0.1);
  EXPECT_NEAR(far->show(0.1)->pose.position.x, 10.0 - 10.0 * 0.85, 1e-9);
}

TEST(Baselines, ColyseusLikeFadesCorrectionsByTheDocumentedShares) {
  const auto like = make("colyseus-like");
  like->receive(update(0.0, {0.0, 0.0, 0.0}, {2.0f, 0.0f, 0.0f}), 0.1);
  EXPECT_NEAR(like->show(0.1)->pose.position.x, 0.2, 1e-6) << "stepped to the present with its velocity";
  like->receive(update(0.1, {1.2, 0.0, 0.0}, {2.0f, 0.0f, 0.0f}), 0.2);
  const auto left_m = [&](double time_s) { return 1.0 + 2.0 * time_s - like->show(time_s)->pose.position.x; };
  EXPECT_NEAR(left_m(0.2), 1.0, 1e-6) << "no jump";
  EXPECT_NEAR(left_m(0.25), 0.37, 0.005) << "63 % faded after one time constant";
  EXPECT_NEAR(left_m(0.30), 0.135, 0.005) << "at any number of pictures";
  EXPECT_NEAR(left_m(0.35), 0.05, 0.005) << "95 % after three";
  like->receive(update(0.3, {1.6, 9.0, 0.0}, {2.0f, 0.0f, 0.0f}, {}, 1), 0.4);
  expect_near(like->show(0.4)->pose.position, {1.8, 9.0, 0.0}, 1e-6);
}

TEST(Baselines, BuffersShowTheDeclaredDelay) {
  BaselineSetup setup;
  setup.interval_s = 0.1;
  setup.latency_s = 0.08;
  setup.jitter_s = 0.02;
  EXPECT_NEAR(make("lerp-buffer", setup)->delay_s(), 0.30, 1e-12);
  EXPECT_NEAR(make("hermite-buffer", setup)->delay_s(), 0.28, 1e-12);
  const auto lerp = make("lerp-buffer", setup);
  lerp->receive(update(0.1, {1.0, 0.0, 0.0}, {}), 0.2);
  lerp->receive(update(0.0, {0.0, 0.0, 0.0}, {}), 0.21);  // overtaken, but still useful
  EXPECT_FALSE(lerp->show(0.25).has_value());
  EXPECT_NEAR(lerp->show(0.35)->pose.position.x, 0.5, 1e-9);
  EXPECT_NEAR(lerp->show(0.90)->pose.position.x, 1.0, 1e-9);
}

}  // namespace
}  // namespace reckoner::harness
