// SPDX-License-Identifier: MIT
#include "reckoning/src/prediction/send_policy.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
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

// Truth and published motion `off` metres apart now, and `off_ahead` metres apart when an update would
// arrive.
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

TEST(SendPolicy, SendsBeforeTheErrorOccurs) {
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

TEST(SendPolicy, RestIsPublishedExactlyOnce) {
  SendPolicy policy{config(), 0};
  const SendPolicy::Comparison drifting{at(0.0, 0.0f), at(0.001, 0.01f), at(0.0, 0.0f), at(0.002, 0.01f)};
  EXPECT_FALSE(policy.due(drifting, 1));
  EXPECT_FALSE(policy.due(drifting, 2));
  EXPECT_TRUE(policy.due(drifting, 3));  // at rest for three ticks, but the published motion moves
  const SendPolicy::Comparison beside{at(0.0, 0.0f), at(0.001, 0.0f), at(0.0, 0.0f), at(0.001, 0.0f)};
  EXPECT_TRUE(policy.due(beside, 4));  // a fiftieth of the threshold, but permanent
  const SendPolicy::Comparison resting{at(0.0, 0.0f), at(0.0005, 0.0f), at(0.0, 0.0f), at(0.0005, 0.0f)};
  for (std::uint32_t tick = 5; tick < 1000; ++tick)
    EXPECT_FALSE(policy.due(resting, tick));
}

// Holds for any threshold, and for a passenger at any distance from the centre.
TEST(SendPolicy, RestToleranceIsNotFinerThanTheWirePrecision) {
  constexpr double kRoundingRad = 1.13e-4;  // largest rounding error of 15 bits a component
  SendPolicyConfig fine = config();
  fine.threshold_rad = 0.001;
  for (const bool on_a_ship : {false, true}) {
    SendPolicy policy{on_a_ship ? config() : fine, 0};
    if (on_a_ship) policy.set_lever(40.0);
    SendPolicy::Comparison rests{at(0.0, 0.0f), at(0.0, 0.0f), at(0.0, 0.0f), at(0.0, 0.0f)};
    rests.truth.orientation = glm::quat{1.0f, static_cast<float>(0.5 * kRoundingRad), 0.0f, 0.0f};
    for (std::uint32_t tick = 1; tick < 1000; ++tick)
      EXPECT_FALSE(policy.due(rests, tick)) << tick;
  }
}

TEST(SendPolicy, FixedRateIsEvenForAnyMotion) {
  SendPolicyConfig c = config();
  c.fixed_rate_hz = 7.0;
  for (const std::uint32_t phase : {0u, 1u, 17u, 4'000'000'000u}) {
    SendPolicy policy{c, phase};
    std::vector<std::uint32_t> sent;
    for (std::uint32_t tick = 1; tick <= 600; ++tick) {
      if (policy.due(apart(0.0, 0.0), tick)) sent.push_back(tick);
    }
    EXPECT_NEAR(static_cast<double>(sent.size()), 70.0, 1.0);
    for (std::size_t i = 1; i < sent.size(); ++i) {
      EXPECT_TRUE(sent[i] - sent[i - 1] == 8 || sent[i] - sent[i - 1] == 9);
    }
  }
}

TEST(SendPolicy, FixedRatesOfDifferentEntitiesAreSpread) {
  SendPolicyConfig c = config();
  c.fixed_rate_hz = 6.0;
  std::vector<int> per_tick(10, 0);
  for (std::uint32_t phase = 0; phase < 1000; ++phase) {
    SendPolicy policy{c, phase};
    for (std::uint32_t tick = 1; tick <= 10; ++tick)
      per_tick[tick - 1] += policy.due(apart(0.0, 0.0), tick) ? 1 : 0;
  }
  for (const int count : per_tick)
    EXPECT_NEAR(count, 100, 5);
}

// For any unpredictability of the motion, the budget is used but not exceeded.
TEST(SendPolicy, BudgetIsKeptAtAnyScaleOfMotion) {
  for (const double size : {0.02, 0.3, 5.0, 50.0}) {
    SendPolicyConfig c = config();
    c.updates_per_second = 10.0;
    SendPolicy policy{c, 0};
    double off = 0.0;
    int sent = 0;
    constexpr int kSeconds = 60;
    for (std::uint32_t tick = 1; tick <= kSeconds * 60; ++tick) {
      off +=
          // The error grows at a varying speed until an update corrects it.
          size / 60.0 * (1.0 + std::sin(tick * 0.05));
      if (policy.due(apart(off, 2.0 * off), tick)) {
        policy.update_sent();
        off = 0.0;
        ++sent;
      }
    }
    EXPECT_LE(sent, 10 * kSeconds + 10) << size;
    EXPECT_GE(sent, 9 * kSeconds) << size;
  }
}

TEST(SendPolicy, BudgetGoesToUnpredictableMotion) {
  SendPolicyConfig c = config();
  c.updates_per_second = 10.0;
  SendPolicy policy{c, 0};
  double off = 0.0;
  int calm = 0;
  int wild = 0;
  for (std::uint32_t tick = 1; tick <= 60 * 60; ++tick) {
    const bool is_wild = tick / 30 % 2 == 0;  // half a second each
    off += is_wild ? 0.05 : 0.005;
    if (policy.due(apart(off, off), tick)) {
      policy.update_sent();
      off = 0.0;
      (is_wild ? wild : calm) += 1;
    }
  }
  EXPECT_GT(wild, 2 * calm);
}

// For random motions, the fast decision equals the full comparison except for rounding.
TEST(SendPolicy, OutlookDecidesLikeAComparison) {
  std::uint32_t random = 1;
  const auto next = [&random] {
    random = random * 1664525u + 1013904223u;
    return static_cast<float>(random >> 8) / 8388608.0f - 1.0f;
  };
  int due = 0;
  for (int i = 0; i < 20'000; ++i) {
    Motion published;
    published.state.velocity = {next(), next(), next()};
    published.state.acceleration = {next(), next(), next()};
    const float spin = i % 2 == 0 ? 0.5f : 8.0f;
    published.state.angular_velocity = glm::vec3{next(), next(), next()} * spin;
    const double age_s = 0.3 * (1.0 + static_cast<double>(next()));
    State truth = extrapolate(published.state, age_s);
    truth.position += glm::dvec3{next(), next(), next()} * 0.02;
    State fitted = truth;
    fitted.acceleration += glm::vec3{next(), next(), next()};
    fitted.angular_velocity += glm::vec3{next(), next(), next()} * 0.3f;
    const SendPolicy::Comparison all{truth, state_at(published, age_s), extrapolate(fitted, 0.15),
                                     state_at(published, age_s + 0.15)};
    const auto decides = [&](double scale) {
      SendPolicyConfig c = config();
      c.threshold_m *= scale;
      c.threshold_rad *= scale;
      SendPolicy policy{c, 0};
      return std::pair{policy.due(all, 1), policy.due({truth, fitted, published, age_s, 0.15}, 1)};
    };
    const auto [by_all, by_outlook] = decides(1.0);
    due += by_all ? 1 : 0;
    if (by_all == by_outlook) continue;
    const auto below = decides(0.9999);
    const auto above = decides(1.0001);
    EXPECT_TRUE(below.first != above.first) << i;
  }
  EXPECT_GT(due, 4'000);
  EXPECT_LT(due, 16'000);
}

// Ticks until a constant error is published; 0: not within ten minutes.
std::uint32_t ticks_until_due(SendPolicy& policy, double off_m) {
  for (std::uint32_t tick = 1; tick <= 36'000; ++tick) {
    if (policy.due(apart(off_m, off_m), tick)) return tick;
  }
  return 0;
}

TEST(SendPolicy, SmallErrorIsPublishedEventually) {
  SendPolicy policy{config(), 0};
  const std::uint32_t large = ticks_until_due(policy, 0.024);
  const std::uint32_t small = ticks_until_due(policy, 0.018);  // an update restarts the count
  EXPECT_NEAR(large, 60.0 * 0.05 / (0.024 - 0.0125), 3.0);
  EXPECT_NEAR(small, 60.0 * 0.05 / (0.018 - 0.0125), 3.0);
  EXPECT_EQ(ticks_until_due(policy, 0.012), 0u);  // rounding
}

TEST(SendPolicy, SmallErrorsAddUpOverPauses) {
  SendPolicy policy{config(), 0};
  int ticks = 0;
  for (std::uint32_t tick = 1; tick < 3600 && ticks == 0; ++tick) {
    const double off = tick % 2 == 0 ? 0.0 : 0.024;
    if (policy.due(apart(off, 0.0), tick)) ticks = static_cast<int>(tick);
  }
  EXPECT_NEAR(ticks, 2.0 * 60.0 * 0.05 / (0.024 - 0.0125), 5.0);
}

// Bodies that spawn together and move alike: the error of each grows with the square of time.
TEST(SendPolicy, EntitiesThatSpawnTogetherAreNotPublishedTogether) {
  constexpr std::uint32_t kBodies = 200;
  for (const double updates_per_second : {0.0, 5.0}) {
    SendPolicyConfig c = config();
    c.updates_per_second = updates_per_second;
    std::vector<SendPolicy> policies;
    for (std::uint32_t phase = 0; phase < kBodies; ++phase)
      policies.emplace_back(c, phase);
    std::vector<std::uint32_t> since(kBodies, 0);
    int most = 0;
    int all = 0;
    for (std::uint32_t tick = 1; tick <= 1200; ++tick) {
      int due = 0;
      for (std::uint32_t i = 0; i < kBodies; ++i) {
        const auto off = [](double seconds) { return 0.05 * seconds * seconds; };
        const double age_s = (tick - since[i]) / kTickRateHz;
        if (!policies[i].due(apart(off(age_s), off(age_s + 0.1)), tick)) continue;
        policies[i].update_sent();
        since[i] = tick;
        ++due;
      }
      if (tick <= 120) continue;
      most = std::max(most, due);
      all += due;
    }
    const double mean = all / 1080.0;
    EXPECT_GT(mean, 4.0);
    EXPECT_LT(most, 3.0 * mean) << updates_per_second;
  }
}

TEST(SendPolicy, RepairsCountAgainstTheBudget) {
  SendPolicyConfig c = config();
  c.updates_per_second = 10.0;
  SendPolicy policy{c, 0};
  int sent = 0;
  for (std::uint32_t tick = 1; tick <= 60 * 60; ++tick) {
    if (!policy.due(apart(100.0, 100.0), tick)) continue;
    policy.update_sent();
    policy.update_sent();  // a repair, because the first update was lost
    ++sent;
  }
  EXPECT_LE(sent, 5 * 60 + 10);
}

TEST(SendPolicy, AngleThresholdDependsOnTheLever) {
  SendPolicy policy{{.threshold_m = 0.05, .threshold_rad = 0.05}, 0};
  EXPECT_EQ(policy.lever_share(), 1.0);
  // At that distance, a rotation by the angular threshold moves a passenger by less than the distance
  // threshold.
  policy.set_lever(0.5);
  EXPECT_EQ(policy.lever_share(), 1.0);
  policy.set_lever(4.0);
  EXPECT_DOUBLE_EQ(policy.lever_share(), 0.25);
  policy.set_lever(1e9);
  EXPECT_EQ(policy.lever_share(), SendPolicy::kMinLeverShare);
  policy.set_lever(0.0);
  EXPECT_EQ(policy.lever_share(), 1.0);
}

}  // namespace
}  // namespace reckoner
