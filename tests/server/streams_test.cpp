// SPDX-License-Identifier: MIT
#include "net/src/codec/motion_codec.hpp"
#include "net/src/messages/spawns.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

std::vector<ClientId> joined(const World& world) {
  std::vector<ClientId> ids;
  for (const ServerEvent& event : world.server_events()) {
    if (event.kind == ServerEvent::Kind::client_joined) ids.push_back(event.client);
  }
  return ids;
}

// FNV-1a over everything that is sent to a client.
struct Digest {
  std::uint64_t value = 14695981039346656037u;
  std::uint64_t payloads = 0;
  void add(const TransportEvent& event) {
    ++payloads;
    for (const std::byte byte : event.payload)
      value = (value ^ static_cast<std::uint64_t>(byte)) * 1099511628211u;
  }
};

std::vector<Digest> digests(unsigned threads) {
  WorldConfig config{.links = both_ways({.latency_ms = 40.0, .jitter_ms = 20.0, .loss_percent = 2.0}),
                     .seed = 3};
  config.server.threads = threads;
  config.switches.session_secret = SecretKey{{std::byte{7}}};
  config.server.interest = {.radius_m = 60.0, .level_distance_m = {20.0, 40.0}};
  World world(config);
  for (int i = 0; i < 200; ++i) {
    world.add_body(
        Circle{.turn_rps = 0.4 + 0.01 * (i % 100), .centre = {3.0 * (i % 20), 4.0 * (i / 20), 0.0}});
  }
  std::vector<Digest> result(33);  // more than two workers process at a time
  for (std::size_t i = 0; i < result.size(); ++i) {
    world.add_client();
    world.tap(i).filter = [&result, i](const TransportEvent& event) {
      if (event.kind == TransportEvent::Kind::received) result[i].add(event);
      return true;
    };
  }
  world.run_to(2.0);
  const auto clients = joined(world);
  EXPECT_EQ(clients.size(), result.size());
  for (std::size_t i = 0; i < clients.size(); ++i)
    EXPECT_TRUE(world.server().set_view(clients[i], {1.5 * static_cast<double>(i), 20.0, 0.0}));
  world.run_to(4.5);
  return result;
}

TEST(Streams, BytesDoNotDependOnTheNumberOfThreads) {
  const auto one = digests(1);
  for (const unsigned threads : {2u, 5u}) {
    const auto several = digests(threads);
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_GT(one[i].payloads, 100u);
      EXPECT_EQ(several[i].value, one[i].value) << "client " << i << ", " << threads << " threads";
    }
  }
}

// A more distant entity is updated less often, and its error stays within its level's threshold.
TEST(Streams, DetailDecreasesWithDistance) {
  const auto run = [](double distance_m) {
    WorldConfig config{.links = network("lan")};
    config.server.interest.level_distance_m = {100.0, 200.0};
    World world(config);
    const Circle path{.turn_rps = 2.0, .centre = {distance_m, 0.0, 0.0}};
    const EntityId id = world.add_body(path);
    const std::size_t client = world.add_client();
    world.run_to(1.0);
    EXPECT_TRUE(world.server().set_view(joined(world).front(), {0.0, 0.0, 0.0}));
    world.run_to(3.0);
    const std::uint64_t before = world.server().stats().updates_sent;
    double worst_m = 0.0;
    world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      ASSERT_EQ(shown.size(), 1u);
      EXPECT_EQ(shown[0].id, id);
      worst_m = std::max(worst_m, glm::distance(shown[0].shown.position, path(time_s).position));
    };
    world.run_to(23.0);
    EXPECT_EQ(world.client(client).stats().unknown_references, 0u);
    return std::pair{world.server().stats().updates_sent - before, worst_m};
  };
  const auto near = run(10.0);
  const auto middle = run(150.0);
  const auto far = run(300.0);
  // The error of a quadratic on a circle grows with the third power of time. Four times the threshold is
  // reached after 1.6 times the time, minus the link delay.
  EXPECT_GT(near.first, 5 * middle.first / 4);
  EXPECT_GT(middle.first, 5 * far.first / 4);
  const double threshold_m = Archetype{}.threshold_m;
  EXPECT_LT(near.second, 1.5 * threshold_m);
  EXPECT_LT(middle.second, 1.5 * 4.0 * threshold_m);
  EXPECT_LT(far.second, 1.5 * 16.0 * threshold_m);
}

// Loss, reordering, duplicates, frequent changes of level, spawns and despawns: no update ever uses a
// baseline that the client does not have.
TEST(Streams, ClientKnowsEveryBaseline) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    harness::LinkOptions link{.latency_ms = 60.0, .jitter_ms = 60.0, .loss_percent = 20.0, .burst = 2.0};
    link.duplicate_percent = 10.0;
    WorldConfig config{.links = both_ways(link), .seed = seed};
    config.server.interest = {.radius_m = 50.0, .level_distance_m = {15.0, 30.0}, .interval_s = 0.05};
    World world(config);
    for (int i = 0; i < 40; ++i)
      world.add_body(Circle{.turn_rps = 0.5 + 0.1 * i, .centre = {4.0 * i, 0.0, 0.0}});
    const std::size_t client = world.add_client();
    world.run_to(2.0);
    const auto clients = joined(world);
    ASSERT_EQ(clients.size(), 1u);
    for (int i = 0; i < 200; ++i) {
      const double phase = 0.05 * i;
      EXPECT_TRUE(world.server().set_view(clients[0], {80.0 + 80.0 * std::sin(phase), 0.0, 0.0}));
      world.run_to(2.0 + 0.1 * i);
    }
    const ClientStats& stats = world.client(client).stats();
    EXPECT_GT(stats.updates_applied, 1000u);
    EXPECT_EQ(stats.unknown_references, 0u);
    EXPECT_EQ(stats.malformed, 0u);
    EXPECT_LT(world.server().stats().full_updates_sent, world.server().stats().updates_sent / 2);
  }
}

// Only a broken server sends an unknown baseline. The client applies nothing from that datagram and does not
// acknowledge it, so that the server sends all of it again.
TEST(Streams, UpdateWithAnUnknownBaselineIsRefusedAndRepeated) {
  World world({.links = network("lan")});
  const EntityId id = world.add_body(Circle{.turn_rps = 3.0});
  const std::size_t client = world.add_client();
  world.run_to(2.0);
  // The client loses its baselines: a spawn of another entity in the slot replaces a datagram.
  bool replaced = false;
  world.tap(client).filter = [&](const TransportEvent& event) {
    if (replaced || event.kind != TransportEvent::Kind::received) return true;
    replaced = true;
    BitReader reader{event.payload};
    ServerHeader header = read_server_header(reader);
    header.update_count = 0;
    header.has_predictions = header.has_fields = header.has_messages = false;
    header.has_spawns = true;
    Spawn other;
    other.number = 2;
    other.entity = {id.index1, static_cast<std::uint16_t>(id.generation + 1)};
    other.age = 90;
    other.orientation_bits = static_cast<std::uint8_t>(quantisation_for(Archetype{}).orientation_bits);
    std::array<std::byte, 256> buffer;
    BitWriter writer{buffer};
    write(writer, header);
    SpawnsWriter section;
    EXPECT_TRUE(section.add(writer, other, 8 * buffer.size()));
    section.finish(writer);
    const auto bytes = writer.finish();
    world.tap(client).inject_payload(event.peer, {bytes.begin(), bytes.end()});
    return false;
  };
  world.run_to(2.0 + 1.0);
  const ClientStats& stats = world.client(client).stats();
  EXPECT_GT(stats.unknown_references, 0u);
  EXPECT_EQ(stats.malformed, 0u);
  const std::uint64_t applied = stats.updates_applied;
  world.run_to(4.0);
  // The first new update is in full. The next one is a residual against it.
  EXPECT_GT(world.client(client).stats().updates_applied, applied + 2);
}

}  // namespace
}  // namespace reckoner::test
