// SPDX-License-Identifier: MIT
// Archetype::walls: bodies that bounce in a room, over bad links.
#include "tests/support/percentile.hpp"
#include "tests/support/rewind_check.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <glm/common.hpp>
#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test::archetype_walls {
namespace {

constexpr double kHalfLengthM = 20.0;  // of the room, along x
constexpr double kHalfWidthM = 12.0;
constexpr double kRadiusM = 0.5;
constexpr double kFrameS = 1.0 / 60.0;
constexpr int kBodies = 16;

// Reflects a motion at constant speed between -most and most.
std::pair<double, double> reflected(double from, double speed, double t, double most) {
  const double period = 4.0 * most;
  const double phase = std::fmod(std::fmod(from + most + speed * t, period) + period, period);
  return phase < 2.0 * most ? std::pair{phase - most, speed} : std::pair{3.0 * most - phase, -speed};
}

double speed_of(int i) {
  return 14.0 + 0.8 * i;
}

State ball(int i, double t) {
  const double angle = 0.7 + 2.399963 * i;
  const auto [x, vx] = reflected(i - 8.0, speed_of(i) * std::cos(angle), t, kHalfLengthM - kRadiusM);
  const auto [y, vy] = reflected(0.5 * i - 4.0, speed_of(i) * std::sin(angle), t, kHalfWidthM - kRadiusM);
  State s;
  s.position = {x, y, 0.5};
  s.velocity = {static_cast<float>(vx), static_cast<float>(vy), 0.0f};
  return s;
}

std::shared_ptr<const Walls> boxes() {
  constexpr double kThickM = 0.25;  // half
  Walls walls{.margin_m = kRadiusM};
  for (const double side : {-1.0, 1.0}) {
    walls.boxes.push_back({{side * (kHalfLengthM + kThickM), 0.0, 0.0}, {kThickM, 2.0 * kHalfWidthM, 5.0}});
    walls.boxes.push_back({{0.0, side * (kHalfWidthM + kThickM), 0.0}, {2.0 * kHalfLengthM, kThickM, 5.0}});
  }
  return std::make_shared<const Walls>(std::move(walls));
}

std::shared_ptr<const Walls> function() {
  return std::make_shared<const Walls>(Walls{.reach = [](const glm::dvec3&, const glm::dvec3& to) {
    const glm::dvec3 most{kHalfLengthM - kRadiusM, kHalfWidthM - kRadiusM, 1e9};
    return glm::clamp(to, -most, most);
  }});
}

struct Play {
  double beyond_m = 0.0;      // how far a body was shown beyond a wall
  double into_mps = 0.0;      // largest velocity into a wall, of a body that is shown at the wall
  double largest_step = 0.0;  // of what a body moves in a frame, as a multiple of its speed
  double p95_m = 0.0;         // error of the shown position
  std::uint64_t publishes = 0;
};

WorldConfig with_walls(const std::string& link, const std::shared_ptr<const Walls>& walls) {
  WorldConfig config;
  config.links = network(link);
  config.seed =
      2;  // over mobile, an adaptive client shows a body beyond a wall in 1 of 25 runs, as with seed 1
  config.server.archetypes = {{.name = "ball", .has_orientation = false, .walls = walls}};
  return config;
}

// A client that sees all balls.
void begin(World& world, const WorldConfig& config, PlayoutMode mode) {
  ClientConfig client;
  client.archetypes = config.server.archetypes;
  client.playout.mode = mode;
  client.playout.use(BlendProfile::article);  // the limits of steps are those of its blends
  world.add_client(client);
  for (int i = 0; i < kBodies; ++i)
    world.add_body([i](double t) { return ball(i, t); });
}

Play play(const std::string& link, PlayoutMode mode, const std::shared_ptr<const Walls>& walls) {
  const WorldConfig config = with_walls(link, walls);
  World world(config);
  begin(world, config, mode);
  Play out;
  std::vector<double> errors_m;
  std::map<std::size_t, std::pair<double, glm::dvec3>> before;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    if (time_s < 3.0) return;
    for (const ShownEntity& entity : shown) {
      const glm::dvec3& at = entity.shown.position;
      const glm::dvec3 most{kHalfLengthM - kRadiusM, kHalfWidthM - kRadiusM, 1e9};
      for (const glm::length_t axis : {0, 1}) {
        const double beyond = std::abs(at[axis]) - most[axis];
        out.beyond_m = std::max(out.beyond_m, beyond);
        if (beyond > -1e-9)
          out.into_mps =
              std::max<double>(out.into_mps, std::copysign(1.0, at[axis]) * entity.shown.velocity[axis]);
      }
      const auto slot = entity.id.slot();
      const auto i = static_cast<int>(slot);
      errors_m.push_back(glm::distance(at, ball(i, entity.shown_time_s).position));
      const auto last = before.find(slot);
      if (last != before.end() && time_s - last->second.first < 1.5 * kFrameS)
        out.largest_step =
            std::max(out.largest_step, glm::distance(at, last->second.second) / (speed_of(i) * kFrameS));
      before[slot] = {time_s, at};
    }
  };
  world.run_to(23.0);
  out.p95_m = p95(errors_m);
  out.publishes = world.server().stats().publishes;
  return out;
}

TEST(ArchetypeWalls, NothingIsShownBeyondThem) {
  for (const char* link : {"lan", "intercity", "mobile"}) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
      SCOPED_TRACE(std::string(link) + (mode == PlayoutMode::present ? " present" : " adaptive"));
      const Play without = play(link, mode, nullptr);
      for (const auto& walls : {boxes(), function()}) {
        const Play with = play(link, mode, walls);
        EXPECT_LT(with.beyond_m, 0.006) << "rounding of positions";
        EXPECT_LT(with.into_mps, 0.01);
        EXPECT_LE(with.largest_step, without.largest_step + 0.5);
        EXPECT_LE(with.p95_m, without.p95_m + 0.01);
        EXPECT_LE(with.publishes, without.publishes + without.publishes / 20);
      }
      if (mode == PlayoutMode::present && std::string(link) != "lan") {
        EXPECT_GT(without.beyond_m, 0.5) << "nothing to prevent";
      }
    }
  }
}

TEST(ArchetypeWalls, RewindFindsWhatTheClientDrew) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
    for (const auto& walls : {boxes(), function()}) {
      WorldConfig config = with_walls("intercity", walls);
      config.server.rewind_s = 1.0;
      World world(config);
      begin(world, config, mode);
      RewindCheck check(world, 0.4);
      world.run_to(13.0);
      EXPECT_GT(check.errors_m.size(), 5000u);
      EXPECT_GT(check.share_below(0.05), 0.999) << check.worst_m << " at " << check.worst_s;
    }
  }
}

// A shot that the game does not move stops at the wall, at both ends.
TEST(ArchetypeWalls, ShortLivedEntitiesStop) {
  WorldConfig config;
  config.links = network("intercity");
  config.server.archetypes = {{.name = "shot", .has_orientation = false, .walls = boxes()}};
  World world(config);
  ClientConfig client;
  client.archetypes = config.server.archetypes;
  world.add_client(client);
  world.run_to(3.0);
  State state;
  state.velocity = {30.0f, 2.0f, 0.0f};
  const EntityId id = *world.server().spawn_short_lived(0, state, {.end_s = 6.0});
  world.run_to(5.5);
  EXPECT_NEAR(world.server().state(id)->position.x, kHalfLengthM - kRadiusM, 1e-9);
  ASSERT_NE(world.shown(0, id), nullptr);
  EXPECT_NEAR(world.shown(0, id)->shown.position.x, kHalfLengthM - kRadiusM, 0.01);
  EXPECT_NEAR(world.shown(0, id)->shown.position.y, 5.0, 0.2);
}

// A player opens a menu just before a wall, and the game no longer moves the car.
TEST(ArchetypeWalls, CarOfAPausedOwnerStopsBeforeTheWall) {
  WorldConfig config;
  config.links = network("intercity");
  config.server.archetypes = {{.name = "car", .walls = boxes()}};
  World world(config);
  ClientConfig client;
  client.archetypes = config.server.archetypes;
  world.add_client(client);
  world.run_to(1.0);
  world.add_client(client);
  world.run_to(2.0);
  const auto car = [](double t) {
    State s;
    s.position.x = 12.0 * (t - 3.8);
    s.velocity.x = 12.0f;
    return s;
  };
  const EntityId id = *world.server().spawn(0, "car", car(2.0));
  ASSERT_TRUE(world.server().give(id, {1}));
  double furthest_m = 0.0;
  world.on_frame = [&](std::size_t index, double t, std::span<const ShownEntity>) {
    if (const ShownEntity* shown = world.shown(index, id))
      furthest_m = std::max(furthest_m, shown->shown.position.x);
    if (index == 0 && t < 5.3 && world.client(0).owned(id)) (void)world.client(0).move(id, car(t));
  };
  world.run_to(9.0);
  EXPECT_LT(furthest_m, kHalfLengthM - kRadiusM + 0.006);
  EXPECT_GT(furthest_m, kHalfLengthM - kRadiusM - 0.1);
}

TEST(ArchetypeWalls, ClientWithOtherWallsIsRefused) {
  const auto kind = [](const Walls& walls) {
    return Archetype{.walls = std::make_shared<const Walls>(walls)};
  };
  const WallBox box{{1.0, 2.0, 3.0}, {1.0, 1.0, 1.0}};
  WallBox turned = box;
  turned.orientation = {0.0f, 1.0f, 0.0f, 0.0f};
  WallBox larger = box;
  larger.half_size.z = 2.0;
  const std::vector<Archetype> all{Archetype{},
                                   kind({}),
                                   kind({.boxes = {box}}),
                                   kind({.boxes = {turned}}),
                                   kind({.boxes = {larger}}),
                                   kind({.boxes = {box, box}}),
                                   kind({.boxes = {box}, .margin_m = 1.0}),
                                   Archetype{.walls = function()}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      EXPECT_EQ(archetype_hash({&all[i], 1}) == archetype_hash({&all[j], 1}), i == j) << i << ' ' << j;
    }
  }
}

TEST(ArchetypeWalls, InvalidOnesAreRefused) {
  const auto why = [](const Walls& walls) {
    ServerConfig config;
    config.archetypes[0].walls = std::make_shared<const Walls>(walls);
    const auto error = find_invalid_setting(config);
    return error ? error->message : std::string{};
  };
  EXPECT_EQ(why({.boxes = {WallBox{}}}), "");
  EXPECT_EQ(why({.boxes = {{.half_size = {1.0, 0.0, 1.0}}}}),
            "archetypes[0].walls.boxes[0].half_size must be above 0 on each axis, m");
  EXPECT_EQ(why({.boxes = {WallBox{}, {.centre = {std::nan(""), 0.0, 0.0}}}}),
            "archetypes[0].walls.boxes[1].centre is not finite");
  EXPECT_EQ(why({.boxes = {{.orientation = {2.0f, 0.0f, 0.0f, 0.0f}}}}),
            "archetypes[0].walls.boxes[0].orientation is no unit quaternion");
  EXPECT_EQ(why({.margin_m = -1.0}), "archetypes[0].walls.margin_m is -1; it must be 0 or more, m");
  EXPECT_EQ(why({.boxes = std::vector<WallBox>(4097)}),
            "archetypes[0].walls.boxes has 4097 boxes; it must have at most 4096");
  ServerConfig config;
  config.archetypes[0].velocity = static_cast<VelocitySource>(3);
  ASSERT_TRUE(find_invalid_setting(config));
  EXPECT_EQ(find_invalid_setting(config)->message,
            "archetypes[0].velocity is 3; it must be automatic, given or estimated");
}

}  // namespace
}  // namespace reckoner::test::archetype_walls
