// SPDX-License-Identifier: MIT
// Server time may begin anywhere, also below zero.
#include "tests/support/paths.hpp"
#include "tests/support/percentile.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

struct Figures {
  double updates = 0.0;
  double bytes = 0.0;
  double error_m_p95 = 0.0;
  double rate = 0.0;  // byte budget at the end, bytes/s
};

Figures play(double epoch_s, const harness::LinkOptions& link) {
  WorldConfig config{.links = both_ways(link)};
  config.server.epoch_s = epoch_s;
  World world(config);
  std::vector<std::pair<EntityId, Truth>> bodies;
  for (int i = 0; i < 30; ++i) {
    const Circle path{.turn_rps = 1.0 + 0.02 * i, .centre = {20.0 * i, 0.0, 0.0}};
    const Truth moved = [path, epoch_s](double time_s) { return path(time_s - epoch_s); };
    bodies.emplace_back(world.add_body(moved), moved);
  }
  world.add_client();
  std::vector<double> errors_m;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity>) {
    if (time_s < epoch_s + 5.0) return;
    for (const auto& [id, path] : bodies) {
      if (const ShownEntity* shown = world.shown(0, id))
        errors_m.push_back(glm::distance(shown->shown.position, path(time_s).position));
    }
  };
  world.run_to(epoch_s + 25.0);
  const auto stats = world.server().session_stats(world.server().clients().front());
  return {static_cast<double>(world.client(0).stats().updates_applied),
          static_cast<double>(world.client(0).stats().state_bytes_received), p95(errors_m),
          stats->budget_bytes_per_second};
}

TEST(Epoch, FiguresDoNotDependOnIt) {
  for (const harness::LinkOptions& link :
       {harness::LinkOptions{.latency_ms = 30.0, .jitter_ms = 5.0},
        harness::LinkOptions{.latency_ms = 40.0, .rate_kbps = 64.0, .queue_ms = 1000.0}}) {
    const Figures expected = play(0.0, link);
    for (const double epoch_s : {-1e6, -100.0, -10.0, -0.5, 1e6}) {
      const Figures now = play(epoch_s, link);
      EXPECT_NEAR(now.updates, expected.updates, 0.05 * expected.updates) << epoch_s;
      EXPECT_NEAR(now.bytes, expected.bytes, 0.05 * expected.bytes) << epoch_s;
      EXPECT_NEAR(now.error_m_p95, expected.error_m_p95, 0.1 * expected.error_m_p95) << epoch_s;
      EXPECT_NEAR(now.rate, expected.rate, 0.2 * expected.rate) << epoch_s;
    }
  }
}

}  // namespace
}  // namespace reckoner::test
