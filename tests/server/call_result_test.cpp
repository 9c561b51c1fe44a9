// SPDX-License-Identifier: MIT
#include "tests/support/world.hpp"

#include <cmath>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/call_result.hpp>

namespace reckoner::test {
namespace {

State with_speed(float speed_mps) {
  State s;
  s.velocity = {speed_mps, 0.0f, 0.0f};
  return s;
}

TEST(CallResult, SpawnSaysWhyItRefuses) {
  WorldConfig config;
  config.server.max_entities = 1 + kMaxFrameDepth;
  World world(config);
  Server& server = world.server();
  const auto error = [&](const State& state, const std::string& name = "", std::size_t archetype = 0,
                         EntityId frame = {}) { return server.spawn(archetype, name, state, frame).error(); };
  EXPECT_EQ(error({}, "", 1), CallError::unknown_archetype);
  EXPECT_EQ(error({}, std::string(65, 'x')), CallError::name_too_long);
  EXPECT_EQ(error({}, "", 0, {77, 1}), CallError::unknown_frame);
  EXPECT_EQ(error(with_speed(std::nanf(""))), CallError::not_finite);
  EXPECT_EQ(error(with_speed(1e5f)), CallError::too_fast);
  State far;
  far.position.x = 1e12;
  EXPECT_EQ(error(far), CallError::outside_world);
  State torn;
  torn.acceleration.x = 1e9f;
  EXPECT_EQ(error(torn), CallError::beyond_limits);
  State askew;
  askew.orientation = {2.0f, 0.0f, 0.0f, 0.0f};
  EXPECT_EQ(error(askew), CallError::not_finite);

  EntityId inner = *server.spawn(0, "", {});
  for (int depth = 0; depth < kMaxFrameDepth; ++depth) {
    const SpawnResult next = server.spawn(0, "", {}, inner);
    ASSERT_TRUE(next) << describe(next.error());
    inner = *next;
  }
  EXPECT_EQ(error({}, "", 0, inner), CallError::too_deep);
  EXPECT_EQ(error({}), CallError::world_full);
}

TEST(CallResult, MoveSaysWhyItRefuses) {
  World world(WorldConfig{});
  world.add_client();
  world.run_to(1.0);
  Server& server = world.server();
  const EntityId id = *server.spawn(0, "", {});
  EXPECT_TRUE(server.move(id, with_speed(1.0f)));
  EXPECT_EQ(server.move({77, 1}, {}).error(), CallError::unknown_entity);
  EXPECT_EQ(server.move(id, with_speed(1e5f)).error(), CallError::too_fast);
  EXPECT_EQ(server.teleport(id, with_speed(1e5f)).error(), CallError::too_fast);
  EXPECT_EQ(server.move_along(id, {}).error(), CallError::no_route);
  Client& client = world.client(0);
  world.run_to(2.0);
  EXPECT_EQ(client.move(id, {}).error(), CallError::not_owned);
  EXPECT_EQ(client.move({77, 1}, {}).error(), CallError::unknown_entity);
  ASSERT_TRUE(server.give(id, {1}));
  EXPECT_EQ(server.move(id, {}).error(), CallError::owned);
  world.run_to(2.2);
  State here = *world.updated(0).owned(id);
  EXPECT_TRUE(client.move(id, here));
  here.velocity.x = 1e5f;
  EXPECT_EQ(client.move(id, here).error(), CallError::too_fast);
  EXPECT_EQ(client.move(id, {}, {77, 1}).error(), CallError::unknown_frame);
}

TEST(CallResult, EntitiesSayWhyTheyDoNotChange) {
  WorldConfig config;
  config.server.archetypes[0].fields = {{"health", IntegerField{}}};
  config.server.archetypes.push_back({.name = "plain"});
  World world(config);
  Server& server = world.server();
  const EntityId nobody{77, 1};
  const EntityId tank = *server.spawn(0, "tank", {});
  const EntityId plain = *server.spawn(1, "plain", {});
  const EntityId shot = *server.spawn_short_lived(1, {});
  EXPECT_EQ(server.despawn(nobody).error(), CallError::unknown_entity);
  EXPECT_EQ(server.set_user_value(nobody, 1).error(), CallError::unknown_entity);
  EXPECT_EQ(server.set_boardable(nobody, true).error(), CallError::unknown_entity);
  EXPECT_EQ(server.set_boardable(shot, true).error(), CallError::short_lived);
  EXPECT_EQ(server.enter_frame(tank, shot).error(), CallError::short_lived);
  EXPECT_EQ(server.set_origin({std::nan(""), 0.0, 0.0}).error(), CallError::not_finite);
  EXPECT_EQ(server.set_relevance(nobody, Relevance::always).error(), CallError::unknown_entity);
  EXPECT_EQ(server.set_groups(nobody, 1).error(), CallError::unknown_entity);
  EXPECT_EQ(server.set_field(nobody, 0, std::int64_t{1}).error(), CallError::unknown_entity);
  EXPECT_EQ(server.set_field(tank, 1, std::int64_t{1}).error(), CallError::unknown_field);
  EXPECT_EQ(server.set_field(plain, 0, std::int64_t{1}).error(), CallError::unknown_field);
  EXPECT_EQ(server.set_field(tank, 0, 1.0).error(), CallError::wrong_type);
  EXPECT_EQ(server.set_field(tank, 0, std::int64_t{256}).error(), CallError::out_of_range);
  EXPECT_TRUE(server.set_field(tank, 0, std::int64_t{255}));
  const auto route = server.add_route({.curve = CatmullRomRoute{{{0.0, 0.0, 0.0}, {10.0, 0.0, 0.0}}}});
  ASSERT_TRUE(route);
  EXPECT_EQ(server.follow(nobody, *route).error(), CallError::unknown_entity);
  EXPECT_EQ(server.follow(tank, {77}).error(), CallError::unknown_route);
  EXPECT_EQ(server.leave_route(nobody).error(), CallError::unknown_entity);
  EXPECT_EQ(server.leave_route(tank).error(), CallError::no_route);
  EXPECT_TRUE(server.follow(tank, *route));
  EXPECT_TRUE(server.leave_route(tank));
  EXPECT_EQ(server.revoke(nobody).error(), CallError::unknown_entity);
  EXPECT_EQ(server.revoke(tank).error(), CallError::no_owner);
}

TEST(CallResult, CallsAboutClientsSayWhyTheyFail) {
  WorldConfig config;
  config.silence_timeout_s = 10.0;
  World world(config);
  world.add_client();
  world.run_to(1.0);
  Server& server = world.server();
  const EntityId nobody{77, 1};
  const EntityId id = *server.spawn(0, "", {});
  const EntityId shot = *server.spawn_short_lived(0, {});
  const ClientId client{1}, stranger{77};
  const std::vector<std::byte> text(kMaxReliableBytes + 1, std::byte{1});
  const std::span<const std::byte> bytes = text;
  EXPECT_EQ(server.refuse_prediction(stranger, 1).error(), CallError::unknown_client);
  EXPECT_EQ(server.give(nobody, client).error(), CallError::unknown_entity);
  EXPECT_EQ(server.give(id, stranger).error(), CallError::unknown_client);
  EXPECT_EQ(server.give(shot, client).error(), CallError::short_lived);
  EXPECT_EQ(server.give(id, client, {.silence_s = -1.0}).error(), CallError::out_of_range);
  EXPECT_TRUE(server.give(id, client));
  const auto route = server.add_route({.curve = CatmullRomRoute{{{0.0, 0.0, 0.0}, {10.0, 0.0, 0.0}}}});
  ASSERT_TRUE(route);
  EXPECT_EQ(server.follow(id, *route).error(), CallError::owned);
  EXPECT_EQ(server.enter_frame(id, shot).error(), CallError::owned);
  EXPECT_EQ(server.set_relevance(stranger, id, Relevance::never).error(), CallError::unknown_client);
  EXPECT_EQ(server.set_relevance(client, nobody, Relevance::never).error(), CallError::unknown_entity);
  EXPECT_EQ(server.set_groups(stranger, 1).error(), CallError::unknown_client);
  EXPECT_EQ(server.set_view(stranger, {}).error(), CallError::unknown_client);
  EXPECT_EQ(server.set_view(client, {0.0, std::nan(""), 0.0}).error(), CallError::not_finite);
  EXPECT_EQ(server.send(stranger, bytes.first(1), Delivery::reliable).error(), CallError::unknown_client);
  EXPECT_EQ(server.send(client, {}, Delivery::reliable).error(), CallError::message_empty);
  EXPECT_EQ(server.send(client, bytes, Delivery::reliable).error(), CallError::message_too_long);
  EXPECT_EQ(server.send(client, bytes.first(1), Delivery::reliable, std::nan("")).error(),
            CallError::invalid_time);
  CallResult sent;
  for (int i = 0; sent && i < 10'000; ++i)
    sent = server.send(client, bytes.first(1), Delivery::unreliable);
  EXPECT_EQ(sent.error(), CallError::queue_full);
  EXPECT_EQ(server.kick(stranger, "").error(), CallError::unknown_client);
  EXPECT_EQ(server.kick(client, std::string(kMaxKickReasonBytes + 1, 'x')).error(),
            CallError::reason_too_long);
  world.kill_client(0);
  world.run_to(20.0);
  EXPECT_FALSE(server.peer(client));
  EXPECT_EQ(server.send(client, bytes.first(1), Delivery::unreliable).error(), CallError::no_connection);
  EXPECT_TRUE(server.kick(client, ""));
}

// A game that gives positions but no velocities must not pass the speed limit.
TEST(CallResult, PositionsAreNotFasterThanTheTopSpeed) {
  WorldConfig config;
  config.server.archetypes[0].max_speed_mps = 20.0;
  World world(config);
  world.run_to(1.0);
  Server& server = world.server();
  const EntityId id = *server.spawn(0, "", {});
  State state;
  int passed = 0;
  const auto run = [&](double speed_mps, int ticks) {
    passed = 0;
    for (int i = 0; i < ticks; ++i) {
      state.position.x += speed_mps / 60.0;
      const CallResult moved = server.move(id, state);
      EXPECT_TRUE(moved || moved.error() == CallError::too_fast);
      passed += moved ? 1 : 0;
      server.tick(server.tick_time_s(server.next_tick()));
    }
  };
  run(20.0, 600);
  EXPECT_EQ(passed, 600);
  for (int i = 0; i < 60; ++i) {  // the game was late, and makes up for it at once
    server.tick(server.tick_time_s(server.next_tick()));
    if (i % 30 == 29) run(20.0 * 30.0, 1);
    EXPECT_TRUE(i % 30 != 29 || passed == 1);
  }
  run(10'000.0, 235);
  EXPECT_LE(passed, 1);
  EXPECT_TRUE(server.teleport(id, state));
  run(20.0, 60);
  EXPECT_EQ(passed, 60);
}

TEST(CallResult, EveryErrorHasItsOwnText) {
  std::set<std::string_view> texts;
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(CallError::reason_too_long); ++i)
    texts.insert(describe(static_cast<CallError>(i)));
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(CallError::reason_too_long) + 1);
  EXPECT_TRUE(describe(CallError::none).empty());
}

}  // namespace
}  // namespace reckoner::test
