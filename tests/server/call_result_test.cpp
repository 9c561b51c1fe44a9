// SPDX-License-Identifier: MIT
#include "tests/support/world.hpp"

#include <cmath>
#include <set>
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
                         EntityId frame = {}) { return server.spawn(archetype, name, state, frame).error; };
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

  EntityId inner = server.spawn(0, "", {});
  for (int depth = 0; depth < kMaxFrameDepth; ++depth) {
    const SpawnResult next = server.spawn(0, "", {}, inner);
    ASSERT_TRUE(next) << describe(next.error);
    inner = next;
  }
  EXPECT_EQ(error({}, "", 0, inner), CallError::too_deep);
  EXPECT_EQ(error({}), CallError::world_full);
}

TEST(CallResult, MoveSaysWhyItRefuses) {
  World world(WorldConfig{});
  world.add_client();
  world.run_to(1.0);
  Server& server = world.server();
  const EntityId id = server.spawn(0, "", {});
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

// A game that gives positions but no velocities must not pass the speed limit.
TEST(CallResult, PositionsAreNotFasterThanTheTopSpeed) {
  WorldConfig config;
  config.server.archetypes[0].max_speed_mps = 20.0;
  World world(config);
  world.run_to(1.0);
  Server& server = world.server();
  const EntityId id = server.spawn(0, "", {});
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
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(CallError::no_route); ++i)
    texts.insert(describe(static_cast<CallError>(i)));
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(CallError::no_route) + 1);
  EXPECT_TRUE(describe(CallError::none).empty());
}

}  // namespace
}  // namespace reckoner::test
