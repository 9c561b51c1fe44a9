// SPDX-License-Identifier: MIT
// A player's own body at every tick rate of the server and every rate of pictures.
#include "drive.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <tuple>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/net/ids.hpp>

namespace reckoner::test {
namespace {

class PredictionRates : public testing::TestWithParam<std::tuple<double, double>> {
 protected:
  [[nodiscard]] static Drive drive(const char* name) {
    WorldConfig config{.links = network(name), .frame_rate_hz = std::get<1>(GetParam())};
    config.server.tick_rate_hz = std::get<0>(GetParam());
    return Drive(std::move(config));
  }
};
INSTANTIATE_TEST_SUITE_P(, PredictionRates,
                         testing::Combine(testing::Values(20.0, 30.0, 60.0, 128.0),
                                          testing::Values(30.0, 60.0, 144.0, 240.0)));

TEST_P(PredictionRates, NothingIsCorrectedAndWhatIsShownMovesEvenly) {
  Drive drive = PredictionRates::drive("lan");
  drive.keys = weaving_keys;
  drive.world.run_to(6.0);
  ASSERT_TRUE(drive.is_mine);
  const std::size_t corrections = drive.corrections;
  const std::size_t first = drive.pictures.size();
  drive.world.run_to(16.0);
  EXPECT_EQ(drive.corrections, corrections);
  EXPECT_EQ(drive.worst_error_m(6.0), 0.0);
  for (std::size_t i = 1; i < drive.steps.size(); ++i)
    ASSERT_EQ(drive.steps[i], drive.steps[i - 1] + 1);
  // The car's position after a tick is not exactly that of its velocity: half an acceleration of a tick.
  const double tick_s = drive.tick_s;
  const double exact_mps = 20.0 * 1.5 * tick_s + 12.0 * tick_s;
  ASSERT_GT(drive.pictures.size(), first + 250);
  for (std::size_t i = first + 1; i < drive.pictures.size(); ++i) {
    const Drive::Picture &then = drive.pictures[i - 1], &now = drive.pictures[i];
    const double dt = now.time_s - then.time_s;
    const glm::dvec3 moved = now.shown.position - then.shown.position;
    const glm::dvec3 mean = 0.5 * (glm::dvec3(now.shown.velocity) + glm::dvec3(then.shown.velocity));
    // The clock of the inputs runs up to 2 % faster or slower.
    ASSERT_LT(glm::length(moved - mean * dt), (0.02 * 20.0 + 1.5 * exact_mps) * dt) << now.time_s;
  }
}

TEST_P(PredictionRates, InputsArriveInTimeOverABadNetwork) {
  Drive drive = PredictionRates::drive("intercity");
  drive.keys = weaving_keys;
  drive.world.run_to(10.0);
  const PredictionStats before = *drive.world.server().prediction_stats(drive.player);
  drive.world.run_to(40.0);
  const PredictionStats after = *drive.world.server().prediction_stats(drive.player);
  const double ticks = static_cast<double>(after.ticks - before.ticks);
  EXPECT_NEAR(ticks, 30.0 / drive.tick_s, 3.0);
  EXPECT_LT(static_cast<double>(after.ticks_repeated - before.ticks_repeated), std::max(4.0, 0.003 * ticks));
}

}  // namespace
}  // namespace reckoner::test
