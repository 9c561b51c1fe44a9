// SPDX-License-Identifier: MIT
#include "server/src/session/declared_playout.hpp"

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr PlayoutMessage kPresent{false, false, {BlendCurve::damped, 0.1}};
constexpr PlayoutMessage kComing{true, false, {BlendCurve::damped, 0.1}};
constexpr PlayoutMessage kPast{true, true, {BlendCurve::damped, 0.1}};

TEST(DeclaredPlayout, AChangeIsDueOnce) {
  DeclaredPlayout playout{kPresent};
  EXPECT_FALSE(playout.due(1.0));
  EXPECT_FALSE(playout.declare(kPast));
  EXPECT_EQ(playout.due(1.0), kPast);
  EXPECT_FALSE(playout.due(10.0));
}

TEST(DeclaredPlayout, RefusesARepeatedDeclaration) {
  DeclaredPlayout playout{kPresent};
  EXPECT_EQ(playout.declare(kPresent), Refusal::repeated);
  EXPECT_FALSE(playout.due(1.0));
  EXPECT_FALSE(playout.declare(kPast));
  EXPECT_EQ(playout.declare(kPast), Refusal::repeated);
  EXPECT_EQ(playout.due(1.0), kPast);
  EXPECT_EQ(playout.declare(kPast), Refusal::repeated);
}

TEST(DeclaredPlayout, AppliesTheNewestAtMostTwiceASecond) {
  DeclaredPlayout playout{kPresent};
  int followed = 0;
  int refused = 0;
  for (int tick = 0; tick < 601; ++tick) {
    if (const auto why = playout.declare(tick % 2 == 0 ? kPast : kComing)) {
      EXPECT_EQ(*why, Refusal::too_many);
      ++refused;
    }
    followed += playout.due(tick / 60.0) ? 1 : 0;
  }
  EXPECT_LE(followed, 21);
  EXPECT_GE(followed, 19);
  EXPECT_EQ(refused, 601 - followed);
  EXPECT_FALSE(playout.declare(kPresent));
  EXPECT_EQ(playout.declare(kComing), Refusal::too_many);
  EXPECT_EQ(playout.due(20.0), kComing);
}

}  // namespace
}  // namespace reckoner
