// SPDX-License-Identifier: MIT
#include "scenario/builtin/random.hpp"
#include "server/src/ownership/ownership.hpp"

#include <cmath>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr OwnerLimits kLimits{10.0, 50.0, 1000.0, 0.1, 0.5};

Motion at(double time_s, const glm::dvec3& position, const glm::vec3& velocity = glm::vec3{0.0f}) {
  Motion m;
  m.time_s = time_s;
  m.state.position = position;
  m.state.velocity = velocity;
  return m;
}

TEST(OwnerCheck, AcceptsMotionsWithinTheLimits) {
  OwnerCheck check(kLimits, at(0.0, {}));
  for (int i = 1; i <= 200; ++i) {
    const double t = 0.1 * i;
    const Motion next =
        at(t, {std::sin(t) * 5.0, 0.0, 0.0}, {static_cast<float>(5.0 * std::cos(t)), 0.0f, 0.0f});
    if (i == 1) {
      check.restart(next);
      continue;
    }
    ASSERT_TRUE(check.is_possible(next)) << t;
    check.accept(next);
  }
}

TEST(OwnerCheck, RefusesMotionsBeyondEachLimit) {
  const OwnerCheck check(kLimits, at(0.0, {}));
  EXPECT_TRUE(check.is_possible(at(1.0, {10.0, 0.0, 0.0})));
  EXPECT_FALSE(check.is_possible(at(1.0, {10.2, 0.0, 0.0})));
  EXPECT_TRUE(check.is_possible(at(1.0, {}, {10.0f, 0.0f, 0.0f})));
  EXPECT_FALSE(check.is_possible(at(1.0, {}, {10.6f, 0.0f, 0.0f})));
  EXPECT_TRUE(check.is_possible(at(0.1, {}, {5.4f, 0.0f, 0.0f})));
  EXPECT_FALSE(check.is_possible(at(0.1, {}, {5.6f, 0.0f, 0.0f})));
  Motion pushed = at(1.0, {});
  pushed.state.acceleration = {51.0f, 0.0f, 0.0f};
  EXPECT_FALSE(check.is_possible(pushed));
  const OwnerCheck border(kLimits, at(0.0, {999.0, 0.0, 0.0}));
  EXPECT_TRUE(border.is_possible(at(1.0, {999.9, 0.0, 0.0})));
  EXPECT_FALSE(border.is_possible(at(1.0, {1000.1, 0.0, 0.0})));
}

// Each motion goes slightly further than allowed. The excess does not accumulate.
TEST(OwnerCheck, SmallExcessesDoNotAccumulate) {
  OwnerCheck check(kLimits, at(0.0, {}));
  double x = 0.0;
  int accepted = 0;
  for (int i = 1; i <= 600; ++i) {
    const Motion next = at(i / 60.0, {x + 10.0 / 60.0 + 0.05, 0.0, 0.0});
    if (!check.is_possible(next)) continue;
    check.accept(next);
    x = next.state.position.x;
    ++accepted;
  }
  EXPECT_GT(accepted, 100);
  EXPECT_LE(x, 10.0 * 10.0 + kLimits.position_slack_m + 1e-9);
}

// For any request, the result is reachable. A reachable request is returned unchanged.
TEST(OwnerCheck, NearestMotionIsAlwaysWithinTheLimits) {
  scenario::Random random{5};
  const auto vector = [&](double size) {
    return glm::dvec3{random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)};
  };
  OwnerCheck check(kLimits, at(0.0, {}));
  int as_asked = 0;
  double t = 0.0;
  for (int i = 0; i < 5000; ++i) {
    t += random.uniform(0.005, 0.3);
    const double wild = std::pow(10.0, random.uniform(-3.0, 4.0));
    Motion next = at(t, check.last().state.position + vector(wild), glm::vec3{vector(wild)});
    next.state.acceleration = glm::vec3{vector(wild)};
    const Motion nearest = check.nearest(next);
    Motion reached = nearest;
    reached.state.velocity = check.last().state.velocity;
    ASSERT_TRUE(check.is_possible(reached)) << i;
    ASSERT_LE(glm::length(nearest.state.velocity), kLimits.max_speed_mps + 1e-3);
    if (check.is_possible(next)) {
      ++as_asked;
      EXPECT_LT(glm::distance(nearest.state.position, next.state.position), 1e-9);
      EXPECT_LT(glm::distance(nearest.state.velocity, next.state.velocity), 0.6f);
    }
    check.accept(nearest);
  }
  EXPECT_GT(as_asked, 200);
}

TEST(OwnerCheck, LeapIsFurtherThanOneMoreSecondWouldAllow) {
  const OwnerCheck check(kLimits, at(0.0, {}, {5.0f, 0.0f, 0.0f}));
  EXPECT_FALSE(check.is_leap(at(0.1, {0.5, 0.0, 0.0})));
  EXPECT_FALSE(check.is_leap(at(0.1, {0.5, 11.0, 0.0})));
  EXPECT_TRUE(check.is_leap(at(0.1, {0.5, 11.2, 0.0})));
  EXPECT_FALSE(check.is_leap(at(1.0, {5.0, 20.0, 0.0})));
}

}  // namespace
}  // namespace reckoner
