// SPDX-License-Identifier: MIT
#include "match.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

WorldConfig with_field() {
  WorldConfig config;
  config.server.archetypes[0].fields = {{"hits", IntegerField{0, 1000}}};
  return config;
}

// Bodies spawn, teleport, change a field and despawn all the time. The game polls after update() and then
// draws the frame.
void expect_events_before_frames(PlayoutMode mode, bool sampled) {
  WorldConfig config = with_field();
  config.sampled = sampled;
  World world(config);
  ClientConfig client;
  client.archetypes = config.server.archetypes;
  client.playout.mode = mode;
  world.add_client(client, {}, network("intercity"));

  std::map<EntityId, bool> alive;
  std::size_t handled = 0;
  std::size_t unannounced = 0;
  std::vector<EntityId> bodies;
  std::size_t ticks = 0;
  world.before_tick = [&](double now_s) {
    if (++ticks % 6 == 0) bodies.push_back(world.add_body([](double t) { return weave(t); }, {now_s + 0.5}));
    if (bodies.size() > 20) {
      world.remove_body(bodies.front());
      bodies.erase(bodies.begin());
    }
    for (const EntityId body : bodies)
      (void)world.server().set_field(body, 0, static_cast<std::int64_t>(ticks / 15 % 1000));
  };
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity> shown) {
    for (; handled < world.events(0).size(); ++handled) {
      const ClientEvent& event = world.events(0)[handled];
      if (event.kind == ClientEvent::Kind::spawned) alive[event.entity] = true;
      if (event.kind == ClientEvent::Kind::despawned) alive[event.entity] = false;
    }
    for (const ShownEntity& entity : shown)
      unannounced += alive[entity.id] ? 0 : 1;
  };
  world.run_to(20.0);
  EXPECT_GT(world.count(0, ClientEvent::Kind::spawned), 150u);
  EXPECT_GT(world.count(0, ClientEvent::Kind::despawned), 100u);
  EXPECT_GT(world.count(0, ClientEvent::Kind::teleported), 100u);
  EXPECT_GT(world.count(0, ClientEvent::Kind::fields_changed), 100u);
  EXPECT_EQ(unannounced, 0u);
  EXPECT_EQ(world.late_events(0), 0u);
}

TEST(EventOrder, ReceiveReportsWhatTheFrameShows) {
  for (const bool sampled : {false, true}) {
    expect_events_before_frames(PlayoutMode::present, sampled);
    expect_events_before_frames(PlayoutMode::adaptive, sampled);
  }
}

// The client joins and owns an avatar at once, as in a game that spawns the avatar of a new player.
void expect_usable_grant(const std::string& links, PlayoutMode mode, std::uint64_t seed) {
  WorldConfig config;
  config.seed = seed;
  World world(config);
  ClientConfig client;
  client.playout.mode = mode;
  world.add_client(client, {}, network(links));
  EntityId avatar;
  world.after_tick = [&](double now_s) {
    if (avatar || world.server_events().empty()) return;
    avatar = *world.server().spawn(0, "avatar", weave(now_s));
    ASSERT_TRUE(world.server().give(avatar, world.server_events().front().client));
  };
  std::optional<double> given_s;
  std::set<EntityId> spawned;
  std::size_t handled = 0;
  world.on_frame = [&](std::size_t, double now_s, std::span<const ShownEntity>) {
    Client& c = world.client(0);
    for (; handled < world.events(0).size(); ++handled) {
      const ClientEvent& event = world.events(0)[handled];
      if (event.kind == ClientEvent::Kind::spawned) spawned.insert(event.entity);
      if (event.kind == ClientEvent::Kind::corrected) ADD_FAILURE() << links << " corrected";
      if (event.kind != ClientEvent::Kind::given) continue;
      given_s = now_s;
      EXPECT_EQ(event.entity, avatar);
      EXPECT_TRUE(spawned.contains(avatar)) << links;
      EXPECT_NE(c.info(avatar), nullptr) << links;
      ASSERT_TRUE(c.owned(avatar)) << links;
    }
    if (!given_s) return;
    State rest;
    rest.position = c.owned(avatar)->position;
    EXPECT_TRUE(c.move(avatar, rest)) << links << " at " << now_s - *given_s << " s after the grant";
  };
  world.run_to(4.0);
  EXPECT_TRUE(given_s) << links;
  EXPECT_EQ(world.count(0, ClientEvent::Kind::given), 1u);
  EXPECT_EQ(world.late_events(0), 0u);
}

TEST(EventOrder, GrantIsUsableWhenItIsReported) {
  for (const char* const links : {"lan", "intercity", "mobile"}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      expect_usable_grant(links, PlayoutMode::present, seed);
      expect_usable_grant(links, PlayoutMode::adaptive, seed);
    }
  }
}

}  // namespace
}  // namespace reckoner::test
