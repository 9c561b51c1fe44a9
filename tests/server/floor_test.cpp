// SPDX-License-Identifier: MIT
// Archetype::floor: entities that jump and land, over bad links.
#include "tests/support/percentile.hpp"
#include "tests/support/rewind_check.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kGravity = 9.81;
constexpr double kRunMps = 4.0;
constexpr double kJumpMps = 5.0;

// Runs in a circle and jumps every two seconds. Each jump takes a second and ends on the plane z = 0.
State hopper(double t, double phase) {
  State s;
  const double angle = 0.4 * t + phase;
  const double radius_m = kRunMps / 0.4;
  s.position = {radius_m * std::cos(angle), radius_m * std::sin(angle), 0.0};
  s.velocity = {static_cast<float>(-kRunMps * std::sin(angle)), static_cast<float>(kRunMps * std::cos(angle)),
                0.0f};
  const double in_jump_s = std::fmod(t + phase, 2.0);
  if (in_jump_s < 2.0 * kJumpMps / kGravity) {
    s.position.z = kJumpMps * in_jump_s - 0.5 * kGravity * in_jump_s * in_jump_s;
    s.velocity.z = static_cast<float>(kJumpMps - kGravity * in_jump_s);
    s.acceleration.z = static_cast<float>(-kGravity);
  }
  return s;
}

std::shared_ptr<const Floor> plane() {
  return std::make_shared<const Floor>();
}
std::shared_ptr<const Floor> terrain() {
  return std::make_shared<const Floor>(Floor{.height = [](const glm::dvec3&) { return 0.0; }});
}

struct Landing {
  double deepest_m = 0.0;
  double p95_m = 0.0;  // error of the shown position
  std::uint64_t publishes = 0;
};

Landing play(const std::string& link, PlayoutMode mode, const std::shared_ptr<const Floor>& floor) {
  WorldConfig config;
  config.links = network(link);
  config.server.archetypes = {{.name = "hopper", .has_orientation = false, .floor = floor}};
  World world(config);
  ClientConfig client;
  client.archetypes = config.server.archetypes;
  client.playout.mode = mode;
  world.add_client(client);
  constexpr int kHoppers = 20;
  for (int i = 0; i < kHoppers; ++i)
    world.add_body([i](double t) { return hopper(t, 0.37 * i); });
  Landing out;
  std::vector<double> errors_m;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < 3.0) return;
    for (const ShownEntity& entity : shown) {
      out.deepest_m = std::max(out.deepest_m, -entity.shown.position.z);
      const auto i = static_cast<double>(entity.id.slot());
      errors_m.push_back(
          glm::distance(entity.shown.position, hopper(entity.shown_time_s, 0.37 * i).position));
    }
  };
  world.run_to(23.0);
  out.p95_m = p95(errors_m);
  out.publishes = world.server().stats().publishes;
  return out;
}

TEST(ArchetypeFloor, NothingSinksAndErrorsShrink) {
  for (const char* link : {"lan", "intercity", "mobile"}) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
      SCOPED_TRACE(std::string(link) + (mode == PlayoutMode::present ? " present" : " adaptive"));
      const Landing without = play(link, mode, nullptr);
      for (const auto& floor : {plane(), terrain()}) {
        const Landing with = play(link, mode, floor);
        EXPECT_LT(with.deepest_m, 1e-6);
        EXPECT_LE(with.p95_m, without.p95_m + 0.01);
        EXPECT_LE(with.publishes, without.publishes);
      }
      if (mode == PlayoutMode::present && std::string(link) != "lan") {
        EXPECT_GT(without.deepest_m, 0.2) << "nothing to prevent";
      }
    }
  }
}

TEST(ArchetypeFloor, RewindFindsWhatTheClientDrew) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
    WorldConfig config;
    config.links = network("intercity");
    config.server.rewind_s = 1.0;
    config.server.archetypes = {{.name = "hopper", .floor = plane()}};
    World world(config);
    ClientConfig client;
    client.archetypes = config.server.archetypes;
    client.playout.mode = mode;
    world.add_client(client);
    for (int i = 0; i < 10; ++i)
      world.add_body([i](double t) { return hopper(t, 0.37 * i); });
    RewindCheck check(world, 0.4);
    world.run_to(23.0);
    EXPECT_GT(check.errors_m.size(), 5000u);
    EXPECT_GT(check.share_below(0.05), 0.999) << check.worst_m << " at " << check.worst_s;
  }
}

// A player opens a menu in the middle of a jump, and the game no longer moves the avatar.
TEST(ArchetypeFloor, AvatarOfAPausedOwnerRestsOnTheFloor) {
  WorldConfig config;
  config.links = network("intercity");
  config.server.archetypes = {{.name = "hopper", .floor = plane()}};
  World world(config);
  ClientConfig client;
  client.archetypes = config.server.archetypes;
  world.add_client(client);
  world.run_to(1.0);
  world.add_client(client);
  world.run_to(2.0);
  const EntityId avatar = *world.server().spawn(0, "avatar", hopper(2.0, 0.0));
  ASSERT_TRUE(world.server().give(avatar, {1}));
  double lowest_m = 1.0;
  world.on_frame = [&](std::size_t index, double t, std::span<const ShownEntity>) {
    if (const ShownEntity* shown = world.shown(index, avatar))
      lowest_m = std::min(lowest_m, shown->shown.position.z);
    if (index != 0 || !world.client(0).owned(avatar)) return;
    if (t < 4.9) {
      (void)world.client(0).move(avatar, hopper(t, 0.0));
    } else {
      lowest_m = std::min(lowest_m, world.client(0).owned(avatar)->position.z);
    }
  };
  world.run_to(10.0);
  EXPECT_EQ(world.server().ownership_stats().corrected, 0u);
  EXPECT_GT(lowest_m, -1e-6);
  EXPECT_NEAR(world.server().state(avatar)->position.z, 0.0, 1e-3);
}

// A grenade that the game does not move comes to rest on the ground, at both ends.
TEST(ArchetypeFloor, ShortLivedEntitiesLand) {
  WorldConfig config;
  config.links = network("intercity");
  config.server.archetypes = {{.name = "grenade", .has_orientation = false, .floor = plane()}};
  World world(config);
  ClientConfig client;
  client.archetypes = config.server.archetypes;
  world.add_client(client);
  world.run_to(3.0);
  State state;
  state.position = {0.0, 0.0, 1.5};
  state.velocity = {10.0f, 0.0f, 4.0f};
  state.acceleration = {0.0f, 0.0f, -9.81f};
  const EntityId id = *world.server().spawn_short_lived(0, state, {.end_s = 6.0});
  world.run_to(5.5);
  EXPECT_NEAR(world.server().state(id)->position.z, 0.0, 1e-9);
  ASSERT_NE(world.shown(0, id), nullptr);
  EXPECT_NEAR(world.shown(0, id)->shown.position.z, 0.0, 0.05);
  EXPECT_NEAR(world.shown(0, id)->shown.position.x, 25.0, 0.5);
}

TEST(ArchetypeFloor, ClientWithAnotherFloorIsRefused) {
  const Archetype with{.floor = plane()};
  const Archetype higher{.floor = std::make_shared<const Floor>(Floor{.height_m = 1.0})};
  const Archetype uneven{.floor = terrain()};
  const Archetype tilted{.floor = std::make_shared<const Floor>(Floor{.up = {0.0, 1.0, 0.0}})};
  const std::vector<Archetype> all{Archetype{}, with, higher, uneven, tilted};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      EXPECT_EQ(archetype_hash({&all[i], 1}) == archetype_hash({&all[j], 1}), i == j) << i << ' ' << j;
    }
  }
}

TEST(ArchetypeFloor, MustBeAPlane) {
  ServerConfig config;
  config.archetypes[0].floor = std::make_shared<const Floor>(Floor{.up = {0.0, 0.0, 2.0}});
  ASSERT_TRUE(find_invalid_setting(config));
  EXPECT_EQ(find_invalid_setting(config)->message,
            "archetypes[0].floor.up has the length 2.000000; it must be 1");
  config.archetypes[0].floor = std::make_shared<const Floor>(Floor{.height_m = std::nan("")});
  ASSERT_TRUE(find_invalid_setting(config));
  EXPECT_EQ(find_invalid_setting(config)->message, "archetypes[0].floor.height_m is not finite");
  config.archetypes[0].floor = plane();
  EXPECT_FALSE(find_invalid_setting(config));
}

}  // namespace
}  // namespace reckoner::test
