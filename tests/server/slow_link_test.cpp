// SPDX-License-Identifier: MIT
// A client whose link carries less than its entities need, and less than the configured budget.
#include "tests/support/paths.hpp"
#include "tests/support/sanitizer.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

/// What the link did to the datagrams sent to the client during an interval.
struct Flow {
  double bytes_per_second = 0.0;
  double median_wait_s = 0.0;  ///< beyond the link's latency: queue and transmission time
  double p95_wait_s = 0.0;
  double longest_wait_s = 0.0;
  double lost_share = 0.0;
};

Flow flow(World& world, double from_s, double to_s, double latency_s) {
  Flow out;
  std::vector<double> waits_s;
  std::size_t lost = 0;
  for (const harness::PacketRecord& p : world.network().packets()) {
    if (!p.down || p.sent_s < from_s || p.sent_s >= to_s) continue;
    if (p.arrived_s) {
      waits_s.push_back(*p.arrived_s - p.sent_s - latency_s);
      out.bytes_per_second += static_cast<double>(p.wire_bytes) / (to_s - from_s);
    } else {
      ++lost;
    }
  }
  if (waits_s.empty()) return out;
  std::ranges::sort(waits_s);
  out.median_wait_s = waits_s[waits_s.size() / 2];
  out.p95_wait_s = waits_s[waits_s.size() * 95 / 100];
  out.longest_wait_s = waits_s.back();
  out.lost_share = static_cast<double>(lost) / static_cast<double>(lost + waits_s.size());
  return out;
}

void add_crowd(World& world, int count) {
  for (int i = 0; i < count; ++i)
    world.add_body(Circle{.turn_rps = 1.0 + 0.01 * i, .centre = {20.0 * i, 0.0, 0.0}});
}

TEST(SlowLink, QueueOfA64KbpsLinkStaysShort) {
  const harness::LinkOptions link{.latency_ms = 40, .rate_kbps = 64, .queue_ms = 1000};
  World world({.links = both_ways(link), .log_packets = true});
  add_crowd(world, 300);
  world.add_client();
  world.run_to(62.0);
  const Flow all = flow(world, 2.5, 62.0, 0.04);
  EXPECT_LT(all.p95_wait_s, 0.15);
  EXPECT_LT(all.median_wait_s, 0.1);
  EXPECT_GT(all.bytes_per_second, 0.7 * 8000.0);
  // The queue also stays short during the join, when all entities are spawned and nothing is known about the
  // link.
  const Flow joining = flow(world, 0.0, 2.5, 0.04);
  EXPECT_LT(joining.longest_wait_s, 0.8);
  EXPECT_EQ(joining.lost_share, 0.0);
  EXPECT_EQ(all.lost_share, 0.0);
}

TEST(SlowLink, EveryEntityIsServed) {
  const harness::LinkOptions link{.latency_ms = 40, .rate_kbps = 64, .queue_ms = 1000};
  World world({.links = both_ways(link)});
  add_crowd(world, 150);
  world.add_client();
  world.run_to(20.0);
  EXPECT_EQ(world.shown(0).size(), 150u);
  std::map<EntityId, double> oldest_s;
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity> shown) {
    for (const ShownEntity& e : shown)
      oldest_s[e.id] = std::max(oldest_s[e.id], e.age_s);
  };
  world.run_to(60.0);
  ASSERT_EQ(oldest_s.size(), 150u);
  for (const auto& [id, age_s] : oldest_s)
    EXPECT_LT(age_s, 3.0);  // no entity is forgotten
}

// An entity at a finer level matters more. It does not wait behind a distant crowd, although each distant
// update corrects an error up to sixteen times as large.
TEST(SlowLink, NearEntitiesAreSentBeforeDistantOnes) {
  constexpr int kNear = 40, kFar = 160;
  const harness::LinkOptions link{.latency_ms = 40, .rate_kbps = 64, .queue_ms = 1000};
  WorldConfig config{.links = both_ways(link)};
  config.server.interest.radius_m = 2000.0;
  config.server.interest.level_distance_m = {50.0, 100.0};
  World world(config);
  std::map<EntityId, Truth> near, far;
  for (int i = 0; i < kNear + kFar; ++i) {
    const bool is_near = i < kNear;
    const Truth path = Circle{
        .radius_m = 4.0, .turn_rps = 2.0 + 0.01 * i, .centre = {is_near ? 0.5 * i : 400.0 + i, 0.0, 0.0}};
    (is_near ? near : far).emplace(world.add_body(path), path);
  }
  world.add_client();
  world.run_to(5.0);
  EXPECT_TRUE(world.server().set_view(world.server_events().front().client, {0.0, 0.0, 0.0}));
  world.run_to(20.0);
  std::vector<double> near_m, far_m;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    for (const ShownEntity& e : shown) {
      const bool is_near = near.contains(e.id);
      const Truth& path = is_near ? near.at(e.id) : far.at(e.id);
      (is_near ? near_m : far_m).push_back(glm::distance(e.shown.position, path(time_s).position));
    }
  };
  world.run_to(40.0);
  ASSERT_FALSE(near_m.empty());
  ASSERT_FALSE(far_m.empty());
  std::ranges::sort(near_m);
  std::ranges::sort(far_m);
  EXPECT_LT(4.0 * near_m[near_m.size() * 95 / 100], far_m[far_m.size() * 95 / 100]);
}

// How long (s) entities are still shown after all of them were despawned.
double gone_after_s(const harness::LinkOptions& link, double ended_s) {
  World world({.links = both_ways(link)});
  add_crowd(world, 400);
  world.add_client();
  world.run_to(ended_s);
  EXPECT_GT(world.shown(0).size(), 10u);
  for (int i = 0; i < 400; ++i)
    world.remove_body(world.body(0));
  const EntityId last = world.add_body(Still{});
  double gone_s = 0.0;
  for (; gone_s < 60.0; gone_s += 0.25) {
    world.run_to(ended_s + gone_s);
    if (world.shown(0).size() == 1 && world.shown(0, last) != nullptr) break;
  }
  return gone_s;
}

// Despawns arrive soon whatever else waits, and even at the lowest rate.
TEST(SlowLink, DespawnsArriveSoon) {
  for (const double rate_kbps : {24.0, 64.0}) {
    for (const double loss_percent : {0.0, 5.0}) {
      const harness::LinkOptions link{
          .latency_ms = 40, .loss_percent = loss_percent, .rate_kbps = rate_kbps, .queue_ms = 1000};
      // After 2 and 6 s, spawns that are still being sent fill the link.
      for (const double ended_s : {2.0, 6.0, 20.0, 40.0}) {
        if (kSanitized && ended_s > 6.0) continue;  // the same code as before, for longer
        EXPECT_LE(gone_after_s(link, ended_s), 3.5) << rate_kbps << ' ' << loss_percent << ' ' << ended_s;
      }
    }
  }
}

TEST(SlowLink, LossyLinkIsNotMistakenForASlowOne) {
  for (const char* name : {"mobile", "stress"}) {
    World world({.links = network(name), .log_packets = true});
    add_crowd(world, 100);
    world.add_client();
    world.run_to(65.0);
    WorldConfig config{.links = network(name), .log_packets = true};
    config.server.follow_link = false;
    World unbound(config);
    add_crowd(unbound, 100);
    unbound.add_client();
    unbound.run_to(65.0);
    const Flow with = flow(world, 5.0, 65.0, 0.0);
    const Flow without = flow(unbound, 5.0, 65.0, 0.0);
    EXPECT_GT(with.bytes_per_second, 0.95 * without.bytes_per_second) << name;
  }
}

}  // namespace
}  // namespace reckoner::test
