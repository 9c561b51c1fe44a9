// SPDX-License-Identifier: MIT
#pragma once

#include "reckoning/src/statistics/quantile.hpp"
#include "sanitizer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <glm/vec3.hpp>
#include <gtest/gtest.h>

#include <reckoner/client/client.hpp>

namespace reckoner::test {

/// Same-time errors of what an honest client shows: distances to the truth at the time of the picture, m.
class SameTimeErrors {
 public:
  /// `shown`: null if the client does not show the entity. This counts as an infinite error.
  void add(const ShownEntity* shown, const glm::dvec3& truth) {
    errors_m_.push_back(shown == nullptr ? std::numeric_limits<double>::infinity()
                                         : glm::distance(shown->shown.position, truth));
  }

  [[nodiscard]] std::size_t count() const { return errors_m_.size(); }
  /// The error that a share `share` (0 to 1) of all errors does not exceed, m. Infinite without errors.
  [[nodiscard]] double quantile(double share) const {
    auto values = errors_m_;
    return values.empty() ? std::numeric_limits<double>::infinity() : reckoner::quantile(values, share);
  }

 private:
  std::vector<double> errors_m_;
};

/// Plays pairs of runs with equal seeds, without and with an attack, and expects that the attack increases
/// the p99 error of honest clients by at most a tenth (median of three pairs). `play` returns the errors of
/// one run; both runs of a pair must look equally often.
inline void expect_equal_error_beside(
    const std::string& attack, const std::function<SameTimeErrors(std::uint64_t seed, bool attacks)>& play) {
  constexpr std::size_t kLeast = 1000;  // below, p99 is the error of a few pictures
  std::vector<double> ratios;
  for (std::uint64_t seed = 1; seed <= seeds_to_run(3); ++seed) {
    const SameTimeErrors quiet = play(seed, false), attacked = play(seed, true);
    const double quiet_m = quiet.quantile(0.99), attacked_m = attacked.quantile(0.99);
    ratios.push_back(attacked_m / quiet_m);
    std::printf("  %-24s seed %d: p99 %.4f m, with the attack %.4f m, ratio %.3f (%zu and %zu looks)\n",
                attack.c_str(), static_cast<int>(seed), quiet_m, attacked_m, ratios.back(), quiet.count(),
                attacked.count());
    EXPECT_GT(quiet_m, 0.0) << "bodies whose error is always 0 show nothing";
    EXPECT_GE(quiet.count(), kLeast);
    EXPECT_NEAR(static_cast<double>(attacked.count()), static_cast<double>(quiet.count()),
                0.02 * static_cast<double>(quiet.count()));
  }
  std::ranges::sort(ratios);
  EXPECT_LE(ratios[ratios.size() / 2], 1.1) << attack;
}

}  // namespace reckoner::test
