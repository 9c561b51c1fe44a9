// SPDX-License-Identifier: MIT
// Client::shown_poses() shows the same poses and reports the same events as Client::shown().
#include "reckoning/src/motion/rotation.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

struct Case {
  const char* network;
  PlayoutMode mode;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.network << " " << static_cast<int>(c.mode);
}

class ShownBatchTest : public testing::TestWithParam<Case> {
 protected:
  // Bodies that spawn, despawn, jump and follow a route, a correction, and a temporary outage.
  void live(World& world) {
    ClientConfig config;
    config.playout = {.mode = GetParam().mode, .delay_s = 0.3};
    const std::size_t client = world.add_client(config);
    RouteDefinition loop;
    loop.wrap = RouteWrap::closed;
    loop.curve = CatmullRomRoute{{{0, 0, 0}, {20, 0, 0}, {20, 20, 0}, {0, 20, 0}}};
    const auto route = world.server().add_route(loop);
    ASSERT_TRUE(route);
    const Route& track = *world.server().route(*route);

    std::vector<EntityId> ids;
    for (int i = 0; i < 8; ++i) {
      ids.push_back(
          world.add_body(Circle{.radius_m = 2.0 + i, .turn_rps = 0.4 + 0.3 * i, .phase_rad = 1.0 * i}));
    }
    ids.push_back(world.add_body(Swing{}));
    ids.push_back(world.add_body(Still{{1.0, 2.0, 3.0}}));
    ids.push_back(world.add_body(
        [](double t) {
          return Straight{{std::floor(t) * 100.0, 0.0, 0.0}}(t - std::floor(t));
        },
        {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}));
    const EntityId guard = world.add_body([&track](double t) {
      return track.state_at({2.0 * t, 2.0, 0.0}, 0.0);
    });
    EXPECT_TRUE(world.server().follow(guard, *route));
    world.run_to(2.5);
    State pushed;
    pushed.position = {3.0, 3.0, 3.0};
    (void)world.updated(client).correct(ids[0], pushed);
    world.remove_body(ids[3]);
    EXPECT_TRUE(world.server().leave_route(guard));
    world.run_to(3.5);
    world.remove_body(ids[0]);
    ids.push_back(world.add_body(Circle{.radius_m = 9.0}));
    EXPECT_TRUE(world.server().follow(guard, *route));
    world.run_to(7.0);
  }

  static WorldConfig config() { return {.links = network(GetParam().network), .seed = 4}; }
};

TEST_P(ShownBatchTest, PosesAgreeWithFrame) {
  World world(config());
  std::size_t compared = 0;
  world.on_frame = [&](std::size_t client, double time_s, std::span<const ShownEntity> shown) {
    std::map<EntityId, ShownEntity> expected;
    for (const ShownEntity& entity : shown)
      expected.emplace(entity.id, entity);
    const ShownPoses poses = world.client(client).shown_poses();
    ASSERT_EQ(poses.ids.size(), expected.size()) << time_s;
    ASSERT_EQ(poses.positions.size(), expected.size());
    ASSERT_EQ(poses.orientations.size(), expected.size());
    for (std::size_t i = 0; i < poses.ids.size(); ++i) {
      const auto found = expected.find(poses.ids[i]);
      ASSERT_NE(found, expected.end()) << time_s;
      const ShownEntity& entity = found->second;
      const double size_m = 1.0 + glm::length(entity.shown.position);
      ASSERT_LT(glm::distance(poses.positions[i], entity.shown.position), 1e-9 * size_m) << time_s;
      ASSERT_LT(angle_between(poses.orientations[i], entity.shown.orientation), 1e-6) << time_s;
      ASSERT_EQ(poses.shown_time_s, entity.shown_time_s);
      expected.erase(found);
      ++compared;
    }
  };
  live(world);
  EXPECT_GT(compared, 2500u);
}

TEST_P(ShownBatchTest, EventsAgreeWithFrame) {
  const auto events = [this](bool sampled) {
    WorldConfig with = config();
    with.sampled = sampled;
    World world(with);
    live(world);
    std::vector<std::tuple<int, EntityId>> all;
    for (const ClientEvent& event : world.events(0))
      all.emplace_back(static_cast<int>(event.kind), event.entity);
    std::sort(all.begin(), all.end());
    return all;
  };
  const auto framed = events(false);
  EXPECT_GT(framed.size(), 15u);
  EXPECT_EQ(events(true), framed);
}

INSTANTIATE_TEST_SUITE_P(, ShownBatchTest,
                         testing::Values(Case{"lan", PlayoutMode::present},
                                         Case{"mobile", PlayoutMode::present},
                                         Case{"stress", PlayoutMode::present},
                                         Case{"mobile", PlayoutMode::adaptive},
                                         Case{"mobile", PlayoutMode::delayed}));

}  // namespace
}  // namespace reckoner::test
