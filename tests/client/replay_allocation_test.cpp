// SPDX-License-Identifier: MIT
// The client's part of a correction and of the replay after it allocates no memory once it has run a few
// times.
#include "tests/support/counted_allocations.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <array>
#include <cstddef>
#include <span>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr std::array<std::byte, 56> kGameState{};
constexpr std::array<std::byte, 8> kKeys{std::byte{1}};

// A car at `height_m` that drives straight on.
State car(Tick tick, double height_m) {
  State state;
  state.position = {0.01 * tick, 0.0, height_m};
  state.velocity = {0.6f, 0.0f, 0.0f};
  return state;
}

TEST(ReplayAllocations, NoneAfterAFewCorrections) {
  World world({.links = network("intercity")});
  world.add_client();
  const EntityId id = *world.server().spawn(0, "car", car(0, 0.0));
  double height_m = 0.0;  // as the server has it, which differs after each second
  ClientId player;
  world.before_tick = [&](double time_s) {
    Server& server = world.server();
    const Tick tick = server.next_tick();
    if (!player && !server.clients().empty()) {
      player = server.clients()[0];
      ASSERT_TRUE(server.let_predict(id, player));
    }
    if (tick % 60 == 0) height_m += 0.5;
    if (player) (void)server.input(player);
    ASSERT_TRUE(server.move(id, car(tick, height_m)));
    ASSERT_TRUE(server.set_game_state(id, kGameState));
    (void)time_s;
  };
  std::size_t replays = 0, steps = 0;
  bool is_warm = false;
  double own_height_m = 0.0;
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity>) {
    Client& client = world.client(0);
    counting = is_warm;  // the replay alone
    if (const auto correction = client.poll_correction()) {
      own_height_m = correction->entities.front().state.position.z;
      for (const PredictionStep& step : correction->steps)
        (void)client.predict(id, step.tick, car(step.tick, own_height_m), kGameState);
      ++replays;
      steps += correction->steps.size();
    }
    counting = false;
    while (const auto step = client.next_step(kKeys))
      (void)client.predict(id, step->tick, car(step->tick, own_height_m), kGameState);
  };
  world.run_to(20.0);
  EXPECT_GT(replays, 10u);
  allocations = 0;
  replays = steps = 0;
  is_warm = true;
  world.run_to(60.0);
  EXPECT_EQ(allocations, 0u);
  EXPECT_GE(replays, 39u);
  EXPECT_GE(steps, 10u * replays) << "a round trip of 160 ms";
}

}  // namespace
}  // namespace reckoner::test
