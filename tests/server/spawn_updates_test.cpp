// SPDX-License-Identifier: MIT
// What a client sees of an entity that moves from its first tick on.
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/spawns.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kFast = 80.0;  // m/s

// The body spawns with zero velocity, because the game knows no velocity before the second tick. From the
// second tick on, it moves at full speed.
State racer(double t) {
  State s;
  s.position = {kFast * (t - 3.0), 0.0, 0.0};
  s.velocity = {t < 3.0 + 1e-3 ? 0.0f : static_cast<float>(kFast), 0.0f, 0.0f};
  return s;
}

harness::LinkPair long_link(double loss_percent) {
  harness::LinkPair links;
  links.up.latency_ms = links.down.latency_ms = 100.0;
  links.up.loss_percent = links.down.loss_percent = loss_percent;
  return links;
}

WorldConfig config(double loss_percent = 0.0) {
  WorldConfig config;
  config.links = long_link(loss_percent);
  config.server.archetypes[0].max_speed_mps = 1000.0;  // the blend must be faster than the body to catch up
  return config;
}

// Largest distance (m) between the shown and the true position from `from_s` to `until_s`. Both count from
// the spawn at 3 s.
double worst_m(World& world, EntityId id, double from_s, double until_s) {
  double worst = 0.0;
  world.on_frame = [&, id](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    for (const ShownEntity& e : shown) {
      if (e.id == id && time_s > 3.0 + from_s)
        worst = std::max(worst, glm::distance(e.shown.position, racer(time_s).position));
    }
  };
  world.run_to(3.0 + until_s);
  world.on_frame = {};
  return worst;
}

// Counts the spawns that arrive at the only client in datagrams without updates.
void count_spawns(World& world, std::size_t& spawns) {
  world.tap(0).filter = [&spawns](const TransportEvent& event) {
    if (event.kind != TransportEvent::Kind::received) return true;
    BitReader reader{event.payload};
    const ServerHeader header = read_server_header(reader);
    if (!header.has_spawns || header.update_count > 0) return true;
    std::vector<SpawnEntry> entries;
    read_spawns(reader, 1, entries);
    spawns += static_cast<std::size_t>(std::ranges::count_if(
        entries, [](const SpawnEntry& entry) { return std::holds_alternative<Spawn>(entry); }));
    return true;
  };
}

// The client is exact after the one-way delay, a few ticks and a blend. Waiting for the spawn's
// acknowledgement would take three one-way delays: of the spawn, its acknowledgement and an update.
TEST(SpawnUpdates, FastEntityIsShownCorrectlyBeforeItsSpawnIsAcknowledged) {
  World world(config());
  world.add_client();
  world.run_to(3.0 - 1e-6);
  const EntityId id = world.add_body(racer);
  EXPECT_LT(worst_m(world, id, 0.28, 3.0), 0.5);
  ASSERT_NE(world.shown(0, id), nullptr);
  EXPECT_EQ(world.count(0, ClientEvent::Kind::spawned), 1u);
  EXPECT_EQ(world.client(0).stats().malformed, 0u);
}

TEST(SpawnUpdates, EntityAppearsOnceAndIsCorrectDespiteLoss) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
    World world(config(20.0));
    ClientConfig client;
    client.playout.mode = mode;
    world.add_client(client);
    world.run_to(3.0 - 1e-6);
    const EntityId id = world.add_body(racer);
    world.run_to(12.0);
    const ShownEntity* shown = world.shown(0, id);
    ASSERT_NE(shown, nullptr);
    EXPECT_LT(glm::distance(shown->shown.position, racer(shown->shown_time_s).position), 0.3);
    EXPECT_EQ(world.count(0, ClientEvent::Kind::spawned), 1u);
    EXPECT_EQ(world.client(0).stats().malformed, 0u);
  }
}

// The client acknowledges nothing for ten seconds while the new entity keeps turning. The spawn goes again
// after each time-out, and a few times with a newer motion, but not as a stream.
TEST(SpawnUpdates, RepeatedSpawnsAreLimitedWhileTheClientAcknowledgesNothing) {
  World world(config());
  world.add_client();
  world.run_to(3.0);
  world.tap(0).drop_sent = [](std::span<const std::byte>) { return true; };
  std::size_t spawns = 0;
  count_spawns(world, spawns);
  world.add_body(Circle{.radius_m = 3.0, .turn_rps = 4.0});
  world.run_to(13.0);
  EXPECT_GE(spawns, 10u);
  EXPECT_LE(spawns, 50u);
}

// With many new entities, all spawns go first. Later motions of entities that were already sent wait.
TEST(SpawnUpdates, JoiningAFullWorldRepeatsFewSpawns) {
  World world(config());
  for (int i = 0; i < 500; ++i)
    world.add_body(Circle{.radius_m = 3.0, .turn_rps = 4.0, .phase_rad = 0.1 * i});
  world.run_to(1.0);
  world.add_client();
  std::size_t spawns = 0;
  count_spawns(world, spawns);
  world.run_to(4.0);
  EXPECT_EQ(world.shown(0).size(), 500u);
  EXPECT_LE(spawns, 500u + 4u * 64u);
}

}  // namespace
}  // namespace reckoner::test
