// SPDX-License-Identifier: MIT
#include "client/src/connection/completeness.hpp"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr double kNoticed = 30.0;  // ticks

TEST(Completeness, FollowsTheNewestClaimWithoutLoss) {
  Completeness complete;
  EXPECT_FALSE(complete.tick());
  for (Tick tick = 1000; tick < 1200; ++tick) {
    complete.note(static_cast<Sequence>(tick + 65'000), tick, tick - 3, kNoticed);
    EXPECT_EQ(complete.tick(), tick - 3);
  }
}

TEST(Completeness, WaitsForAMissingDatagramUntilItArrives) {
  Completeness complete;
  complete.note(1, 100, 100, kNoticed);
  complete.note(3, 102, 102, kNoticed);
  EXPECT_EQ(complete.tick(), 100u);
  complete.note(4, 103, 103, kNoticed);
  EXPECT_EQ(complete.tick(), 100u);
  complete.note(2, 101, 101, kNoticed);
  EXPECT_EQ(complete.tick(), 103u);
}

TEST(Completeness, WaitsForAMissingDatagramUntilTheServerHasNoticedTheLoss) {
  Completeness complete;
  complete.note(1, 100, 100, kNoticed);
  for (Tick tick = 102; tick < 102 + 30; ++tick) {
    complete.note(static_cast<Sequence>(tick - 99), tick, tick, kNoticed);
    EXPECT_EQ(complete.tick(), 100u) << tick;
  }
  complete.note(33, 132, 120, kNoticed);  // the server has noticed, and claims only 120
  EXPECT_EQ(complete.tick(), 120u);
}

TEST(Completeness, NeverGoesBack) {
  Completeness complete;
  complete.note(1, 100, 100, kNoticed);
  complete.note(2, 101, 50, kNoticed);
  EXPECT_EQ(complete.tick(), 100u);
}

// In a burst, many datagrams are sent in one tick. Each of them may be the missing one.
TEST(Completeness, WaitsForAnyDatagramOfABurst) {
  constexpr int kBurst = 300;
  for (int missing = 1; missing < kBurst; missing += 7) {
    Completeness complete;
    complete.note(65'400, 99, 99, kNoticed);
    const auto number = [](int i) { return static_cast<Sequence>(65'401 + i); };
    for (int i = 0; i < kBurst; ++i) {
      if (i != missing) complete.note(number(i), 100, 100, kNoticed);
    }
    for (Tick tick = 101; tick < 120; ++tick)
      complete.note(number(kBurst + static_cast<int>(tick) - 101), tick, tick, kNoticed);
    ASSERT_LE(*complete.tick(), 100u) << missing;
    complete.note(number(missing), 100, 100, kNoticed);
    ASSERT_EQ(complete.tick(), 119u) << missing;
  }
}

// A server that detects each loss after a while, over a link with loss, delay and reordering.
TEST(Completeness, NeverClaimsAMissingTick) {
  std::mt19937_64 random(7);
  const auto chance = [&](double share) {
    return std::uniform_real_distribution<>(0.0, 1.0)(random) < share;
  };
  Completeness complete;
  struct Datagram {
    Tick tick;
    Tick says;
  };
  std::multimap<Tick, std::pair<Sequence, Datagram>> in_flight;
  // Ticks whose updates have not arrived, and whether the server has detected the loss.
  std::map<Tick, bool> missing;
  Sequence next = 65'500;
  std::size_t checked = 0;
  for (Tick tick = 1; tick < 20'000; ++tick) {
    for (auto& [since, noticed] : missing)
      noticed = noticed || tick - since >= 20;
    Tick says = tick;
    for (const auto& [since, noticed] : missing) {
      if (noticed) says = std::min(says, since - 1);
    }
    const bool lost = chance(0.05);
    if (!lost) {
      in_flight.emplace(tick + 3 + random() % 6, std::pair{next, Datagram{tick, says}});
      if (chance(0.3) && !missing.empty() && missing.begin()->second) missing.erase(missing.begin());
    } else {
      missing.emplace(tick, false);
    }
    ++next;
    // A repair counts as soon as it is sent. The claim must therefore meet a stricter condition.
    for (auto it = in_flight.begin(); it != in_flight.end() && it->first <= tick; it = in_flight.erase(it))
      complete.note(it->second.first, it->second.second.tick, it->second.second.says, kNoticed);
    if (!complete.tick() || missing.empty()) continue;
    EXPECT_LT(*complete.tick(), missing.begin()->first) << tick;
    ++checked;
  }
  EXPECT_GT(checked, 10'000u);
  EXPECT_GT(*complete.tick(), 19'000u);
}

}  // namespace
}  // namespace reckoner
