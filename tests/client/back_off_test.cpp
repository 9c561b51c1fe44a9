// SPDX-License-Identifier: MIT
#include "client/src/connection/back_off.hpp"

#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(BackOff, WaitsGrowToTheLimitAndStartAgainAfterAReset) {
  BackOff back_off({.first_wait_s = 0.5, .growth = 2.0, .most_wait_s = 3.0, .jitter = 0.0});
  for (int again = 0; again < 2; ++again) {
    for (const double wanted : {0.5, 1.0, 2.0, 3.0, 3.0})
      EXPECT_EQ(back_off.next_s(0.3), wanted);
    back_off.reset();
  }
}

TEST(BackOff, WaitsWithinARoundDoNotGrow) {
  BackOff back_off({.first_wait_s = 0.5, .growth = 2.0, .most_wait_s = 3.0, .jitter = 0.0});
  for (const double wanted : {0.5, 1.0, 2.0}) {
    EXPECT_EQ(back_off.next_s(0.3), wanted);
    EXPECT_EQ(back_off.within_round_s(0.3), 0.5);
  }
}

// A thousand clients that lost their connection at the same time reconnect at times spread by the jitter. No
// client waits longer than without jitter.
TEST(BackOff, JitterSpreadsReconnects) {
  const ReconnectConfig config{.first_wait_s = 1.0, .jitter = 0.5};
  std::vector<double> waits;
  for (std::uint64_t client = 0; client < 1000; ++client)
    waits.push_back(BackOff(config).next_s(scenario::to_unit_interval(scenario::hash(client))));
  std::sort(waits.begin(), waits.end());
  EXPECT_GE(waits.front(), 0.5);
  EXPECT_LE(waits.back(), 1.0);
  for (std::size_t i = 100; i < waits.size(); ++i)
    EXPECT_LT(waits[i - 100], waits[i] - 0.02) << "100 of 1000 clients within 0.02 s";
}

TEST(BackOff, HandlesInvalidOptions) {
  BackOff back_off({.first_wait_s = 1.0, .growth = 0.1, .most_wait_s = 2.0, .jitter = 7.0});
  for (int i = 0; i < 100; ++i) {
    const double wait_s = back_off.next_s(i % 2 == 0 ? -3.0 : 1.5);
    EXPECT_GE(wait_s, 0.0);
    EXPECT_LE(wait_s, 2.0);
  }
}

}  // namespace
}  // namespace reckoner
