// SPDX-License-Identifier: MIT
#include "send_policy.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr double kTickRateHz = 60.0;

State at(double x, float speed = 1.0f) {
  State s;
  s.position.x = x;
  s.velocity.x = speed;
  return s;
}

// Truth and published motion `off` metres apart now, and `off_ahead` when an update would be in use.
SendPolicy::Comparison apart(double off, double off_ahead) {
  return {at(off), at(0.0), at(off_ahead), at(0.0)};
}

SendPolicyConfig config() {
  return {kTickRateHz, 0.05, 0.05, 0.0, 0.0};
}

TEST(SendPolicy, WaitsBelowTheThresholdAndSendsAboveIt) {
  SendPolicy policy{config(), 0};
  EXPECT_FALSE(policy.due(apart(0.0, 0.0), 1));
  EXPECT_FALSE(policy.due(apart(0.02, 0.02), 2));
  EXPECT_TRUE(policy.due(apart(0.06, 0.0), 3));
}

TEST(SendPolicy, SendsBeforeTheErrorIsThere) {
  SendPolicy policy{config(), 0};
  EXPECT_TRUE(policy.due(apart(0.0, 0.06), 1));
}

TEST(SendPolicy, AnglesCountLikeDistances) {
  SendPolicy policy{config(), 0};
  SendPolicy::Comparison c = apart(0.0, 0.0);
  c.truth.orientation =
      glm::quat{static_cast<float>(std::cos(0.02)), 0.0f, 0.0f, static_cast<float>(std::sin(0.02))};
  EXPECT_FALSE(policy.due(c, 1));  // 0.04 rad
  c.truth.orientation =
      glm::quat{static_cast<float>(std::cos(0.03)), 0.0f, 0.0f, static_cast<float>(std::sin(0.03))};
  EXPECT_TRUE(policy.due(c, 2));  // 0.06 rad
}

TEST(SendPolicy, RestIsPublishedExactlyAndThenSilent) {
  SendPolicy policy{config(), 0};
  const SendPolicy::Comparison drifting{at(0.0, 0.0f), at(0.001, 0.01f), at(0.0, 0.0f), at(0.002, 0.01f)};
  EXPECT_FALSE(policy.due(drifting, 1));
  EXPECT_FALSE(policy.due(drifting, 2));
  EXPECT_TRUE(policy.due(drifting, 3));  // rests for three ticks; the published motion does not
  const SendPolicy::Comparison resting{at(0.0, 0.0f), at(0.001, 0.0f), at(0.0, 0.0f), at(0.001, 0.0f)};
  for (Tick tick = 4; tick < 1000; ++tick)
    EXPECT_FALSE(policy.due(resting, tick));
}

TEST(SendPolicy, FixedRateIsEvenWhateverTheEntityDoes) {
  SendPolicyConfig c = config();
  c.fixed_rate_hz = 7.0;
  for (const std::uint32_t phase : {0u, 1u, 17u, 4'000'000'000u}) {
    SendPolicy policy{c, phase};
    std::vector<Tick> sent;
    for (Tick tick = 1; tick <= 600; ++tick) {
      if (policy.due(apart(0.0, 0.0), tick)) sent.push_back(tick);
    }
    EXPECT_NEAR(static_cast<double>(sent.size()), 70.0, 1.0);
    for (std::size_t i = 1; i < sent.size(); ++i) {
      EXPECT_TRUE(sent[i] - sent[i - 1] == 8 || sent[i] - sent[i - 1] == 9);
    }
  }
}

TEST(SendPolicy, FixedRatesOfDifferentEntitiesDoNotBunch) {
  SendPolicyConfig c = config();
  c.fixed_rate_hz = 6.0;
  std::vector<int> per_tick(10, 0);
  for (std::uint32_t phase = 0; phase < 1000; ++phase) {
    SendPolicy policy{c, phase};
    for (Tick tick = 1; tick <= 10; ++tick)
      per_tick[tick - 1] += policy.due(apart(0.0, 0.0), tick) ? 1 : 0;
  }
  for (const int count : per_tick)
    EXPECT_NEAR(count, 100, 5);
}

// However unpredictable the motion is, a budget is spent, and not more than spent.
TEST(SendPolicy, ABudgetIsKeptAtAnyScaleOfMotion) {
  for (const double size : {0.02, 0.3, 5.0, 50.0}) {
    SendPolicyConfig c = config();
    c.updates_per_second = 10.0;
    SendPolicy policy{c, 0};
    double off = 0.0;
    int sent = 0;
    constexpr int kSeconds = 60;
    for (Tick tick = 1; tick <= kSeconds * 60; ++tick) {
      off +=
          size / 60.0 * (1.0 + std::sin(tick * 0.05));  // grows at a varying speed until an update mends it
      if (policy.due(apart(off, 2.0 * off), tick)) {
        policy.spent();
        off = 0.0;
        ++sent;
      }
    }
    EXPECT_LE(sent, 10 * kSeconds + 10) << size;
    EXPECT_GE(sent, 9 * kSeconds) << size;
  }
}

TEST(SendPolicy, ABudgetGoesWhereMotionIsUnpredictable) {
  SendPolicyConfig c = config();
  c.updates_per_second = 10.0;
  SendPolicy policy{c, 0};
  double off = 0.0;
  int calm = 0;
  int wild = 0;
  for (Tick tick = 1; tick <= 60 * 60; ++tick) {
    const bool is_wild = tick / 30 % 2 == 0;  // half a second each
    off += is_wild ? 0.05 : 0.005;
    if (policy.due(apart(off, off), tick)) {
      policy.spent();
      off = 0.0;
      (is_wild ? wild : calm) += 1;
    }
  }
  EXPECT_GT(wild, 2 * calm);
}

TEST(SendPolicy, RepairsCountAgainstTheBudget) {
  SendPolicyConfig c = config();
  c.updates_per_second = 10.0;
  SendPolicy policy{c, 0};
  int sent = 0;
  for (Tick tick = 1; tick <= 60 * 60; ++tick) {
    if (!policy.due(apart(100.0, 100.0), tick)) continue;
    policy.spent();
    policy.spent();  // and one more, because the first was lost
    ++sent;
  }
  EXPECT_LE(sent, 5 * 60 + 10);
}

}  // namespace
}  // namespace reckoner
