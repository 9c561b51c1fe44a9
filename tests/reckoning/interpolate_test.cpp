// SPDX-License-Identifier: MIT
#include "reckoning/src/blend/interpolate.hpp"

#include "random_states.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

// Two motions `gap_s` apart whose orientations differ by less than half a turn.
std::pair<Motion, Motion> random_pair(test::RandomStates& random, double gap_s) {
  Motion from{random.state(), 10.0};
  Motion to{random.state(), 10.0 + gap_s};
  to.state.position = from.state.position + random.vector(5.0);
  to.state.orientation =
      glm::quat{glm::normalize(rotation_exp(random.vector(1.0)) * glm::dquat{from.state.orientation})};
  return {from, to};
}

TEST(Interpolate, PassesThroughBothMotionsWithTheirVelocities) {
  test::RandomStates random(1);
  for (int i = 0; i < 500; ++i) {
    const auto [from, to] = random_pair(random, random.number(0.01, 1.0));
    for (const Motion& end : {from, to}) {
      const State s = interpolate(from, to, end.time_s);
      EXPECT_LT(glm::distance(s.position, end.state.position), 1e-9);
      EXPECT_LT(glm::distance(s.velocity, end.state.velocity), 1e-3f);
      EXPECT_LT(angle_between(s.orientation, end.state.orientation), 1e-3);
      EXPECT_LT(glm::distance(s.angular_velocity, end.state.angular_velocity), 1e-3f);
    }
  }
}

TEST(Interpolate, VelocitiesAreDerivatives) {
  constexpr double kStepS = 1e-4;
  test::RandomStates random(2);
  for (int i = 0; i < 500; ++i) {
    const auto [from, to] = random_pair(random, 0.2);
    const double time_s = random.number(10.01, 10.19);
    const State before = interpolate(from, to, time_s - kStepS);
    const State s = interpolate(from, to, time_s);
    const State after = interpolate(from, to, time_s + kStepS);
    const glm::dvec3 velocity = (after.position - before.position) / (2.0 * kStepS);
    EXPECT_LT(glm::distance(velocity, glm::dvec3{s.velocity}), 1e-3);
    const glm::dquat turn =
        glm::normalize(glm::dquat{after.orientation} * glm::conjugate(glm::dquat{before.orientation}));
    // Orientations are floats, so their difference over the step gives the rate to about 1e-3 rad/s.
    EXPECT_LT(glm::distance(rotation_log(turn) / (2.0 * kStepS), glm::dvec3{s.angular_velocity}), 0.02);
  }
}

TEST(Interpolate, PositionAloneEqualsTheFullResult) {
  test::RandomStates random(3);
  for (int i = 0; i < 100; ++i) {
    const auto [from, to] = random_pair(random, 0.15);
    const double time_s = random.number(10.0, 10.15);
    EXPECT_EQ(interpolate_position(from, to, time_s), interpolate(from, to, time_s).position);
  }
}

void link(Motion& from, Motion& to) {
  from.transition.bends = to.transition.bends = true;
  from.transition.link = 3;
  to.transition.link = next_link(from);
}

TEST(Interpolate, BendsOnlyFromTheMotionItWasMadeFor) {
  test::RandomStates random(8);
  auto [from, to] = random_pair(random, 0.2);
  const glm::dvec3 straight = interpolate_position(from, to, 10.07);
  link(from, to);
  EXPECT_NE(interpolate_position(from, to, 10.07), straight);
  for (std::uint8_t other = 0; other < MotionTransition::kLinks; ++other) {
    if (other == next_link(from)) continue;
    to.transition.link = other;
    EXPECT_EQ(interpolate_position(from, to, 10.07), straight);
  }
  link(from, to);
  from.transition.bends = false;
  EXPECT_EQ(interpolate_position(from, to, 10.07), straight);
}

TEST(Interpolate, SuddenMotionsIgnoreTheRatesBefore) {
  test::RandomStates random(12);
  for (int i = 0; i < 100; ++i) {
    auto [from, to] = random_pair(random, 0.1);
    to.transition.sudden = true;
    Motion other = from;
    other.state.velocity += glm::vec3{3.0f, -2.0f, 1.0f};
    other.state.angular_velocity += glm::vec3{1.0f, 2.0f, -3.0f};
    for (const double time_s : {10.0, 10.03, 10.06, 10.1}) {
      const State s = interpolate(from, to, time_s);
      const State same = interpolate(other, to, time_s);
      EXPECT_EQ(s.position, same.position);
      EXPECT_EQ(s.velocity, same.velocity);
      EXPECT_EQ(s.orientation, same.orientation);
      EXPECT_EQ(s.angular_velocity, same.angular_velocity);
      EXPECT_EQ(interpolate_position(from, to, time_s), s.position);
    }
    EXPECT_LT(glm::distance(interpolate(from, to, 10.0).position, from.state.position), 1e-9);
    const State end = interpolate(from, to, 10.1);
    EXPECT_LT(glm::distance(end.position, to.state.position), 1e-9);
    EXPECT_LT(glm::distance(end.velocity, to.state.velocity), 1e-3);
    EXPECT_LT(angle_between(end.orientation, to.state.orientation), 1e-3);
    EXPECT_LT(glm::distance(end.angular_velocity, to.state.angular_velocity), 1e-2);
  }
}

TEST(Interpolate, SuddenDoesNotCountAfterAQuietGap) {
  Motion from;
  from.time_s = 10.0;
  from.state.velocity.x = 5.0f;
  from.transition.quiet = {0.2f, 0.05f, 0.05f};
  Motion bounced;  // hit 20 ms before
  bounced.time_s = 13.0;
  bounced.state.position.x = 14.8;
  bounced.state.velocity.x = -5.0f;
  ASSERT_NEAR(curve_starts(from, bounced).position_s, 12.96, 1e-6);
  Motion lost = bounced;  // motions in between were lost
  lost.state.position.x = 3.0;
  ASSERT_EQ(curve_starts(from, lost).position_s, 10.0);
  for (const Motion& to : {bounced, lost}) {
    Motion sudden = to;
    sudden.transition.sudden = true;
    EXPECT_EQ(curve_starts(from, sudden).position_s, curve_starts(from, to).position_s);
    for (const double time_s : {10.0, 11.0, 12.95, 12.97, 12.99, 13.0}) {
      const State expected = interpolate_gap(from, to, time_s);
      const State s = interpolate_gap(from, sudden, time_s);
      EXPECT_EQ(s.position, expected.position) << time_s;
      EXPECT_EQ(s.velocity, expected.velocity) << time_s;
      EXPECT_EQ(s.orientation, expected.orientation) << time_s;
    }
  }
}

// Falls on a floor, bounces, and is published at the bounce and afterwards.
TEST(Interpolate, SuddenMotionsFollowABounceExactly) {
  constexpr double kGravity = 9.81;
  Motion from;
  from.time_s = 10.0;
  from.state.velocity.z = -5.0f;  // still the velocity of the fall
  const auto height = [](double t) { return 3.0 * t - 0.5 * kGravity * t * t; };
  Motion to;
  to.time_s = 10.2;
  to.state.position.z = height(0.2);
  to.state.velocity.z = static_cast<float>(3.0 - kGravity * 0.2);
  for (const double t : {0.02, 0.1, 0.18}) {
    EXPECT_GT(std::abs(interpolate(from, to, 10.0 + t).position.z - height(t)), 0.01);
    to.transition.sudden = true;
    EXPECT_NEAR(interpolate(from, to, 10.0 + t).position.z, height(t), 1e-6);
    to.transition.sudden = false;
  }
}

TEST(Interpolate, LinksDetectUpToTwoLostMotions) {
  Motion straight;
  Motion first;
  first.transition.bends = true;
  first.transition.link = next_link(straight);
  EXPECT_TRUE(bends(straight, first));
  std::vector<Motion> chain{first};
  for (int i = 0; i < 12; ++i) {
    Motion next;
    next.transition.bends = true;
    next.transition.link = next_link(chain.back());
    chain.push_back(next);
  }
  for (std::size_t i = 1; i < chain.size(); ++i) {
    EXPECT_TRUE(bends(chain[i - 1], chain[i]));
    EXPECT_FALSE(bends(straight, chain[i]));
    EXPECT_FALSE(i >= 2 && bends(chain[i - 2], chain[i]));
    EXPECT_FALSE(i >= 3 && bends(chain[i - 3], chain[i]));
  }
}

TEST(Interpolate, BentCurveEndsWithTheGivenAcceleration) {
  constexpr double kStepS = 1e-3;
  test::RandomStates random(6);
  for (int i = 0; i < 200; ++i) {
    auto [from, to] = random_pair(random, 0.2);
    link(from, to);
    const auto at = [&from = from, &to = to](double time_s) {
      return interpolate_position(from, to, time_s);
    };
    const glm::dvec3 backwards =
        (2.0 * at(10.2) - 5.0 * at(10.2 - kStepS) + 4.0 * at(10.2 - 2.0 * kStepS) - at(10.2 - 3.0 * kStepS)) /
        (kStepS * kStepS);
    EXPECT_LT(glm::distance(backwards, glm::dvec3{to.state.acceleration}), 5.0);  // they are about 10^4
    const double time_s = random.number(10.01, 10.19);
    const State s = interpolate(from, to, time_s);
    EXPECT_EQ(s.position, at(time_s));
    const glm::dvec3 velocity = (at(time_s + 1e-4) - at(time_s - 1e-4)) / 2e-4;
    EXPECT_LT(glm::distance(velocity, glm::dvec3{s.velocity}), 1e-3 * (1.0 + glm::length(velocity)));
    for (const Motion& end : {from, to})
      EXPECT_LT(glm::distance(at(end.time_s), end.state.position), 1e-9);
  }
}

TEST(Interpolate, BendsByTheGivenAmount) {
  test::RandomStates random(7);
  for (int i = 0; i < 200; ++i) {
    auto [from, straight] = random_pair(random, random.number(0.03, 0.6));
    const glm::dvec3 b = random.vector(4.0);
    Motion to = straight;
    to.state.acceleration = glm::vec3{bending_acceleration(from, straight, b)};
    link(from, to);
    const double u = random.number(0.0, 1.0);
    const double time_s = from.time_s + u * (to.time_s - from.time_s);
    const glm::dvec3 bent =
        interpolate_position(from, to, time_s) - interpolate_position(from, straight, time_s);
    EXPECT_LT(glm::distance(bent, b * bend_share(u)), 1e-4);
  }
}

TEST(Interpolate, AccelerationsDoNotMatter) {
  test::RandomStates random(4);
  auto [from, to] = random_pair(random, 0.1);
  const State with = interpolate(from, to, 10.03);
  from.state.acceleration = to.state.acceleration = glm::vec3{1e4f};
  const State without = interpolate(from, to, 10.03);
  EXPECT_EQ(with.position, without.position);
  EXPECT_EQ(with.velocity, without.velocity);
}

TEST(Interpolate, FollowsAMotionOfConstantAccelerationExactly) {
  test::RandomStates random(5);
  for (int i = 0; i < 100; ++i) {
    const Motion from{random.state(), 10.0};
    const Motion to{state_at(from, 10.4), 10.4};
    const double time_s = random.number(10.0, 10.4);
    // Velocities are floats of up to 40 m/s.
    EXPECT_LT(glm::distance(interpolate_position(from, to, time_s), state_at(from, time_s).position), 1e-5);
  }
}

// A motion at rest whose gap to the next motion is quiet.
Motion rest(double quiet_gap_s = 0.2) {
  Motion motion;
  motion.time_s = 10.0;
  motion.transition.quiet = {static_cast<float>(quiet_gap_s), 0.05f, 0.05f};
  return motion;
}

// The body started with 5 m/s, 20 ms before this motion.
Motion start_after(double gap_s) {
  Motion motion;
  motion.time_s = 10.0 + gap_s;
  motion.state.position.x = 0.1;
  motion.state.velocity.x = 5.0f;
  return motion;
}

TEST(InterpolateGap, SuddenStartAfterARestDoesNotMoveTheRest) {
  for (const double gap_s : {0.3, 1.0, 10.0}) {
    const Motion from = rest();
    const Motion to = start_after(gap_s);
    EXPECT_NEAR(to.time_s - curve_starts(from, to).position_s, 0.04, 1e-6);
    for (double t = 0.0; t < gap_s; t += 0.001) {
      const double x = interpolate_gap(from, to, from.time_s + t).position.x;
      const double really = std::max(0.0, 5.0 * (t - gap_s + 0.02));
      EXPECT_NEAR(x, really, 0.026) << t << " of " << gap_s;
    }
  }
}

TEST(InterpolateGap, ShortGapsAndBendsAreInterpolatedWhole) {
  EXPECT_EQ(curve_starts(rest(), start_after(0.19)).position_s, 10.0);
  EXPECT_EQ(curve_starts(rest(2.0), start_after(1.9)).position_s, 10.0);
  Motion bent = start_after(1.0);
  bent.transition.bends = true;
  EXPECT_EQ(curve_starts(rest(), bent).position_s, 10.0);
  EXPECT_EQ(interpolate_gap(rest(), bent, 10.7).position, interpolate(rest(), bent, 10.7).position);
  Motion unknown = rest();
  unknown.transition.quiet = {};
  EXPECT_EQ(curve_starts(unknown, start_after(100.0)).position_s, 10.0);
}

// A promise that was not kept means that motions were lost. Nobody knows when the change was.
TEST(InterpolateGap, MotionThatDidNotHoldIsInterpolatedWhole) {
  Motion far = start_after(2.0);
  far.state.position.x = 0.34;
  EXPECT_GT(curve_starts(rest(), far).position_s, 11.8) << "0.1 m, and 50 ms at 5 m/s";
  far.state.position.x = 0.36;
  EXPECT_EQ(curve_starts(rest(), far).position_s, 10.0);
}

// A gentle change, in a large part of the gap, is interpolated whole, too.
TEST(InterpolateGap, CurveBeginsWhereTheAccelerationChanged) {
  for (const double since_s : {0.1, 0.15, 0.25, 0.4, 1.0}) {
    Motion to;
    to.time_s = 11.0;
    to.state.position.y = 0.5 * 1.0 * since_s * since_s;
    to.state.velocity.y = static_cast<float>(1.0 * since_s);
    const double expected_s = since_s < 0.35 ? 11.0 - since_s : 10.0;
    EXPECT_NEAR(curve_starts(rest(), to).position_s, expected_s, 1e-6) << since_s;
  }
}

// A body spins for many seconds without an update. Its rotation during the gap is more than half a turn.
TEST(InterpolateGap, SpinsOnThroughALongGap) {
  test::RandomStates random(10);
  for (const double gap_s : {0.25, 2.0, 4.5, 8.0, 30.0}) {
    // The error at the end of the gap, and that of a cubic whose end has the wrong slope.
    const double most_rad = 0.009 + 4.0 / 27.0 * 0.0018 * gap_s;
    for (int i = 0; i < 50; ++i) {
      Motion from{random.state(), 10.0};
      from.transition.quiet = {0.2f, 0.05f, 0.01f};
      from.state.angular_velocity = glm::vec3{random.vector(1.0)};
      Motion to{state_at(from, 10.0 + gap_s), 10.0 + gap_s};
      // The prediction was wrong by a little, as when another error made the update due.
      to.state.orientation =
          glm::quat{glm::normalize(rotation_exp(random.vector(0.005)) * glm::dquat{to.state.orientation})};
      to.state.angular_velocity += glm::vec3{random.vector(0.001)};
      for (double t = 0.0; t < gap_s; t += 0.01 * gap_s) {
        const State s = interpolate_gap(from, to, 10.0 + t);
        EXPECT_LT(angle_between(s.orientation, state_at(from, 10.0 + t).orientation), most_rad)
            << t << " of " << gap_s;
      }
    }
  }
}

TEST(InterpolateGap, SpinEndsInBothMotionsAndHasItsVelocityAsDerivative) {
  constexpr double kStepS = 1e-4;
  test::RandomStates random(11);
  for (int i = 0; i < 500; ++i) {
    Motion from{random.state(), 10.0};
    from.transition.quiet = {0.2f, 0.05f, 0.05f};
    const double end_s = 10.0 + random.number(0.1, 5.0);
    Motion to{state_at(from, end_s), end_s};
    to.state.orientation = glm::quat{glm::normalize(rotation_exp(random.vector(i % 2 == 0 ? 0.05 : 2.0)) *
                                                    glm::dquat{to.state.orientation})};
    to.state.angular_velocity = from.state.angular_velocity + glm::vec3{random.vector(0.5)};
    for (const Motion& end : {from, to}) {
      const State s = interpolate(from, to, end.time_s);
      EXPECT_LT(angle_between(s.orientation, end.state.orientation), 1e-3);
      EXPECT_LT(glm::distance(s.angular_velocity, end.state.angular_velocity), 1e-3f);
    }
    const double time_s = random.number(10.001, to.time_s - 0.001);
    const glm::dquat before{interpolate(from, to, time_s - kStepS).orientation};
    const glm::dquat after{interpolate(from, to, time_s + kStepS).orientation};
    const glm::dvec3 rate = rotation_log(glm::normalize(after * glm::conjugate(before))) / (2.0 * kStepS);
    EXPECT_LT(glm::distance(rate, glm::dvec3{interpolate(from, to, time_s).angular_velocity}), 0.02);
  }
}

// A lost motion: the entity stopped turning soon after `from`. The shortest rotation is the best guess.
TEST(InterpolateGap, LostEndOfATurnDoesNotSpinOn) {
  Motion from;
  from.time_s = 10.0;
  from.transition.quiet = {0.2f, 0.05f, 0.05f};
  from.state.angular_velocity.z = 5.0f;
  Motion to;
  to.time_s = 11.0;
  to.state.orientation = glm::quat{rotation_exp({0.0, 0.0, 0.2})};
  for (double t = 0.0; t < 1.0; t += 0.01)
    EXPECT_LT(angle_between(interpolate_gap(from, to, 10.0 + t).orientation, to.state.orientation), 1.0) << t;
}

// A fast wheel turns by more than half a turn between two ordinary updates, and brakes.
TEST(InterpolateGap, SpinsOnBetweenUpdatesInQuickSuccession) {
  for (const double brake : {0.0, 5.0, 40.0}) {  // rad/s^2
    constexpr double kGapS = 0.19;
    Motion from;
    from.time_s = 10.0;
    from.transition.quiet = {0.2f, 0.05f, 0.05f};
    from.state.angular_velocity.y = 20.0f;
    const auto turned = [&](double t) { return rotation_exp({0.0, (20.0 - 0.5 * brake * t) * t, 0.0}); };
    Motion to;
    to.time_s = 10.0 + kGapS;
    to.state.orientation = glm::quat{turned(kGapS)};
    to.state.angular_velocity.y = static_cast<float>(20.0 - brake * kGapS);
    for (double t = 0.0; t < kGapS; t += 0.01) {
      const State s = interpolate_gap(from, to, 10.0 + t);
      EXPECT_LT(angle_between(s.orientation, glm::quat{turned(t)}), 1e-4) << t << " s, brake " << brake;
    }
  }
}

// Whatever the motions are: both ends are reached, and nothing jumps.
TEST(InterpolateGap, IsContinuous) {
  test::RandomStates random(9);
  for (int i = 0; i < 200; ++i) {
    auto [from, to] = random_pair(random, random.number(0.25, 2.0));
    from.transition.quiet = {0.2f, 0.05f, 0.05f};
    // Most motions in a quiet gap are close to the prediction.
    if (i % 2 == 0) {
      const State expected = state_at(from, to.time_s);
      to.state.position = expected.position + random.vector(0.05);
      to.state.orientation = expected.orientation;
    }
    EXPECT_LT(glm::distance(interpolate_gap(from, to, from.time_s).position, from.state.position), 1e-9);
    EXPECT_LT(glm::distance(interpolate_gap(from, to, to.time_s).position, to.state.position), 1e-9);
    constexpr double kStepS = 1e-5;
    const CurveStarts starts = curve_starts(from, to);
    for (const double at_s : {starts.position_s, starts.orientation_s}) {
      if (at_s <= from.time_s || at_s >= to.time_s) continue;
      const State before = interpolate_gap(from, to, at_s - kStepS);
      const State after = interpolate_gap(from, to, at_s + kStepS);
      EXPECT_LT(glm::distance(before.position, after.position), 0.01);
      EXPECT_LT(glm::distance(before.velocity, after.velocity), 0.2f);
      EXPECT_LT(angle_between(before.orientation, after.orientation), 0.005);
    }
  }
}

}  // namespace
}  // namespace reckoner
