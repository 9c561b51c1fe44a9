// SPDX-License-Identifier: MIT
// The curve between samples, through the public interface.
#include "reckoning/src/motion/rotation.hpp"
#include "scenario/builtin/random.hpp"
#include "scenario/trace/trace.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::scenario {
namespace {

struct Sample {
  double t;
  glm::dvec3 p;
  glm::dquat q{1.0, 0.0, 0.0, 0.0};
};

std::string text_of(const std::vector<Sample>& samples) {
  std::string text = "t,x,y,z,qw,qx,qy,qz\n";
  for (const Sample& s : samples) {
    char line[300];
    std::snprintf(line, sizeof line, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", s.t, s.p.x, s.p.y,
                  s.p.z, s.q.w, s.q.x, s.q.y, s.q.z);
    text += line;
  }
  return text;
}

std::unique_ptr<Source> track(const std::vector<Sample>& samples) {
  auto source = parse_trace(text_of(samples), "samples");
  EXPECT_TRUE(source) << source.error();
  return std::move(*source);
}

// A body with random translation and rotation at uneven times, with quaternions of either sign.
std::vector<Sample> wander(int count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Sample> samples;
  Sample sample{10.0, {1.0, 2.0, 3.0}};
  for (int i = 0; i < count; ++i) {
    sample.t += random.uniform(0.01, 0.1);
    sample.p += glm::dvec3{random.normal(), random.normal(), random.normal()} * 0.2;
    const glm::dvec3 turn{random.normal(), random.normal(), random.normal()};
    sample.q = glm::normalize(rotation_exp(turn * 0.3) * sample.q);
    if (random.chance(0.5)) sample.q = -sample.q;
    samples.push_back(sample);
  }
  return samples;
}

glm::dvec3 velocity(const Source& source, double t0, double t1) {
  return (source.pose(0, t1).position - source.pose(0, t0).position) / (t1 - t0);
}

bool same_bits(const Pose& a, const Pose& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

TEST(Track, PassesThroughItsSamples) {
  const std::vector<Sample> samples = wander(200, 1);
  const auto source = track(samples);
  for (const Sample& s : samples) {
    const Pose pose = source->pose(0, s.t);
    EXPECT_EQ(pose.position, s.p);
    EXPECT_LT(angle_between(pose.orientation, glm::quat(s.q)), 1e-6);
    // and reaches them from the left
    const Pose before = source->pose(0, s.t - 1e-9);
    EXPECT_LT(glm::length(before.position - s.p), 1e-7);
    EXPECT_LT(angle_between(before.orientation, glm::quat(s.q)), 1e-6);
  }
}

// For any signs in the recording: code that blends or writes quaternions must not see them flip.
TEST(Track, QuaternionsKeepTheirSign) {
  const auto source = track(wander(200, 4));
  glm::quat before = source->pose(0, source->start_s()).orientation;
  for (double t = source->start_s(); t <= source->end_s(); t += 0.001) {
    const glm::quat now = source->pose(0, t).orientation;
    ASSERT_GT(glm::dot(before, now), 0.9f) << t;
    before = now;
  }
}

TEST(Track, ReproducesAParabolaExactlyOnUnevenTimes) {
  const auto at = [](double t) { return glm::dvec3{1.0 + 2.0 * t - 3.0 * t * t, 5.0 * t * t, -4.0 * t}; };
  std::vector<Sample> samples;
  for (const double t : {0.0, 0.1, 0.15, 0.35, 0.4, 0.47, 0.6})
    samples.push_back({t, at(t)});
  const auto source = track(samples);
  for (double t = 0.1; t <= 0.47; t += 0.001) {
    EXPECT_LT(glm::length(source->pose(0, t).position - at(t)), 1e-12) << t;
  }
}

TEST(Track, MatchesHandComputedValues) {
  // Tangents by hand: 10 (one-sided), (10 * 0.2 + 5 * 0.1) / 0.3 = 25/3, 5 (one-sided).
  const auto source = track({{0.0, {0.0, 0.0, 0.0}}, {0.1, {1.0, 0.0, 0.0}}, {0.3, {2.0, 0.0, 0.0}}});
  // Middle of a Hermite segment: (p0 + p1) / 2 + h (v0 - v1) / 8.
  EXPECT_NEAR(source->pose(0, 0.05).position.x, 0.5 + 0.1 * (10.0 - 25.0 / 3.0) / 8.0, 1e-12);
  EXPECT_NEAR(source->pose(0, 0.2).position.x, 1.5 + 0.2 * (25.0 / 3.0 - 5.0) / 8.0, 1e-12);
  EXPECT_EQ(source->pose(0, -5.0).position.x, 0.0);
  EXPECT_EQ(source->pose(0, 5.0).position.x, 2.0);
}

TEST(Track, IsContinuousInVelocityAndAngularVelocity) {
  const std::vector<Sample> samples = wander(100, 2);
  const auto source = track(samples);
  constexpr double kStep = 1e-4;
  const auto turn_rate = [&](double t0, double t1) {
    const glm::dquat q0 = glm::normalize(glm::dquat(source->pose(0, t0).orientation));
    const glm::dquat q1 = glm::normalize(glm::dquat(source->pose(0, t1).orientation));
    return rotation_log(q1 * glm::conjugate(q0)) / (t1 - t0);
  };
  for (std::size_t i = 1; i + 1 < samples.size(); ++i) {
    const double t = samples[i].t;
    // one-sided differences, extrapolated to the sample
    const glm::dvec3 left =
        1.5 * velocity(*source, t - kStep, t) - 0.5 * velocity(*source, t - 2 * kStep, t - kStep);
    const glm::dvec3 right =
        1.5 * velocity(*source, t, t + kStep) - 0.5 * velocity(*source, t + kStep, t + 2 * kStep);
    EXPECT_LT(glm::length(left - right), 0.02) << t;
    const glm::dvec3 turn_left = 1.5 * turn_rate(t - kStep, t) - 0.5 * turn_rate(t - 2 * kStep, t - kStep);
    const glm::dvec3 turn_right = 1.5 * turn_rate(t, t + kStep) - 0.5 * turn_rate(t + kStep, t + 2 * kStep);
    EXPECT_LT(glm::length(turn_left - turn_right), 0.01 * (1.0 + glm::length(turn_left))) << t;
  }
}

TEST(Track, TurnsSteadilyAboutAnAxis) {
  const glm::dvec3 axis = glm::normalize(glm::dvec3{1.0, -2.0, 0.5});
  std::vector<Sample> samples;
  for (const double t : {0.0, 0.05, 0.2, 0.24, 0.5, 0.6}) {
    samples.push_back({t, {0.0, 0.0, 0.0}, rotation_exp(axis * (9.0 * t))});
  }
  const auto source = track(samples);
  for (double t = 0.0; t <= 0.6; t += 0.003) {
    EXPECT_LT(angle_between(source->pose(0, t).orientation, glm::quat(rotation_exp(axis * (9.0 * t)))), 2e-6);
    EXPECT_NEAR(glm::length(source->pose(0, t).orientation), 1.0f, 1e-6f);
  }
}

TEST(Track, HoldsTheEarlierPoseUntilATeleport) {
  std::vector<Sample> samples;
  for (int i = 0; i < 10; ++i) {
    const double t = 0.1 * i;
    const double x = i < 5 ? t : 100.0 - 2.0 * t;
    samples.push_back({t, {x, 0.0, 0.0}, rotation_exp({0.0, 0.0, i < 5 ? t : 2.0 + t})});
  }
  const auto source = track(samples);
  for (const double t : {0.41, 0.45, 0.4999999}) {
    EXPECT_EQ(source->pose(0, t).position.x, samples[4].p.x);
    EXPECT_LT(angle_between(source->pose(0, t).orientation, glm::quat(samples[4].q)), 1e-6);
  }
  EXPECT_EQ(source->pose(0, 0.5).position.x, samples[5].p.x);
  // One-sided tangents: straight motion stays straight up to the jump and after it.
  for (double t = 0.0; t <= 0.4; t += 0.013)
    EXPECT_NEAR(source->pose(0, t).position.x, t, 1e-12);
  for (double t = 0.5; t <= 0.9; t += 0.013)
    EXPECT_NEAR(source->pose(0, t).position.x, 100.0 - 2.0 * t, 1e-12);
  EXPECT_FALSE(source->teleports_within(0, 0.4, 0.4999999));
  EXPECT_TRUE(source->teleports_within(0, 0.4, 0.5));
  EXPECT_FALSE(source->teleports_within(0, 0.5, 0.9));
  EXPECT_TRUE(source->teleports_within(0, 0.0, 0.9));
}

TEST(Track, TeleportIsBothFastAndLong) {
  const auto jumps = [](double metres, double seconds, double teleport_mps) {
    const std::vector<Sample> samples = {{0.0, {0.0, 0.0, 0.0}}, {seconds, {metres, 0.0, 0.0}}};
    const auto source = parse_trace(text_of(samples), "s", {.teleport_mps = teleport_mps});
    return (*source)->teleports_within(0, 0.0, seconds);
  };
  EXPECT_TRUE(jumps(1.01, 0.01, 100.0));
  EXPECT_FALSE(jumps(1.0, 0.001, 100.0));  // fast, too short
  EXPECT_FALSE(jumps(1.01, 0.02, 100.0));  // long, too slow
  EXPECT_TRUE(jumps(1.01, 0.02, 50.0));
  EXPECT_FALSE(jumps(101.0, 1.02, 100.0));
}

TEST(Track, GapsAreStrictlyInsideStepsAboveAQuarterSecond) {
  const auto source = track({{0.1, {0, 0, 0}}, {0.35, {1, 0, 0}}, {0.7, {2, 0, 0}}, {0.8, {3, 0, 0}}});
  EXPECT_FALSE(source->in_gap(0, 0.2));
  EXPECT_FALSE(source->in_gap(0, 0.35));
  EXPECT_TRUE(source->in_gap(0, 0.3501));
  EXPECT_TRUE(source->in_gap(0, 0.6999));
  EXPECT_FALSE(source->in_gap(0, 0.7));
  EXPECT_FALSE(source->in_gap(0, 0.75));
  EXPECT_FALSE(source->in_gap(0, 0.0));
  EXPECT_FALSE(source->in_gap(0, 0.9));
  // The truth continues through the gap.
  EXPECT_NEAR(source->pose(0, 0.525).position.x, 1.5, 0.3);
}

TEST(Track, UsesAtMostTwoLaterSamples) {
  std::vector<Sample> samples = wander(120, 3);
  for (std::size_t i = 60; i < samples.size(); ++i)
    samples[i].p.x += 50.0;  // also a teleport
  const auto whole = track(samples);
  for (std::size_t kept = 5; kept < samples.size(); ++kept) {
    const auto cut = track({samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(kept)});
    const double until = samples[kept - 3].t;  // two whole samples follow
    int compared = 0;
    for (double t = samples[kept / 2].t; t <= until; t += 0.0037, ++compared) {
      ASSERT_TRUE(same_bits(whole->pose(0, t), cut->pose(0, t))) << kept << " " << t;
      ASSERT_EQ(whole->teleports_within(0, t - 0.0037, t), cut->teleports_within(0, t - 0.0037, t));
    }
    ASSERT_GT(compared, 0);
  }
}

TEST(Track, SingleSampleIsAPose) {
  const auto source = track({{3.0, {1.0, 2.0, 3.0}}});
  EXPECT_EQ(source->start_s(), 3.0);
  EXPECT_EQ(source->end_s(), 3.0);
  EXPECT_EQ(source->pose(0, 3.0).position, glm::dvec3(1.0, 2.0, 3.0));
}

}  // namespace
}  // namespace reckoner::scenario
