// SPDX-License-Identifier: MIT
// The server's interest management, as clients see it.
#include "interest_world.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

// Longest delay of a change: an interest update every 0.1 s, the grid's age, a round trip and a frame.
constexpr double kInterestDelayS = 0.4;

/// Oscillates between two distances from the origin, on the x axis.
Truth between(double least_m, double most_m, double rate_rps) {
  return [=](double t) {
    State s = Swing{.width_m = 0.5 * (most_m - least_m), .rate_rps = rate_rps}(t);
    s.position.x += 0.5 * (least_m + most_m);
    return s;
  };
}

TEST(Interest, EntitiesAppearAndDisappearWithTheirDistance) {
  World world(near_world());
  const ClientId client = join(world);
  ASSERT_TRUE(world.server().set_view(client, {}));
  const double start_s = world.now_s();
  const Straight path{.start = {200.0 + 10.0 * start_s, 0.0, 0.0}, .velocity = {-10.0f, 0.0f, 0.0f}};
  const EntityId id = world.add_body(path);
  double came_m = 0.0, went_m = 0.0;
  bool seen = false;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    const double x = path(time_s).position.x;
    if (!seen && !shown.empty()) came_m = x;
    if (seen && shown.empty()) went_m = x;
    seen = !shown.empty();
    // An entity that appears is shown at its current position, not at an old one.
    for (const ShownEntity& e : shown)
      EXPECT_LT(std::abs(e.shown.position.x - x), 0.1);
  };
  world.run_to(start_s + 40.0);
  EXPECT_LE(came_m, kRadiusM);
  EXPECT_GT(came_m, kRadiusM - 10.0 * kInterestDelayS);
  EXPECT_LE(went_m, -1.15 * kRadiusM);
  EXPECT_GT(went_m, -1.15 * kRadiusM - 10.0 * kInterestDelayS);
  EXPECT_EQ(world.count(0, ClientEvent::Kind::spawned), 1u);
  EXPECT_EQ(world.count(0, ClientEvent::Kind::despawned), 1u);
  EXPECT_FALSE(sees(world, 0, id));
}

TEST(Interest, RelevantEntitiesFollowTheView) {
  World world(near_world());
  const EntityId here = world.add_body(Still{{0.0, 0.0, 0.0}});
  const EntityId there = world.add_body(Still{{1000.0, 0.0, 50.0}});
  const ClientId client = join(world);
  world.run_to(world.now_s() + 1.0);
  EXPECT_TRUE(world.shown(0).empty());  // no view is set, so nothing is near
  EXPECT_TRUE(world.server().set_view(client, {50.0, 0.0, 0.0}));
  world.run_to(world.now_s() + kInterestDelayS);
  EXPECT_TRUE(sees(world, 0, here));
  EXPECT_FALSE(sees(world, 0, there));
  EXPECT_TRUE(world.server().set_view(client, {1000.0, 0.0, -40.0}));
  world.run_to(world.now_s() + kInterestDelayS);
  EXPECT_FALSE(sees(world, 0, here));
  EXPECT_TRUE(sees(world, 0, there));
  EXPECT_TRUE(world.server().set_view(client, {1000.0, 0.0, -70.0}));  // height counts: 120 m, beyond 115
  world.run_to(world.now_s() + kInterestDelayS);
  EXPECT_TRUE(world.shown(0).empty());
  EXPECT_TRUE(world.server().set_view(client, {1000.0, 0.0, -40.0}));  // moves back once more
  world.run_to(world.now_s() + kInterestDelayS);
  ASSERT_TRUE(sees(world, 0, there));
  EXPECT_LT(glm::distance(world.shown(0, there)->shown.position, glm::dvec3(1000.0, 0.0, 50.0)), 0.01);
  EXPECT_FALSE(world.server().set_view(client, {std::nan(""), 0.0, 0.0}));
  EXPECT_FALSE(world.server().set_view(ClientId{999}, {}));
}

TEST(Interest, EntitiesDoNotFlickerAtTheRadius) {
  World world(near_world());
  const ClientId client = join(world);
  ASSERT_TRUE(world.server().set_view(client, {}));
  const EntityId id = world.add_body(between(92.0, 112.0, 2.0));
  const EntityId outside = world.add_body(between(102.0, 114.0, 2.0));
  world.run_to(world.now_s() + 2.0 * kInterestDelayS + 3.2);
  EXPECT_TRUE(sees(world, 0, id));
  world.run_to(world.now_s() + 30.0);
  EXPECT_TRUE(sees(world, 0, id));
  EXPECT_FALSE(sees(world, 0, outside));  // it was never within the radius itself
  EXPECT_EQ(world.count(0, ClientEvent::Kind::spawned), 1u);
  EXPECT_EQ(world.count(0, ClientEvent::Kind::despawned), 0u);
}

TEST(Interest, EntitiesCanBeAlwaysOrNeverRelevant) {
  World world(near_world());
  const EntityId flag = world.add_body(Still{{5000.0, 0.0, 0.0}});
  const EntityId hidden = world.add_body(Still{{1.0, 0.0, 0.0}});
  ASSERT_TRUE(world.server().set_relevance(flag, Relevance::always));
  ASSERT_TRUE(world.server().set_relevance(hidden, Relevance::never));
  const ClientId client = join(world);
  world.run_to(world.now_s() + kInterestDelayS);
  EXPECT_TRUE(sees(world, 0, flag));  // even without a view
  ASSERT_TRUE(world.server().set_view(client, {}));
  world.run_to(world.now_s() + kInterestDelayS);
  EXPECT_TRUE(sees(world, 0, flag));
  EXPECT_FALSE(sees(world, 0, hidden));
  ASSERT_TRUE(world.server().set_relevance(flag, Relevance::by_distance));
  ASSERT_TRUE(world.server().set_relevance(hidden, Relevance::by_distance));
  world.run_to(world.now_s() + kInterestDelayS);
  EXPECT_FALSE(sees(world, 0, flag));
  EXPECT_TRUE(sees(world, 0, hidden));
  EXPECT_FALSE(world.server().set_relevance(EntityId{77, 1}, Relevance::always));
}

TEST(Interest, RelevanceCanBeSetForOneClient) {
  World world(near_world());
  const EntityId far = world.add_body(Still{{5000.0, 0.0, 0.0}});
  const EntityId close = world.add_body(Still{{1.0, 0.0, 0.0}});
  const ClientId a = join(world);
  const ClientId b = join(world);
  ASSERT_TRUE(world.server().set_view(a, {}) && world.server().set_view(b, {}));
  ASSERT_TRUE(world.server().set_relevance(a, far, Relevance::always));
  ASSERT_TRUE(world.server().set_relevance(a, close, Relevance::never));
  world.run_to(world.now_s() + kInterestDelayS);
  EXPECT_TRUE(sees(world, 0, far));
  EXPECT_FALSE(sees(world, 0, close));
  EXPECT_FALSE(sees(world, 1, far));
  EXPECT_TRUE(sees(world, 1, close));
  // Setting the relevance for all clients does not change the setting for one client. Only another setting
  // for that client does.
  ASSERT_TRUE(world.server().set_relevance(close, Relevance::always));
  world.run_to(world.now_s() + kInterestDelayS);
  EXPECT_FALSE(sees(world, 0, close));
  ASSERT_TRUE(world.server().set_relevance(a, far, Relevance::by_distance));
  ASSERT_TRUE(world.server().set_relevance(a, close, Relevance::by_distance));
  world.run_to(world.now_s() + kInterestDelayS);
  EXPECT_FALSE(sees(world, 0, far));
  EXPECT_TRUE(sees(world, 0, close));
}

TEST(Interest, GroupsFilterAtAnyDistance) {
  World world(near_world());
  const EntityId red = world.add_body(Still{{1.0, 0.0, 0.0}});
  const EntityId blue = world.add_body(Still{{2.0, 0.0, 0.0}});
  const EntityId blue_flag = world.add_body(Still{{900.0, 0.0, 0.0}});
  ASSERT_TRUE(world.server().set_groups(red, 1u));
  ASSERT_TRUE(world.server().set_groups(blue, 2u));
  ASSERT_TRUE(world.server().set_groups(blue_flag, 2u));
  ASSERT_TRUE(world.server().set_relevance(blue_flag, Relevance::always));
  const ClientId client = join(world);
  ASSERT_TRUE(world.server().set_view(client, {}));
  ASSERT_TRUE(world.server().set_groups(client, 1u));
  world.run_to(world.now_s() + kInterestDelayS);
  EXPECT_TRUE(sees(world, 0, red));
  EXPECT_FALSE(sees(world, 0, blue));
  EXPECT_FALSE(sees(world, 0, blue_flag));
  ASSERT_TRUE(world.server().set_groups(client, 2u));
  world.run_to(world.now_s() + kInterestDelayS);
  EXPECT_FALSE(sees(world, 0, red));
  EXPECT_TRUE(sees(world, 0, blue));
  EXPECT_TRUE(sees(world, 0, blue_flag));
  ASSERT_TRUE(world.server().set_groups(red, 3u));
  ASSERT_TRUE(world.server().set_groups(blue, 4u));
  world.run_to(world.now_s() + kInterestDelayS);
  EXPECT_TRUE(sees(world, 0, red));
  EXPECT_FALSE(sees(world, 0, blue));
  ASSERT_TRUE(world.server().set_groups(client, 0u));
  world.run_to(world.now_s() + kInterestDelayS);
  EXPECT_TRUE(world.shown(0).empty());
}

TEST(Interest, EntitySpawnedNearbyAppearsAtOnce) {
  World world(near_world());
  const ClientId client = join(world);
  ASSERT_TRUE(world.server().set_view(client, {}));
  world.run_to(world.now_s() + 1.0);
  const double start_s = world.now_s();
  const EntityId id = world.add_body(Still{{10.0, 0.0, 0.0}});
  const EntityId far = world.add_body(Still{{400.0, 0.0, 0.0}});
  double seen_s = 0.0;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    if (seen_s == 0.0 && !shown.empty()) seen_s = time_s;
  };
  world.run_to(start_s + 1.0);
  EXPECT_GT(seen_s, start_s);
  EXPECT_LT(seen_s, start_s + 0.06);  // a tick, the one-way delay, a frame
  EXPECT_FALSE(sees(world, 0, far));
  world.remove_body(id);
  world.run_to(start_s + 1.1);
  EXPECT_TRUE(world.shown(0).empty());
}

TEST(Interest, HiddenEntitiesCostNoBytes) {
  World world(near_world());
  const ClientId client = join(world);
  ASSERT_TRUE(world.server().set_view(client, {}));
  for (int i = 0; i < 50; ++i)
    world.add_body(Circle{.turn_rps = 2.0, .centre = {1000.0 + 20.0 * i, 0.0, 0.0}});
  world.run_to(world.now_s() + 2.0);
  const ServerStats before = world.server().stats();
  world.run_to(world.now_s() + 10.0);
  const ServerStats& after = world.server().stats();
  EXPECT_EQ(after.updates_sent, before.updates_sent);
  // Heartbeats only.
  EXPECT_LT(after.datagrams_sent - before.datagrams_sent, 10.0 / 0.25 + 2.0);
}

// Checks the shown error at three distances against each level's threshold, and the number of updates that a
// larger threshold saves.
TEST(Interest, DistantEntitiesUseALargerThreshold) {
  WorldConfig config = near_world();
  config.server.interest.radius_m = 1000.0;
  config.server.interest.level_distance_m = {100.0, 400.0};
  World world(config);
  const ClientId client = join(world);
  ASSERT_TRUE(world.server().set_view(client, {}));
  const double distances_m[] = {50.0, 250.0, 800.0};
  std::vector<Circle> paths;
  std::vector<EntityId> ids;
  for (const double d : distances_m) {
    paths.push_back(Circle{.turn_rps = 1.5, .centre = {d, 0.0, 0.0}});
    ids.push_back(world.add_body(paths.back()));
  }
  world.run_to(world.now_s() + 2.0);
  std::array<double, 3> squares{}, ages{};
  double frames = 0.0;
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity> shown) {
    frames += 1.0;
    for (const ShownEntity& e : shown) {
      const auto i = static_cast<std::size_t>(std::ranges::find(ids, e.id) - ids.begin());
      const double error_m = glm::distance(e.shown.position, paths[i](e.shown_time_s).position);
      squares[i] += error_m * error_m;
      ages[i] += e.age_s;
      EXPECT_LT(error_m, 2.0 * 0.05 * std::pow(4.0, i)) << i;
    }
  };
  world.run_to(world.now_s() + 20.0);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_LT(std::sqrt(squares[i] / frames), 0.05 * std::pow(4.0, i)) << i;
  }
  // A motion holds longer if its threshold is four times as large.
  EXPECT_GT(ages[1], 1.3 * ages[0]);
  EXPECT_GT(ages[2], 1.3 * ages[1]);
}

TEST(Interest, ChangeOfLevelCausesNoJump) {
  WorldConfig config = near_world();
  config.server.interest.radius_m = 1000.0;
  config.server.interest.level_distance_m = {100.0, 200.0};
  World world(config);
  const ClientId client = join(world);
  ASSERT_TRUE(world.server().set_view(client, {}));
  // 400 m out and back in 31 s: through all levels, in both directions.
  const Truth path = between(20.0, 400.0, 0.2);
  const EntityId id = world.add_body(path);
  world.run_to(world.now_s() + 1.0);
  glm::dvec3 last{};
  bool has_last = false;
  double worst_step_m = 0.0, worst_near_m = 0.0;
  double near_since_s = world.now_s();
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity>) {
    const ShownEntity* e = world.shown(0, id);
    ASSERT_NE(e, nullptr);
    const State truth = path(e->shown_time_s);
    const glm::dvec3 off = e->shown.position - truth.position;
    if (has_last) worst_step_m = std::max(worst_step_m, glm::distance(off, last));
    last = off;
    has_last = true;
    if (truth.position.x > 100.0) near_since_s = time_s;
    if (time_s > near_since_s + 0.5) worst_near_m = std::max(worst_near_m, glm::length(off));
  };
  world.run_to(world.now_s() + 65.0);
  // The step between two pictures, beyond the body's own movement. The error of the coarsest level is blended
  // away without a jump.
  EXPECT_LT(worst_step_m, 0.3 * 16.0 * 0.05);
  EXPECT_LT(worst_near_m, 0.1);  // soon after it comes near, it is as exact as an entity that was always near
  EXPECT_EQ(world.count(0, ClientEvent::Kind::spawned), 1u);
}

}  // namespace
}  // namespace reckoner::test
