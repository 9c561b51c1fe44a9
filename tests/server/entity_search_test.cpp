// SPDX-License-Identifier: MIT
// What a game can ask the server about its entities: all of them, those near a point, and a number of its
// own.
#include "harness/sim/sim_transport.hpp"
#include "server/src/test_switches.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/server/server.hpp>

namespace reckoner::test {
namespace {

constexpr double kHalfWorldM = 300.0;

// Some entities rest, some walk, some teleport, and some ride on a platform. After every tick, the results
// must equal those of a plain loop over all entities.
class EntitySearch : public testing::TestWithParam<double> {
 protected:
  EntitySearch() : network_({}), server_(make_test_server(config(), network_.server())) {}

  static ServerConfig config() {
    ServerConfig config;
    config.interest.radius_m = GetParam();
    return config;
  }
  glm::dvec3 any_place() {
    std::uniform_real_distribution<double> place(-kHalfWorldM, kHalfWorldM);
    return {place(random_), place(random_), place(random_)};
  }
  void spawn(std::size_t count, EntityId frame = {}) {
    for (std::size_t i = 0; i < count; ++i) {
      const EntityId id = *server_.spawn(0, "", {.position = any_place()}, frame);
      ASSERT_TRUE(id);
      ids_.push_back(id);
    }
  }
  [[nodiscard]] std::vector<EntityId> by_plain_loop(const glm::dvec3& centre, double radius_m) const {
    std::vector<EntityId> near;
    for (const EntityId id : ids_) {
      const auto state = server_.in_world(id);
      if (state && glm::distance(state->position, centre) <= radius_m) near.push_back(id);
    }
    std::sort(near.begin(), near.end());
    return near;
  }
  void expect_equal_to_plain_loop() {
    for (const double radius_m : {0.0, 5.0, 80.0, 1e4}) {
      const glm::dvec3 centre = radius_m == 0.0 ? server_.in_world(ids_[0])->position : any_place();
      const auto found = server_.entities_near(centre, radius_m);
      EXPECT_EQ(std::vector<EntityId>(found.begin(), found.end()), by_plain_loop(centre, radius_m))
          << radius_m;
    }
  }

  std::mt19937 random_{7};
  harness::SimNetwork network_;
  Server server_;
  std::vector<EntityId> ids_;
};

TEST_P(EntitySearch, FindsTheEntitiesNearAPointExactly) {
  spawn(300);
  const EntityId platform = ids_[0];
  spawn(20, platform);
  std::uniform_int_distribution<std::size_t> any(0, ids_.size() - 1);
  for (int tick = 0; tick < 300; ++tick) {
    // The first hundred always move, the others only sometimes, so that most of them fall asleep.
    for (std::size_t i = 0; i < 100; ++i) {
      State state = *server_.state(ids_[i]);
      state.velocity = {20.0f, 5.0f, 0.0f};
      state.position += glm::dvec3(state.velocity) / 60.0;
      EXPECT_TRUE(server_.move(ids_[i], state));
    }
    if (tick % 20 == 0) {
      EXPECT_TRUE(server_.teleport(ids_[any(random_)], {.position = any_place()}));
    }
    if (tick % 50 == 10) (void)server_.enter_frame(ids_[100 + any(random_) % 200], platform);
    if (tick % 50 == 30) {
      EXPECT_TRUE(server_.set_origin(any_place()));
    }
    if (tick % 7 == 0) expect_equal_to_plain_loop();  // before the tick, with positions that it has not seen
    server_.tick(server_.tick_time_s(server_.next_tick()));
    if (tick % 7 == 0) expect_equal_to_plain_loop();
  }
  EXPECT_TRUE(server_.entities_near({}, -1.0).empty());
  EXPECT_TRUE(server_.entities_near({}, std::nan("")).empty());
}

// With an interest radius, the server has an index; without one, it examines all entities.
INSTANTIATE_TEST_SUITE_P(WithAndWithoutAnIndex, EntitySearch, testing::Values(0.0, 60.0));

TEST(Entities, AreListedInOrderOfSlot) {
  harness::SimNetwork network{{}};
  Server server = make_test_server({}, network.server());
  EXPECT_TRUE(server.entities().empty());
  std::vector<EntityId> ids;
  for (int i = 0; i < 5; ++i)
    ids.push_back(*server.spawn(0, "", {}));
  EXPECT_TRUE(std::ranges::equal(server.entities(), ids));
  EXPECT_TRUE(server.despawn(ids[2]));
  ids.erase(ids.begin() + 2);
  EXPECT_TRUE(std::ranges::equal(server.entities(), ids));
}

TEST(Entities, KeepANumberForTheGame) {
  harness::SimNetwork network{{}};
  Server server = make_test_server({.tick_rate_hz = 1.0}, network.server());
  const EntityId id = *server.spawn(0, "", {});
  EXPECT_EQ(server.user_value(id), 0u);
  EXPECT_TRUE(server.set_user_value(id, ~std::uint64_t{0}));
  EXPECT_EQ(server.user_value(id), ~std::uint64_t{0});
  EXPECT_TRUE(server.despawn(id));
  EXPECT_EQ(server.user_value(id), std::nullopt);
  EXPECT_FALSE(server.set_user_value(id, 1));
  for (int i = 0; i < 100; ++i) {  // the slot's next entity starts with 0
    const EntityId next = *server.spawn(0, "", {});
    EXPECT_EQ(server.user_value(next), 0u);
    EXPECT_TRUE(server.despawn(next));
    server.tick(server.tick_time_s(server.next_tick()));
  }
}

TEST(Entities, IdsConvertToNumbersAndBack) {
  for (const EntityId id : {EntityId{}, EntityId{1, 0}, EntityId{kMaxEntities, 65'535}})
    EXPECT_EQ(entity_id_of(to_number(id)), id);
  EXPECT_EQ(to_number({}), 0u);
  EXPECT_FALSE(entity_id_of(std::uint64_t{1} << 48)) << "no id has this number";
  EXPECT_FALSE(entity_id_of(std::uint64_t{1} << 32)) << "a generation without a slot";
}

}  // namespace
}  // namespace reckoner::test
