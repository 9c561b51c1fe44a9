// SPDX-License-Identifier: MIT
// How long it takes until a client shows a new entity.
#include "tests/support/paths.hpp"
#include "tests/support/sanitizer.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

// A body that moves in another direction than the others.
State drifting(double number, double t) {
  const double angle = 2.4 * number;
  State s;
  s.velocity = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)), 0.0f};
  s.position = glm::dvec3{s.velocity} * (t - number / 40.0);
  return s;
}

// The delays from the spawn to the first frame with the entity, s, ascending. An entity spawns every 25 ms
// and lives for 5 s.
std::vector<double> spawn_delays(const std::string& link, std::size_t spawns, std::uint64_t seed) {
  constexpr double kLifeS = 5.0, kEveryS = 0.025, kFirstS = 3.0;
  World world({.links = network(link), .seed = seed});
  world.add_client();
  std::map<EntityId, double> spawned_s;
  std::map<double, EntityId> ends_s;
  std::vector<double> delays_s;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    for (const ShownEntity& e : shown) {
      const auto spawn = spawned_s.find(e.id);
      if (spawn == spawned_s.end()) continue;
      delays_s.push_back(time_s - spawn->second);
      spawned_s.erase(spawn);
    }
  };
  for (std::size_t i = 0; i < spawns; ++i) {
    const double now_s = kFirstS + kEveryS * static_cast<double>(i);
    world.run_to(now_s);
    for (; !ends_s.empty() && ends_s.begin()->first <= now_s; ends_s.erase(ends_s.begin()))
      world.remove_body(ends_s.begin()->second);
    const auto number = static_cast<double>(i);
    const EntityId id = world.add_body([number](double t) { return drifting(number, t); });
    spawned_s.emplace(id, now_s);
    ends_s.emplace(now_s + kLifeS, id);
  }
  world.run_to(world.now_s() + kLifeS);
  EXPECT_EQ(delays_s.size(), spawns) << "the client shows every entity";
  std::sort(delays_s.begin(), delays_s.end());
  return delays_s;
}

double at_share(const std::vector<double>& sorted, double share) {
  return sorted[std::min(sorted.size() - 1,
                         static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
}

TEST(SpawnDelay, X) {
  for (const char* link : {"lan", "intercity", "mobile"}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto d = spawn_delays(link, 10'000, seed);
      std::printf("%s %d: p50 %.0f p99 %.0f p99.9 %.0f max %.0f ms\n", link, int(seed),
                  1e3 * at_share(d, 0.5), 1e3 * at_share(d, 0.99), 1e3 * at_share(d, 0.999), 1e3 * d.back());
    }
  }
}

// A client that joins among resting entities shows all of them.
TEST(SpawnDelay, J) {
  for (const char* link : {"lan", "intercity", "mobile"}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      World world({.links = network(link), .seed = seed});
      for (int i = 0; i < 20'000; ++i)
        world.add_body([i](double) {
          State s;
          s.position = {5.0 * (i % 150), 5.0 * (i / 150), 0.0};
          return s;
        });
      world.run_to(1.0);
      world.add_client();
      double t = 1.0;
      while (t < 60 && (world.shown(0).size() < 20'000))
        world.run_to(t += 0.05);
      const auto st = *world.server().session_stats(world.server().clients().front());
      std::printf("%s %d: %.2f s, %.0f B/s budget, %zu bytes\n", link, int(seed), t - 1.0,
                  st.budget_bytes_per_second, std::size_t(st.bytes_sent));
    }
  }
}

TEST(SpawnDelay, S) {
  World world({.links = both_ways({.latency_ms = 5})});
  for (int i = 0; i < 50; ++i)
    world.add_body(Circle{.turn_rps = 1.0 + 0.01 * i, .centre = {20.0 * i, 0.0, 0.0}});
  world.run_to(2.0);
  world.add_client({}, {}, both_ways({.latency_ms = 30, .rate_kbps = 12, .queue_ms = 500}));
  for (double t = 3; t < 60; t += 1.5) {
    world.run_to(t);
    if (world.server().clients().empty()) continue;
    const auto st = *world.server().session_stats(world.server().clients().front());
    std::printf("%.0f:%.0f/%.0f ", t, st.budget_bytes_per_second, st.sent_bytes_per_second);
  }
  std::printf("\n");
}

TEST(SpawnDelay, S2) {
  World world(
      {.links = both_ways({.latency_ms = 40, .rate_kbps = 64, .queue_ms = 1000}), .log_packets = true});
  for (int i = 0; i < 300; ++i)
    world.add_body(Circle{.turn_rps = 1.0 + 0.01 * i, .centre = {20.0 * i, 0.0, 0.0}});
  world.add_client();
  std::size_t n = 0;
  for (double t = 0.1; t < 4; t += 0.1) {
    world.run_to(t);
    if (world.server().clients().empty()) continue;
    const auto st = *world.server().session_stats(world.server().clients().front());
    std::size_t bytes = 0, lost = 0;
    double wait = 0;
    for (; n < world.network().packets().size(); ++n) {
      const auto& p = world.network().packets()[n];
      if (!p.down) continue;
      bytes += p.wire_bytes;
      lost += !p.arrived_s;
      if (p.arrived_s) wait = std::max(wait, *p.arrived_s - p.sent_s);
    }
    std::printf("%.1f budget %.0f, bytes %zu lost %zu wait %.2f, shown %zu spawns %zu motions %zu\n", t,
                st.budget_bytes_per_second, bytes, lost, wait, world.shown(0).size(),
                std::size_t(st.queued_spawns), std::size_t(st.queued_motions));
  }
}

}  // namespace
}  // namespace reckoner::test
