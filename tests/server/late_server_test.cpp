// SPDX-License-Identifier: MIT
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kServerTickRateHz = 60.0;

// The server's process was suspended for a second and now runs the missed ticks one after another.
struct LateServer {
  LateServer() {
    for (std::size_t i = 0; i < paths.size(); ++i)
      ids.push_back(world.add_body(paths[i], {}, "body " + std::to_string(i)));
    world.add_client();
    world.run_to(2.0);
    usual_publishes = world.server().stats().publishes;
    world.run_to(3.0);
    usual_publishes = world.server().stats().publishes - usual_publishes;
    world.network().advance(4.0);
  }

  std::size_t catch_up() {
    Server& server = world.server();
    return server.run_due_ticks(world.now_s(), [&](double time_s) {
      EXPECT_EQ(time_s, server.tick_time_s(server.next_tick()));
      for (std::size_t i = 0; i < ids.size(); ++i)
        EXPECT_TRUE(server.move(ids[i], paths[i](time_s)));
      if (before_tick) before_tick(time_s);
    });
  }

  World world{{.server = {.tick_rate_hz = kServerTickRateHz}}};
  std::vector<Truth> paths{Circle{}, Swing{}, Circle{.radius_m = 1.0, .turn_rps = 6.0}};
  std::vector<EntityId> ids;
  std::uint64_t usual_publishes = 0;  // per second
  std::function<void(double)> before_tick;
};

// Times that no clock has make no tick due: they would otherwise make ticks without end.
TEST(LateServer, RunsNoTickAtAnImpossibleTime) {
  LateServer late;
  (void)late.catch_up();
  Server& server = late.world.server();
  const Tick next = server.next_tick();
  for (const double now_s :
       {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN(), 1e15, 1.8e9}) {
    EXPECT_EQ(server.run_due_ticks(now_s, [](double) { FAIL() << "no tick is due"; }), 0u) << now_s;
    EXPECT_FALSE(server.is_tick_due());
  }
  EXPECT_EQ(server.next_tick(), next);
  EXPECT_EQ(server.run_due_ticks(server.tick_time_s(next), [](double) {}), 1u);
}

TEST(LateServer, SendsEveryFourthTickUntilItHasCaughtUp) {
  LateServer late;
  const std::uint64_t ticks = late.world.server().stats().ticks;
  const std::uint64_t publishes = late.world.server().stats().publishes;
  const std::uint64_t sent = late.world.server().stats().datagrams_sent;
  const std::size_t run = late.catch_up();
  const ServerStats& stats = late.world.server().stats();
  EXPECT_EQ(run, stats.ticks - ticks);
  EXPECT_NEAR(static_cast<double>(stats.ticks - ticks), kServerTickRateHz, 1.0);
  ASSERT_GT(late.usual_publishes, 8u);
  // Everything that moves is published as usual.
  EXPECT_GT(stats.publishes, publishes + late.usual_publishes * 2 / 3);
  EXPECT_LE(stats.datagrams_sent, sent + 16);
  EXPECT_GE(stats.datagrams_sent, sent + 2);  // not everything waits for the last tick
}

TEST(LateServer, HasSentEverythingAfterCatchingUp) {
  LateServer late;
  // A change in a tick that sends nothing must still arrive.
  EntityId born{};
  late.before_tick = [&](double time_s) {
    if (!born && time_s > 3.5) born = *late.world.server().spawn(0, "born", late.paths[0](time_s));
  };
  late.catch_up();
  late.world.run_to(5.0);
  for (std::size_t i = 0; i < late.ids.size(); ++i) {
    const ShownEntity* shown = late.world.shown(0, late.ids[i]);
    ASSERT_NE(shown, nullptr);
    const auto published = late.world.server().published(late.ids[i]);
    const State expected = state_at(*published, shown->shown_time_s);  // its clock is corrected slowly
    EXPECT_LT(glm::distance(expected.position, shown->shown.position), 0.2);
  }
  EXPECT_NE(late.world.shown(0, born), nullptr);
  EXPECT_EQ(late.world.server().stats().malformed, 0u);
}

TEST(LateServer, TickThatIsOnTimeSendsAtOnce) {
  World world({});
  world.add_body(Circle{.radius_m = 1.0, .turn_rps = 6.0});
  world.add_client();
  world.run_to(3.0);
  const std::uint64_t publishes = world.server().stats().publishes;
  const std::uint64_t updates = world.server().stats().updates_sent;
  world.run_to(4.0);
  EXPECT_GE(world.server().stats().updates_sent - updates, world.server().stats().publishes - publishes);
}

}  // namespace
}  // namespace reckoner::test
