// SPDX-License-Identifier: MIT
// A client keeps at most ClientConfig::max_entities entities, whatever its server sends. The rest of the
// world goes on.
#include "client/src/ownership/owned_section.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/spawns.hpp"
#include "tests/support/forged_spawns.hpp"
#include "tests/support/forged_stream.hpp"
#include "tests/support/voyage.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace reckoner::test {
namespace {

// Memory in use, bytes; 0 if the system does not say.
std::size_t memory_in_use() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

Spawn spawn_of(EntityId id) {
  const Quantisation q = quantisation_for(Archetype{});
  Spawn s;
  s.entity = id;
  s.name = std::string(kMaxNameBytes, 'n');
  s.orientation_bits = static_cast<std::uint8_t>(q.orientation_bits);
  s.state = quantise(standing({1.0, 2.0, 3.0}), 0, kUnitPrecision, q);
  return s;
}

struct HostileServer {
  World world{WorldConfig{}};

  explicit HostileServer(std::uint32_t max_entities) {
    ClientConfig client;
    client.max_entities = max_entities;
    world.add_client(client);
    world.tap(0).filter = [this](const TransportEvent& event) {
      if (event.kind != TransportEvent::Kind::received) return true;
      for (const ReliablePart& part : stream.add(event.payload))
        offset = std::max(offset, part.offset + part.bytes.size());
      return true;
    };
    world.run_to(1.0);
    world.tap(0).filter = nullptr;
  }
  // The spawns get the next numbers.
  void send(std::vector<SpawnEntry> entries) {
    for (SpawnEntry& entry : entries) {
      if (auto* spawn = std::get_if<Spawn>(&entry)) spawn->number = ++spawns;
    }
    world.tap(0).inject_payload({1}, forged_spawns(next_head(), entries));
    client().update(world.local_s(0, world.now_s()));
  }
  // After the welcome, the real server sends no reliable messages, so the stream goes on with these.
  void send(const ReliableMessage& message) {
    ReliablePart part{offset, {}};
    append_message(part.bytes, encoded_message(message));
    offset += part.bytes.size();
    world.tap(0).inject_payload({1}, forged_reliable(next_head(), std::span{&part, 1}));
    client().update(world.local_s(0, world.now_s()));
  }
  // Spawns in slots that lie far apart, so that the largest number of slots is in use.
  void spawn(std::uint32_t count, std::uint32_t stride) {
    constexpr std::uint32_t kTogether = 150;
    for (std::uint32_t i = 0; i < count;) {
      std::vector<SpawnEntry> entries;
      for (std::uint32_t k = 0; k < kTogether && i < count; ++k, ++i)
        entries.emplace_back(spawn_of({1 + i * stride, 1}));
      send(std::move(entries));
    }
  }
  ServerHeader next_head() {
    ServerHeader head;
    head.sequence = sequence++;
    head.tick = static_cast<std::uint16_t>(world.server().next_tick() - 1);
    return head;
  }
  std::uint32_t spawns = 0;
  FollowedStream stream;
  std::uint64_t offset = 0;
  Sequence sequence = 30'000;
  Client& client() { return world.client(0); }
};

TEST(EntityLimit, AHostileServerCannotFillTheMemory) {
  constexpr std::uint32_t kSpawns = 200'000;
  constexpr std::uint32_t kKept = 2000;
  HostileServer h(kKept);
  const std::size_t before = memory_in_use();
  h.spawn(kSpawns, kMaxEntities / kSpawns);
  EXPECT_EQ(h.client().stats().entities_refused, kSpawns - kKept);
  EXPECT_EQ(h.client().stats().refusals[Refusal::too_many], kSpawns - kKept);
  EXPECT_EQ(h.client().stats().malformed, 0u);
  h.world.run_to(2.0);
  EXPECT_EQ(h.client().shown().size(), kKept);
  if (before == 0) GTEST_SKIP() << "the system does not say how much memory is in use";
  const std::size_t used = memory_in_use() - before;
  RecordProperty("bytes", std::to_string(used));
  EXPECT_LT(used, std::size_t{80} << 20);
}

// Even the largest slot numbers cost only a few bytes each, also as frames.
TEST(EntityLimit, SlotsOfFramesCostLittleMemory) {
  HostileServer h(10);
  const std::size_t before = memory_in_use();
  Spawn inside = spawn_of({kMaxEntities - 1, 1});
  inside.state.frame = {kMaxEntities, 1};
  h.send({spawn_of({kMaxEntities, 1}), inside});
  h.world.run_to(2.0);
  EXPECT_EQ(h.client().shown().size(), 2u);
  if (before == 0) GTEST_SKIP() << "the system does not say how much memory is in use";
  EXPECT_LT(memory_in_use() - before, std::size_t{60} << 20);
}

TEST(EntityLimit, OwnedEntitiesAreLimitedToo) {
  constexpr std::uint32_t kGiven = OwnedSection::kMax + 100;
  HostileServer h(65'536);
  h.spawn(kGiven, 1);
  const Quantisation q = quantisation_for(Archetype{});
  for (std::uint32_t i = 0; i < kGiven; ++i) {
    OwnershipMessage m;
    m.entity = {1 + i, 1};
    m.change = OwnershipMessage::Change::given;
    m.motion_tick = h.world.server().next_tick() - 1;
    m.orientation_bits = static_cast<std::uint8_t>(q.orientation_bits);
    m.state = quantise(standing({1.0, 2.0, 3.0}), 0, kUnitPrecision, q);
    h.send(m);
  }
  EXPECT_EQ(h.client().stats().refusals[Refusal::too_many], 100u);
}

// An honest server with more entities than its client keeps.
class Crowded : public testing::Test {
 protected:
  static WorldConfig config() {
    WorldConfig config;
    config.links = network("lan");
    config.server.archetypes[0].max_speed_mps = 50.0;
    return config;
  }
  void join(std::uint32_t max_entities) {
    ClientConfig client;
    client.max_entities = max_entities;
    client.log = [this](const LogRecord& record) { said += record.event == "entities refused" ? 1 : 0; };
    world.add_client(client);
  }
  [[nodiscard]] const ClientStats& stats() { return world.client(0).stats(); }
  // Largest error of the shown entities among `ids` in the next seconds, m.
  double worst_m(double seconds, const std::vector<std::pair<EntityId, Truth>>& bodies) {
    double worst = 0.0;
    world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      for (const ShownEntity& entity : shown) {
        for (const auto& [id, path] : bodies) {
          if (id == entity.id)
            worst = std::max(worst, glm::distance(entity.shown.position, path(time_s).position));
        }
      }
    };
    world.run_to(world.now_s() + seconds);
    world.on_frame = {};
    return worst;
  }

  World world{config()};
  int said = 0;
};

Truth circle(double phase) {
  return [phase](double t) {
    State s;
    const double angle = 1.5 * t + phase;
    s.position = {10.0 * std::cos(angle), 10.0 * std::sin(angle), 0.0};
    s.velocity = {static_cast<float>(-15.0 * std::sin(angle)), static_cast<float>(15.0 * std::cos(angle)),
                  0.0f};
    s.acceleration = {static_cast<float>(-22.5 * std::cos(angle)),
                      static_cast<float>(-22.5 * std::sin(angle)), 0.0f};
    return s;
  };
}

TEST_F(Crowded, RefusedEntitiesDoNotDisturbTheOthers) {
  join(3);
  std::vector<std::pair<EntityId, Truth>> bodies;
  for (int i = 0; i < 40; ++i) {
    const Truth path = circle(0.1 * i);
    bodies.emplace_back(world.add_body(path), path);
  }
  world.run_to(3.0);
  EXPECT_EQ(world.shown(0).size(), 3u);
  const double worst = worst_m(5.0, bodies);
  EXPECT_EQ(world.shown(0).size(), 3u);
  EXPECT_LT(worst, 0.3);
  EXPECT_EQ(stats().entities_refused, 37u);
  EXPECT_EQ(stats().refusals[Refusal::too_many], 37u);
  EXPECT_EQ(stats().malformed + stats().unknown_references, 0u);
  EXPECT_EQ(said, 1);

  // Entities that end make room for new ones, and the ends of refused ones are nothing special.
  const EntityId first = world.shown(0).front().id;
  for (const auto& [id, path] : bodies) {
    if (id != first) world.remove_body(id);
  }
  world.run_to(9.0);
  const EntityId fresh = world.add_body(circle(3.0));
  world.run_to(10.0);
  EXPECT_NE(world.shown(0, fresh), nullptr);
  EXPECT_EQ(stats().malformed + stats().unknown_references, 0u);
  EXPECT_EQ(said, 1);
}

TEST_F(Crowded, ShortLivedEntitiesCount) {
  join(1);
  const Truth path = circle(0.0);
  const EntityId body = world.add_body(path);
  world.run_to(2.0);
  ASSERT_NE(world.shown(0, body), nullptr);
  State shot = standing({0.0, 0.0, 0.0});
  shot.velocity.x = 20.0f;
  int shots = 0;
  world.before_tick = [&](double time_s) {
    if (static_cast<int>(time_s * 60.0) % 6 != 0) return;
    shots += world.server().spawn_short_lived(0, shot, {.end_s = time_s + 1.0}) ? 1 : 0;
  };
  const double worst = worst_m(5.0, {{body, path}});
  EXPECT_EQ(world.shown(0).size(), 1u);
  EXPECT_LT(worst, 0.3);
  EXPECT_GT(shots, 30);
  EXPECT_GT(stats().entities_refused, 30u);
  EXPECT_EQ(stats().malformed + stats().unknown_references, 0u);
}

// The ship is refused. A walker that goes aboard is not shown there, but nothing else suffers.
TEST_F(Crowded, RefusedFramesDoNotDisturbTheOthers) {
  join(2);
  const Truth path = circle(0.0);
  const EntityId body = world.add_body(path);
  const EntityId walker = *world.server().spawn(0, "walker", standing({5.0, 0.0, 0.0}));
  world.run_to(2.0);
  ASSERT_EQ(world.shown(0).size(), 2u);
  const EntityId ship = *world.server().spawn(0, "ship", standing({0.0, 0.0, 0.0}));
  const EntityId cook = *world.server().spawn(0, "cook", standing({1.0, 0.0, 0.0}), ship);
  world.run_to(3.0);
  EXPECT_EQ(stats().entities_refused, 2u);
  ASSERT_TRUE(world.server().enter_frame(walker, ship));
  double at_m = 5.0;
  world.before_tick = [&](double) {
    at_m += 2.0 / 60.0;
    State s = standing({at_m, 0.0, 0.0});
    s.velocity.x = 2.0f;
    EXPECT_TRUE(world.server().move(walker, s));
  };
  EXPECT_LT(worst_m(4.0, {{body, path}}), 0.3);
  EXPECT_EQ(stats().malformed + stats().unknown_references, 0u);
  ASSERT_TRUE(world.server().enter_frame(walker, {}));
  world.run_to(9.0);
  const ShownEntity* shown = world.shown(0, walker);
  ASSERT_NE(shown, nullptr);
  EXPECT_NEAR(shown->shown.position.x, at_m, 0.3);
  EXPECT_EQ(world.shown(0, cook), nullptr);
  EXPECT_EQ(stats().malformed + stats().unknown_references, 0u);
}

}  // namespace
}  // namespace reckoner::test
