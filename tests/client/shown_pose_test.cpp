// SPDX-License-Identifier: MIT
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kPoseFrameS = 1.0 / 60.0;

struct PoseCase {
  const char* network;
  PlayoutMode mode;
};

const PoseCase kCases[] = {
    {"mobile", PlayoutMode::present}, {"mobile", PlayoutMode::delayed}, {"mobile", PlayoutMode::adaptive},
    {"stress", PlayoutMode::present}, {"stress", PlayoutMode::delayed}, {"stress", PlayoutMode::adaptive},
};

ClientConfig config_for(PlayoutMode mode) {
  ClientConfig config;
  config.playout = {.mode = mode, .delay_s = 0.5};
  return config;
}

/// The largest changes from one picture to the next.
struct Changes {
  std::optional<State> before;
  double speed = 0.0;         ///< speed of the pose, m/s
  double acceleration = 0.0;  ///< change of the shown velocity, m/s^2
  double mismatch = 0.0;      ///< shown velocity minus the velocity of the pose, m/s
  double age_s = 0.0;         ///< age of the oldest shown motion, s

  void note(const ShownEntity& entity) {
    const State& s = entity.shown;
    age_s = std::max(age_s, entity.age_s);
    if (before) {
      const glm::dvec3 moved = (s.position - before->position) / kPoseFrameS;
      speed = std::max(speed, glm::length(moved));
      acceleration =
          std::max(acceleration, double{glm::distance(s.velocity, before->velocity)} / kPoseFrameS);
      const glm::dvec3 mean = 0.5 * glm::dvec3{s.velocity + before->velocity};
      mismatch = std::max(mismatch, glm::distance(moved, mean));
    }
    before = s;
  }
};

void expect_continuous(const PoseCase& c, BlendCurve curve) {
  constexpr double kThresholdM = 0.1;
  constexpr double kBlendS = 24.0 * kPoseFrameS;
  WorldConfig config{.links = network(c.network), .seed = 8};
  config.server.archetypes[0].threshold_m = kThresholdM;
  World world(config);
  ClientConfig client_config = config_for(c.mode);
  client_config.archetypes = config.server.archetypes;
  client_config.playout.blend_curve = curve;
  client_config.playout.blend_s = kBlendS;
  const std::size_t client = world.add_client(client_config);
  const Circle path{.radius_m = 6.0, .turn_rps = 1.2};
  world.add_body(path);
  Changes changes;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < 3.0) return;
    ASSERT_EQ(shown.size(), 1u);
    changes.note(shown[0]);
  };
  world.run_to(30.0);
  EXPECT_GT(world.client(client).stats().updates_applied, 40u);
  // A quadratic that was exact when it was sent is now off by jerk age^3 / 6 in position and jerk age^2 / 2
  // in velocity. The blend removes both errors within T. Its acceleration is largest at the start: for the
  // cubic, it adds at most 6 |E0| / T^2 + 4 |E1| / T of acceleration and 1.5 |E0| / T + |E1| of speed.
  // Without a blend the position would jump in one picture, and a linear blend would start with a velocity
  // step. Both exceed these bounds several times over.
  const double jerk = path.acceleration() * path.turn_rps;
  const double age_s = changes.age_s;
  const double e0 = kThresholdM + jerk * age_s * age_s * age_s / 6.0;
  const double e1 = jerk * age_s * age_s / 2.0;
  const BlendShape& shape = blend_shape(curve);
  const BlendShape::Weights most = shape.second(0.0);
  const double acceleration = path.acceleration() + jerk * age_s +
                              std::abs(most.offset) * e0 / (kBlendS * kBlendS) +
                              std::abs(most.rate) * e1 / kBlendS;
  const std::string name = std::string(c.network) + " " + std::to_string(static_cast<int>(c.mode));
  EXPECT_LT(changes.acceleration, acceleration) << name;
  EXPECT_LT(changes.speed, path.speed() + shape.steepest.offset * e0 / kBlendS + 2.0 * e1) << name;
  EXPECT_LT(changes.mismatch, 0.25 * acceleration * kPoseFrameS) << name;
}

TEST(ShownPose, IsContinuousInPositionAndVelocityAcrossUpdates) {
  for (const PoseCase& c : kCases) {
    for (const BlendCurve curve : {BlendCurve::cubic, BlendCurve::damped})
      expect_continuous(c, curve);
  }
}

TEST(ShownPose, StaysCloseToTheTruthAtItsShownTime) {
  for (const PoseCase& c : kCases) {
    World world({.links = network(c.network), .seed = 3});
    world.add_client(config_for(c.mode));
    const Circle path{.radius_m = 6.0, .turn_rps = 1.2};
    world.add_body(path);
    std::vector<double> errors;
    world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      if (time_s < 3.0) return;
      ASSERT_EQ(shown.size(), 1u);
      errors.push_back(glm::distance(shown[0].shown.position, path(shown[0].shown_time_s).position));
    };
    world.run_to(30.0);
    std::sort(errors.begin(), errors.end());
    const double p95 = errors[errors.size() * 95 / 100];
    const double worst = errors.back();
    const bool stress = std::string(c.network) == "stress";
    if (c.mode == PlayoutMode::present) {
      // The bound is the threshold plus the error that grows while an update is in flight. This error is a
      // w^2 age^3 / 6, and the fit reduces it.
      EXPECT_LT(p95, stress ? 0.45 : 0.15) << c.network;
      EXPECT_LT(worst, stress ? 2.5 : 1.0) << c.network;
    } else {
      EXPECT_LT(p95, stress ? 0.12 : 0.06) << c.network << static_cast<int>(c.mode);
      EXPECT_LT(worst, stress ? 2.0 : 0.6) << c.network << static_cast<int>(c.mode);
    }
  }
}

TEST(ShownPose, NeverLiesBetweenTheEndsOfATeleport) {
  for (const PoseCase& c : kCases) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      World world({.links = network(c.network), .seed = seed});
      const std::size_t client = world.add_client(config_for(c.mode));
      // Two circles a hundred metres apart, with a teleport every 1.3 s.
      std::vector<double> jumps;
      for (int k = 1; k < 20; ++k)
        jumps.push_back(1.0 + 1.3 * k);
      const auto path = [jumps](double t) {
        const auto n = std::upper_bound(jumps.begin(), jumps.end(), t) - jumps.begin();
        return Circle{.radius_m = 3.0, .centre = {100.0 * static_cast<double>(n % 2), 0.0, 0.0}}(t);
      };
      const EntityId id = world.add_body(path, jumps);
      std::size_t between = 0;
      std::size_t frames = 0;
      std::optional<double> before_x;
      std::size_t crossings = 0;
      world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
        if (time_s < 2.0 || shown.empty()) return;
        const double x = shown[0].shown.position.x;
        ++frames;
        // The shown pose may overshoot a circle by the prediction error, but never comes near the middle.
        between += x > 20.0 && x < 80.0 ? 1 : 0;
        between += glm::length(shown[0].shown.velocity) > 60.0f ? 1 : 0;
        if (before_x && (*before_x > 50.0) != (x > 50.0)) ++crossings;
        before_x = x;
      };
      world.run_to(28.0);
      EXPECT_EQ(between, 0u) << c.network << " " << static_cast<int>(c.mode) << " seed " << seed;
      EXPECT_GT(frames, 1500u);
      EXPECT_GE(crossings, 15u);
      EXPECT_GE(world.count(client, ClientEvent::Kind::teleported), crossings);
      EXPECT_EQ(world.count(client, ClientEvent::Kind::spawned), 1u);
      ASSERT_NE(world.shown(client, id), nullptr);
    }
  }
}

}  // namespace
}  // namespace reckoner::test
