// SPDX-License-Identifier: MIT
// Entities on routes, from a server over a simulated network to a client.
#include "client/src/testing/test_switches.hpp"
#include "harness/replay/replay.hpp"
#include "harness/sim/sim_transport.hpp"
#include "net/src/messages/messages.hpp"
#include "scenario/builtin/builtin.hpp"
#include "server/src/test_switches.hpp"

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/client/client.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::harness {
namespace {

RouteDefinition loop(RouteWrap wrap = RouteWrap::closed) {
  RouteDefinition d;
  d.wrap = wrap;
  d.curve = CatmullRomRoute{{{0, 0, 0}, {20, 0, 0}, {20, 20, 0}, {0, 20, 0}}};
  return d;
}

LinkPair link(double latency_ms, double jitter_ms = 0.0, double loss_percent = 0.0) {
  LinkPair pair;
  pair.up.latency_ms = pair.down.latency_ms = latency_ms;
  pair.up.jitter_ms = pair.down.jitter_ms = jitter_ms;
  pair.up.loss_percent = pair.down.loss_percent = loss_percent;
  return pair;
}

// A server and its clients at 60 ticks and frames a second.
struct World {
  explicit World(const LinkPair& links)
      : network(SimNetworkConfig{.links = links}), server(make_test_server({}, network.server())) {}

  Client& add_client(PlayoutConfig playout = {}) {
    Transport& transport = network.add_client(kProtocolVersion);
    ClientConfig config;
    config.playout = playout;
    return *clients.emplace_back(std::make_unique<Client>(make_test_client(config, transport)));
  }

  // Runs until `end_s`. Calls `game` in every tick and `frame` in every picture of the first client.
  void run(double end_s, const std::function<void(double)>& game,
           const std::function<void(double, const ShownEntity&)>& frame = {}) {
    for (; time_s() < end_s; ++step) {
      network.advance(time_s());
      server.receive(time_s());
      game(time_s());
      server.tick(time_s());
      for (std::size_t i = 0; i < clients.size(); ++i) {
        clients[i]->update(time_s());
        for (const ShownEntity& shown : clients[i]->shown())
          if (i == 0 && frame) frame(time_s(), shown);
      }
    }
  }
  [[nodiscard]] double time_s() const { return static_cast<double>(step) / 60.0; }

  SimNetwork network;
  Server server;
  std::vector<std::unique_ptr<Client>> clients;
  std::uint64_t step = 0;
};

// A walk along a route at 1.5 m/s that leaves it smoothly by up to 1 m from 5 s to 11 s.
struct Walk {
  const Route* route;
  [[nodiscard]] State at(double t) const {
    State s = route->state_at({1.5 * t, 1.5, 0.0}, 0.0);
    const double u = (t - 5.0) / 6.0;
    if (u > 0.0 && u < 1.0) {
      const double b = 4.0 * u * (1.0 - u);
      s.position.z += b * b * b;
      s.velocity.z += static_cast<float>(3.0 * b * b * 4.0 * (1.0 - 2.0 * u) / 6.0);
    }
    return s;
  }
};

TEST(Routes, EntityLeavesAndRejoinsItsRouteSmoothly) {
  World world{link(80.0)};
  world.add_client();
  const RouteId id = *world.server.add_route(loop());
  const Walk walk{world.server.route(id)};
  const EntityId entity = *world.server.spawn(0, "guard", walk.at(0.0));
  ASSERT_TRUE(world.server.follow(entity, id));

  std::optional<State> last;
  double worst = 0.0;
  double furthest_step = 0.0;
  double off_curve = 0.0;
  bool left = false;
  bool back = false;
  world.run(
      20.0, [&](double t) { EXPECT_TRUE(world.server.move(entity, walk.at(t))); },
      [&](double t, const ShownEntity& e) {
        if (t < 2.0) return;
        worst = std::max(worst, glm::length(e.shown.position - walk.at(t).position));
        // C1: the shown velocity changes by acceleration x time, and the position follows the velocity.
        if (last) {
          furthest_step = std::max(furthest_step, double{glm::length(e.shown.velocity - last->velocity)});
          const glm::dvec3 mean = 0.5 * (glm::dvec3{e.shown.velocity} + glm::dvec3{last->velocity});
          EXPECT_LT(glm::length(e.shown.position - last->position - mean / 60.0), 0.01) << t;
        }
        last = e.shown;
        const double away = walk.route->nearest(e.shown.position).distance_to_point;
        if (e.route != nullptr) off_curve = std::max(off_curve, away);
        left = left || (t > 6.0 && t < 10.0 && e.route == nullptr && away > 0.3);
        back = back || (t > 13.0 && e.route != nullptr);
        if (t < 5.0 || t > 13.0) {
          EXPECT_NE(e.route, nullptr) << t;
        }
      });
  EXPECT_TRUE(left);
  EXPECT_TRUE(back);
  EXPECT_LT(off_curve, 1e-6);
  EXPECT_LT(worst, 0.12);
  EXPECT_LT(furthest_step, 1.2);  // from a blend: 6 E0 / T^2 per second
}

TEST(Routes, SteadyWalkNeedsFewPublishesAndRestIsExact) {
  World world{link(80.0)};
  world.add_client();
  const RouteId id = *world.server.add_route(loop());
  const Route& route = *world.server.route(id);
  const EntityId entity = *world.server.spawn(0, "guard", route.state_at({}, 0.0));
  ASSERT_TRUE(world.server.follow(entity, id));
  // The walker walks until 12 s, brakes at 1 m/s^2, and rests from 13.5 s on.
  const auto place = [](double t) {
    return Route::advanced({1.5 * std::min(t, 12.0), 1.5, t < 12.0 ? 0.0 : -1.0}, std::max(0.0, t - 12.0));
  };
  std::uint64_t published_before_rest = 0;
  double error = 0.0;
  world.run(
      40.0,
      [&](double t) {
        EXPECT_TRUE(world.server.move_along(entity, place(t)));
        if (t < 15.0) published_before_rest = world.server.stats().publishes;
      },
      [&](double t, const ShownEntity& e) {
        if (t > 1.0)
          error = std::max(error, glm::length(e.shown.position - route.position(place(t).distance)));
        if (t > 16.0) {
          EXPECT_EQ(e.shown.velocity, glm::vec3{0.0f});
          EXPECT_LT(glm::length(e.shown.position - route.position(place(t).distance)), 0.0125);
        }
      });
  EXPECT_LE(published_before_rest, 6u);
  EXPECT_EQ(world.server.stats().publishes, published_before_rest);  // no more publishes
  EXPECT_LT(error, 0.08);
}

TEST(Routes, GameMayTakeAnEntityOffItsRoute) {
  World world{link(40.0)};
  Client& client = world.add_client();
  const RouteId id = *world.server.add_route(loop());
  const Walk walk{world.server.route(id)};
  const EntityId entity = *world.server.spawn(0, "guard", walk.at(0.0));
  EXPECT_FALSE(world.server.leave_route(entity));
  EXPECT_FALSE(world.server.move_along(entity, {}));
  EXPECT_FALSE(world.server.follow(entity, RouteId{2}));
  EXPECT_FALSE(world.server.follow(EntityId{}, id));
  ASSERT_TRUE(world.server.follow(entity, id));
  const auto game = [&](double t) { EXPECT_TRUE(world.server.move(entity, walk.at(t))); };
  world.run(3.0, game);
  EXPECT_EQ(world.server.published(entity)->route, world.server.route(id));
  ASSERT_EQ(client.shown().size(), 1u);
  EXPECT_NE(client.shown()[0].route, nullptr);
  EXPECT_TRUE(world.server.leave_route(entity));
  world.run(4.0, game);
  EXPECT_EQ(world.server.published(entity)->route, nullptr);
  EXPECT_EQ(client.shown()[0].route, nullptr);
}

TEST(Routes, LateClientReceivesAllRoutesAndALaterOne) {
  World world{link(80.0, 40.0, 3.0)};
  Client& early = world.add_client();
  std::vector<RouteId> ids;
  for (int i = 0; i < 20; ++i)
    ids.push_back(*world.server.add_route(loop()));
  const EntityId entity = *world.server.spawn(0, "guard", world.server.route(ids[0])->state_at({}, 0.0));
  ASSERT_TRUE(world.server.follow(entity, ids.back()));
  const auto game = [&](double t) { EXPECT_TRUE(world.server.move_along(entity, {1.5 * t, 1.5, 0.0})); };
  world.run(2.0, game);
  Client& late = world.add_client();
  world.run(5.0, game);
  // State datagrams may overtake the route. So the server sends no motion on the route before the client has
  // the route.
  const RouteId another = *world.server.add_route(loop(RouteWrap::ping_pong));
  ASSERT_TRUE(world.server.follow(entity, another));
  world.run(8.0, game);
  for (Client* client : {&early, &late}) {
    EXPECT_EQ(client->stats().malformed, 0u);
    const auto frame = client->shown();
    ASSERT_EQ(frame.size(), 1u);
    ASSERT_NE(frame[0].route, nullptr);
    EXPECT_EQ(frame[0].route->wrap(), RouteWrap::ping_pong);
  }
}

TEST(Routes, InvalidRouteIsRefused) {
  World world{link(10.0)};
  EXPECT_FALSE(world.server.add_route({}));
  RouteDefinition d = loop();
  std::get<CatmullRomRoute>(d.curve).points[1].x = std::nan("");
  EXPECT_FALSE(world.server.add_route(d));
  d = loop();
  d.wrap = static_cast<RouteWrap>(9);
  EXPECT_FALSE(world.server.add_route(d));
  d = loop();
  for (int i = 0; i < 2000; ++i)
    std::get<CatmullRomRoute>(d.curve).points.push_back({i * 0.5, std::sin(i), 0.0});
  EXPECT_FALSE(world.server.add_route(d));  // too long for a message
  EXPECT_EQ(world.server.add_route(loop())->value, 1u);
}

TEST(Routes, BufferedModeStaysOnTheCurve) {
  for (const PlayoutMode mode : {PlayoutMode::delayed, PlayoutMode::adaptive}) {
    World world{link(60.0, 20.0, 2.0)};
    PlayoutConfig playout;
    playout.mode = mode;
    playout.delay_s = 0.2;
    world.add_client(playout);
    const RouteId id = *world.server.add_route(loop());
    const Route& route = *world.server.route(id);
    const EntityId entity = *world.server.spawn(0, "guard", route.state_at({}, 0.0));
    ASSERT_TRUE(world.server.follow(entity, id));
    const auto distance = [](double t) { return 1.5 * t + 0.6 * std::sin(t); };
    double away = 0.0;
    double error = 0.0;
    world.run(
        20.0,
        [&](double t) {
          EXPECT_TRUE(world.server.move(entity, route.state_at({distance(t), 0.0, 0.0}, 0.0)));
        },
        [&](double t, const ShownEntity& e) {
          if (t < 3.0) return;
          away = std::max(away, route.nearest(e.shown.position).distance_to_point);
          error = std::max(error, glm::length(e.shown.position - route.position(distance(e.shown_time_s))));
        });
    EXPECT_LT(away, 1e-6);
    EXPECT_LT(error, 0.08);
  }
}

// A short version of the documented run with 200 guards.
TEST(Routes, PatrolCostsFewBytesAndIsShownWithinFiveCentimetres) {
  const auto source = scenario::make_builtin("patrol", 24, 1);
  ASSERT_TRUE(source);
  ReplayOptions options;
  options.links = link(80.0, 40.0, 3.0);
  options.links.up.burst = options.links.down.burst = 3.0;
  options.seconds = 60.0;
  // With some seeds, a loss burst silences all guards for a second. In so short a run, that is more than 1 %.
  options.seed = 2;
  const auto result = replay(**source, options);
  ASSERT_TRUE(result);
  ASSERT_TRUE(result->routes);
  const RouteFigures& f = *result->routes;
  EXPECT_GT(f.route_s, 1200.0);
  EXPECT_GT(f.excursion_s, 20.0);
  EXPECT_LE(static_cast<double>(f.traffic.route_bits) / 8.0 / f.route_s, 12.0);
  EXPECT_LE(f.route_now_error_m.p99, 0.05);
  EXPECT_LE(f.route_curve_distance_m.max, 1e-6);
}

}  // namespace
}  // namespace reckoner::harness
