// SPDX-License-Identifier: MIT
#include "server/src/session/stamp_watch.hpp"

#include <cmath>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

std::uint32_t stamp_of(double local_s) {
  const double units = std::fmod(std::floor(local_s / kStampUnitS), double{1u << kStampBits});
  return static_cast<std::uint32_t>(units < 0.0 ? units + double{1u << kStampBits} : units);
}

// Returns the time at which a clock that runs at `rate` from 10 s on is noticed; nothing is noticed before.
double noticed_s(double rate, double jitter_s, double deviation_s, std::uint64_t seed) {
  StampWatch watch;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (double t = 0.0; t < 60.0; t += 0.05) {
    const double local_s = 1670.0 + t + (rate - 1.0) * std::max(0.0, t - 10.0);  // the stamps wrap
    const bool wrong =
        watch.is_wrong(stamp_of(local_s), t + jitter_s * std::abs(normal(random)), deviation_s);
    if (wrong) return t;
  }
  return 60.0;
}

TEST(StampWatch, NoticesAWrongRateSoon) {
  for (const double rate : {0.25, 0.5, 0.75, 1.5, 4.0}) {
    const double s = noticed_s(rate, 0.0005, 0.001, 1);
    EXPECT_GE(s, 10.0) << rate;
    EXPECT_LT(s, 10.4) << rate;
  }
}

TEST(StampWatch, JitterIsNoWrongClock) {
  for (const double jitter_s : {0.0, 0.005, 0.02, 0.04, 0.06}) {
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
      wrong += noticed_s(1.0, jitter_s, 0.68 * jitter_s, seed) < 60.0 ? 1 : 0;
    EXPECT_LE(wrong, 1) << jitter_s;
  }
}

}  // namespace
}  // namespace reckoner
