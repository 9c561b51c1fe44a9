// SPDX-License-Identifier: MIT
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using CK = ClientEvent::Kind;

TEST(Lifetime, LateClientReceivesTheWholeWorld) {
  World world({.links = network("mobile")});
  std::vector<EntityId> ids;
  for (int i = 0; i < 60; ++i) {
    ids.push_back(world.add_body(Circle{.centre = {20.0 * i, 0.0, 0.0}}, {}, "body " + std::to_string(i)));
  }
  world.run_to(2.0);
  const std::size_t client = world.add_client();
  world.run_to(4.0);
  EXPECT_EQ(world.shown(client).size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ASSERT_NE(world.client(client).info(ids[i]), nullptr);
    EXPECT_EQ(world.client(client).info(ids[i])->name, "body " + std::to_string(i));
  }
}

TEST(Lifetime, EntitiesAppearAndDisappearOnTimeOverALossyLink) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::delayed, PlayoutMode::adaptive}) {
    World world({.links = network("stress"), .seed = 5});
    ClientConfig config;
    config.playout = {.mode = mode, .delay_s = 0.4};
    const std::size_t client = world.add_client(config);
    world.run_to(1.5);
    std::map<EntityId, double> born;
    std::set<EntityId> alive;
    std::map<EntityId, double> died;
    world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      for (const ShownEntity& e : shown) {
        // In buffered mode, an entity appears when the shown time reaches its spawn. In present mode, it
        // appears as soon as it is known.
        EXPECT_GE(e.shown_time_s + 0.02, born.at(e.id));
        const auto end = died.find(e.id);
        if (end == died.end()) continue;
        // If the datagrams with a despawn are lost, it goes again a round trip later. Buffered modes show it
        // after the delay.
        EXPECT_LT(time_s, end->second + 1.5);
        if (mode != PlayoutMode::present) {
          EXPECT_LT(e.shown_time_s, end->second + 1.0);
        }
      }
    };
    for (int round = 0; round < 20; ++round) {
      const EntityId id = world.add_body(Swing{});
      ASSERT_TRUE(id);
      born[id] = world.now_s();
      alive.insert(id);
      world.run_to(world.now_s() + 0.15);
      if (round % 3 != 0) {
        died[*alive.begin()] = world.now_s();
        world.remove_body(*alive.begin());
        alive.erase(alive.begin());
      }
      world.run_to(world.now_s() + 0.15);
    }
    world.run_to(world.now_s() + 3.0);
    std::set<EntityId> shown;
    for (const ShownEntity& e : world.shown(client))
      shown.insert(e.id);
    EXPECT_EQ(shown, alive);
    // Every shown entity had one spawn event, and one despawn event if it is gone.
    EXPECT_EQ(world.count(client, CK::spawned) - world.count(client, CK::despawned), alive.size());
  }
}

TEST(Lifetime, OldStateIsNeverAppliedToANewEntityInTheSameSlot) {
  // Without an orientation, the same bits mean something else.
  WorldConfig config{.links = network("lan")};
  config.server.archetypes.resize(2);
  config.server.archetypes[1].name = "point";
  config.server.archetypes[1].has_orientation = false;
  World world(config);
  ClientConfig client_config;
  client_config.archetypes = config.server.archetypes;
  const std::size_t client = world.add_client(client_config);
  world.run_to(2.0);
  const EntityId first = world.add_body(Circle{.centre = {1000.0, 0.0, 0.0}});
  world.run_to(3.0);
  // The network delays the last datagrams about the first entity.
  std::vector<Bytes> kept;
  world.tap(client).filter = [&](const TransportEvent& event) {
    if (event.kind != TransportEvent::Kind::received) return true;
    kept.emplace_back(event.payload.begin(), event.payload.end());
    return false;
  };
  world.run_to(3.5);
  world.tap(client).filter = nullptr;
  ASSERT_GE(kept.size(), 3u);
  world.remove_body(first);
  const EntityId other = world.add_body(Still{{5.0, 0.0, 0.0}}, {}, "other", 1);
  EXPECT_NE(other.slot(), first.slot());  // the slot is not reused so soon
  world.run_to(9.0);
  const EntityId second = world.add_body(Still{}, {}, "second", 1);
  ASSERT_EQ(second.slot(), first.slot());
  world.run_to(9.1);
  ASSERT_NE(world.shown(client, second), nullptr);
  bool strayed = false;
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity> shown) {
    for (const ShownEntity& e : shown)
      strayed = strayed || glm::length(e.shown.position) > 5.1;
  };
  const std::uint64_t stale = world.client(client).stats().datagrams_stale;
  for (const Bytes& payload : kept)
    world.tap(client).inject_payload({1}, payload);
  world.run_to(10.0);
  EXPECT_FALSE(strayed);
  EXPECT_EQ(world.client(client).stats().datagrams_stale - stale, kept.size());
  EXPECT_EQ(world.client(client).stats().malformed, 0u);
}

TEST(Lifetime, RefusesInvalidArguments) {
  WorldConfig config;
  config.server.max_entities = 2;
  World world(config);
  State broken;
  broken.position.x = std::nan("");
  EXPECT_FALSE(world.server().spawn(0, "x", broken));
  EXPECT_FALSE(world.server().spawn(1, "x", State{}));
  EXPECT_FALSE(world.server().spawn(0, std::string(65, 'x'), State{}));
  const EntityId id = *world.server().spawn(0, std::string(64, 'x'), State{});
  ASSERT_TRUE(id);
  EXPECT_TRUE(world.server().spawn(0, "", State{}));
  EXPECT_FALSE(world.server().spawn(0, "", State{}));
  EXPECT_FALSE(world.server().move(id, broken));
  EXPECT_FALSE(world.server().move({7, 1}, State{}));
  State fast;
  fast.velocity.x = 1e6f;
  EXPECT_FALSE(world.server().move(id, fast));
  EXPECT_TRUE(world.server().despawn(id));
  EXPECT_FALSE(world.server().despawn(id));
  EXPECT_FALSE(world.server().move(id, State{}));
  world.run_to(0.1);
}

TEST(Lifetime, EntityRemovedBeforeATickIsNeverSent) {
  World world({.links = network("lan")});
  const std::size_t client = world.add_client();
  world.run_to(0.5);
  const EntityId id = world.add_body(Still{});
  world.remove_body(id);  // before any tick
  world.run_to(1.0);
  EXPECT_EQ(world.count(client, CK::spawned), 0u);
  EXPECT_EQ(world.client(client).stats().malformed, 0u);
}

}  // namespace
}  // namespace reckoner::test
