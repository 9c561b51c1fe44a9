// SPDX-License-Identifier: MIT
#include "harness/replay/replay.hpp"
#include "scenario/trace/trace.hpp"
#include "tests/support/locations.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

// On recorded motion, if the recordings are present: checks the size of an update on a link with a long round
// trip, and how close its fields are to their entropy.
TEST(Coding, UpdatesStayWithinTheSizeLimits) {
  const std::filesystem::path folder = test::shared_dir() / "traces";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "there are no recordings on this machine";
  for (const std::string name :
       {"shooter_quake_4on4_dm2", "shooter_quake_duel_povdmm4", "rocketcar_rl_b2a19", "rocketcar_rl_idle"}) {
    const auto source = scenario::load_trace((folder / (name + ".csv")).string(), {.seconds = 60.0});
    ASSERT_TRUE(source) << name;
    ReplayOptions options;
    options.links.down = {.latency_ms = 80.0, .jitter_ms = 20.0, .loss_percent = 2.0};
    options.links.up = options.links.down;
    const auto result = replay(**source, options);
    ASSERT_TRUE(result && result->coding) << name;
    const CodingFigures& f = *result->coding;
    EXPECT_LE(f.bytes_with_orientation, 12.0) << name;
    EXPECT_LE(f.bytes_without_orientation, 8.5) << name;
    EXPECT_LE(f.gap_percent, 8.0) << name;
    EXPECT_GT(f.residual_updates, 20 * f.full_updates) << name;
    EXPECT_NEAR(static_cast<double>(f.full_updates + f.residual_updates),
                static_cast<double>(result->run.down->updates), 0.5)
        << name;
  }
}

}  // namespace
}  // namespace reckoner::harness
