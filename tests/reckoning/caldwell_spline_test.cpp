// SPDX-License-Identifier: MIT
#include "reckoning/src/blend/caldwell_spline.hpp"

#include "random_states.hpp"

#include <algorithm>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/blend.hpp>

namespace reckoner {
namespace {

// The packet's quadratic motion in double precision, as in the definition of the offset form.
glm::dvec3 motion_position(const State& s, double t) {
  return s.position + (glm::dvec3{s.velocity} + 0.5 * glm::dvec3{s.acceleration} * t) * t;
}
glm::dvec3 motion_velocity(const State& s, double t) {
  return glm::dvec3{s.velocity} + glm::dvec3{s.acceleration} * t;
}

TEST(CaldwellSpline, EqualsTheOffsetFormForQuadraticMotion) {
  test::RandomStates random{11};
  for (int i = 0; i < 300; ++i) {
    State packet = random.state();
    packet.position = random.vector(10.0);
    State shown = random.state();
    shown.position = packet.position + random.vector(3.0);
    const double age = random.number(0.0, 0.4);
    const double duration = random.number(0.02, 3.0);
    const CaldwellSpline spline = caldwell_spline(shown.position, shown.velocity, packet, age, duration);

    const glm::dvec3 e0 = shown.position - motion_position(packet, age);
    const glm::dvec3 e1 = glm::dvec3{shown.velocity} - motion_velocity(packet, age);
    // Coordinates of a hundred metres have an ulp of 1e-14: 1e-12 allows for the rounding of a few
    // operations.
    const double size = std::max(1.0, glm::length(motion_position(packet, age + duration)) / 100.0);
    for (double u = 0.0; u <= 1.0; u += 0.0625) {
      const glm::dvec3 offset =
          e0 * (1.0 - 3.0 * u * u + 2.0 * u * u * u) + e1 * (duration * u * (1.0 - u) * (1.0 - u));
      const glm::dvec3 expected = motion_position(packet, age + u * duration) + offset;
      EXPECT_LT(glm::length(spline.position(u * duration) - expected), 1e-12 * size);
    }
  }
}

TEST(CaldwellSpline, EqualsBlend) {
  test::RandomStates random{12};
  for (int i = 0; i < 100; ++i) {
    Motion packet{random.state(), 5.0, 0};
    packet.state.position = random.vector(10.0);
    packet.state.acceleration = {1.0f, -2.0f, 0.5f};
    packet.state.velocity = {3.0f, 0.25f, -1.0f};  // exact in float at the instants below
    State shown = random.state();
    shown.position = packet.state.position + random.vector(1.0);
    const double age = 0.25;
    const double duration = 0.5;
    const CaldwellSpline spline =
        caldwell_spline(shown.position, shown.velocity, packet.state, age, duration);
    const Blend blend{shown, state_at(packet, 5.0 + age), 5.0 + age, duration};
    for (double t = 0.0; t < duration; t += 0.0625) {
      const double now = 5.0 + age + t;
      const glm::dvec3 position = blend.apply(state_at(packet, now), now).position;
      EXPECT_LT(glm::length(spline.position(t) - position), 1e-12);
    }
  }
}

TEST(CaldwellSpline, StartsAndEndsWithTheRightVelocity) {
  test::RandomStates random{13};
  const State packet = random.state();
  const State shown = random.state();
  const CaldwellSpline spline = caldwell_spline(shown.position, shown.velocity, packet, 0.1, 0.3);
  EXPECT_LT(glm::length(spline.velocity(0.0) - glm::dvec3{shown.velocity}), 1e-9);
  EXPECT_LT(glm::length(spline.velocity(0.3) - motion_velocity(packet, 0.4)), 1e-9);
}

// The article places the inner points at one second of velocity. The curve then starts at 3/T times the true
// velocity.
TEST(CaldwellSpline, ArticlesPointsAreRightForThreeSecondsOnly) {
  const glm::dvec3 start{0.0};
  const glm::dvec3 velocity{2.0, 0.0, 0.0};
  for (const double duration : {1.0, 3.0}) {
    const CaldwellSpline article =
        spline_through(start, start + velocity, {5.0, 0.0, 0.0}, {6.0, 0.0, 0.0}, duration);
    EXPECT_NEAR(article.velocity(0.0).x, velocity.x * 3.0 / duration, 1e-12);
  }
}

TEST(CaldwellSpline, CoefficientsMatchTheArticle) {
  const CaldwellSpline s = spline_through({1, 0, 0}, {2, 0, 0}, {4, 0, 0}, {8, 0, 0}, 1.0);
  EXPECT_EQ(s.a.x, 8.0 - 3.0 * 4.0 + 3.0 * 2.0 - 1.0);
  EXPECT_EQ(s.b.x, 3.0 * 4.0 - 6.0 * 2.0 + 3.0 * 1.0);
  EXPECT_EQ(s.c.x, 3.0 * 2.0 - 3.0 * 1.0);
  EXPECT_EQ(s.d.x, 1.0);
  EXPECT_EQ(s.position(1.0).x, 8.0);
}

}  // namespace
}  // namespace reckoner
