// SPDX-License-Identifier: MIT
// Games that give velocities that cannot be right: a velocity without motion, or motion without a velocity.
#include "tests/support/paths.hpp"
#include "tests/support/percentile.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test::velocity {
namespace {

constexpr PlayoutMode kModes[] = {PlayoutMode::present, PlayoutMode::adaptive};

std::string name_of(PlayoutMode mode) {
  return mode == PlayoutMode::present ? "present" : "adaptive";
}

State moving(const glm::dvec3& position, const glm::vec3& velocity) {
  State s;
  s.position = position;
  s.velocity = velocity;
  return s;
}

std::size_t add_client(World& world, PlayoutMode mode) {
  ClientConfig client;
  client.playout.mode = mode;
  return world.add_client(client);
}

// Publishes of the following `seconds`.
std::uint64_t publishes_in(World& world, double seconds) {
  const std::uint64_t before = world.server().stats().publishes;
  world.run_to(world.now_s() + seconds);
  return world.server().stats().publishes - before;
}

double drawn_off_m(World& world, EntityId id) {
  const ShownEntity* shown = world.shown(0, id);
  return shown != nullptr ? glm::distance(shown->shown.position, world.server().in_world(id)->position) : 1e9;
}

struct Ship {
  State operator()(double t) const {
    return moving({10.0 * t, 3.0 * std::sin(t), 0.0}, {10.0f, static_cast<float>(3.0 * std::cos(t)), 0.0f});
  }
};

// A crate stands on a ship that despawns. Nobody moves the crate.
TEST(Velocity, CrateWhoseShipDespawnsRests) {
  for (const PlayoutMode mode : kModes) {
    SCOPED_TRACE(name_of(mode));
    World world({.links = network("intercity")});
    add_client(world, mode);
    const EntityId ship = world.add_body(Ship{});
    world.run_to(1.0);
    const EntityId crate = *world.server().spawn(0, "crate", moving({2.0, 1.0, 0.0}, glm::vec3{0.0f}), ship);
    const EntityId box = *world.server().spawn(0, "box", moving({0.0, 0.0, 1.0}, glm::vec3{0.0f}), crate);
    world.run_to(5.0);
    world.remove_body(ship);
    double furthest_m = 0.0;
    world.on_frame = [&](std::size_t, double, std::span<const ShownEntity>) {
      furthest_m = std::max(furthest_m, drawn_off_m(world, crate));
    };
    EXPECT_LE(publishes_in(world, 1.5), 10u);
    EXPECT_EQ(publishes_in(world, 10.0), 0u);
    EXPECT_EQ(world.server().state(crate)->velocity, glm::vec3{0.0f});
    EXPECT_LT(drawn_off_m(world, crate), 0.01);
    EXPECT_LT(drawn_off_m(world, box), 0.01);
    EXPECT_LT(furthest_m, 4.0);
  }
}

// The game keeps moving what was on the ship: it gets the velocity of the ship.
TEST(Velocity, ReleasedEntityThatTheGameMovesKeepsItsVelocity) {
  World world({.links = network("intercity")});
  add_client(world, PlayoutMode::present);
  const EntityId ship = world.add_body(Ship{});
  world.run_to(1.0);
  const EntityId walker = *world.server().spawn(0, "walker", State{}, ship);
  bool on_ship = true;
  glm::dvec3 left_at{0.0};
  double left_s = 0.0;
  const auto path = [&](double t) {
    if (on_ship) return moving({std::sin(t), 0.0, 0.0}, {static_cast<float>(std::cos(t)), 0.0f, 0.0f});
    return moving(left_at + glm::dvec3{9.0, 0.0, 0.0} * (t - left_s), {9.0f, 0.0f, 0.0f});
  };
  world.before_tick = [&](double t) {
    if (t > 1.1) {
      EXPECT_TRUE(world.server().move(walker, path(t)));
    }
  };
  world.run_to(4.0);
  world.remove_body(ship);
  left_at = world.server().in_world(walker)->position;
  left_s = world.now_s();
  EXPECT_NEAR(world.server().in_world(walker)->velocity.x, 10.0 + std::cos(left_s), 0.1);
  on_ship = false;
  EXPECT_LE(publishes_in(world, 4.0), 8u);
  EXPECT_NEAR(world.server().in_world(walker)->velocity.x, 9.0, 1e-6);
}

// A spawn with a velocity, a last move() with a velocity, a teleport with a velocity, an entity that leaves
// its frame, a constant acceleration, a spin: if the game does not move the entity, it rests.
TEST(Velocity, EntityThatTheGameDoesNotMoveRests) {
  struct Case {
    const char* name;
    std::function<EntityId(Server&, EntityId ship)> begin;
  };
  const State fast = moving({5.0, 5.0, 0.0}, {12.0f, -6.0f, 1.0f});
  State falling = moving({5.0, -5.0, 0.0}, glm::vec3{0.0f});
  falling.acceleration.z = -9.81f;
  State spinning;
  spinning.angular_velocity.z = 3.0f;
  const std::vector<Case> cases{
      {"spawn", [&](Server& s, EntityId) { return *s.spawn(0, "e", fast); }},
      {"acceleration", [&](Server& s, EntityId) { return *s.spawn(0, "e", falling); }},
      {"spin", [&](Server& s, EntityId) { return *s.spawn(0, "e", spinning); }},
      {"last move",
       [&](Server& s, EntityId) {
         const EntityId id = *s.spawn(0, "e", State{});
         EXPECT_TRUE(s.move(id, fast));
         return id;
       }},
      {"teleport",
       [&](Server& s, EntityId) {
         const EntityId id = *s.spawn(0, "e", State{});
         EXPECT_TRUE(s.teleport(id, fast));
         return id;
       }},
      {"in a frame", [&](Server& s, EntityId ship) { return *s.spawn(0, "e", fast, ship); }},
      {"left frame", [&](Server& s, EntityId ship) {
         const EntityId id = *s.spawn(0, "e", State{}, ship);
         EXPECT_TRUE(s.enter_frame(id, {}));
         return id;
       }}};
  for (const PlayoutMode mode : kModes) {
    for (const VelocitySource source :
         {VelocitySource::automatic, VelocitySource::given, VelocitySource::estimated}) {
      for (const Case& one : cases) {
        SCOPED_TRACE(name_of(mode) + ' ' + one.name + ' ' + std::to_string(static_cast<int>(source)));
        WorldConfig config{.links = network("intercity")};
        config.server.archetypes[0].velocity = source;
        World world(config);
        add_client(world, mode);
        const EntityId ship = world.add_body([](double t) {
          return moving({10.0 * t, 0.0, 0.0}, {10.0f, 0.0f, 0.0f});
        });
        world.run_to(2.0);
        const EntityId id = one.begin(world.server(), ship);
        EXPECT_LE(publishes_in(world, 1.5), 16u);
        EXPECT_LE(publishes_in(world, 10.0), 5u);  // of the ship
        EXPECT_EQ(world.server().state(id)->velocity, glm::vec3{0.0f});
        const ShownEntity* shown = world.shown(0, id);
        ASSERT_NE(shown, nullptr);
        EXPECT_LT(glm::distance(shown->local.position, world.server().state(id)->position), 0.02);
      }
    }
  }
}

// The game calls move() in every tick, with a velocity, for an entity that a wall stops.
TEST(Velocity, PushingAgainstAWallIsNoMotion) {
  World world({.links = network("intercity")});
  add_client(world, PlayoutMode::present);
  world.add_body([](double t) { return moving({std::min(10.0 * t, 30.0), 0.0, 0.0}, {10.0f, 0.0f, 0.0f}); });
  world.run_to(4.0);
  EXPECT_EQ(publishes_in(world, 10.0), 0u);
  EXPECT_LT(drawn_off_m(world, world.body(0)), 0.01);
}

constexpr std::uint64_t kSeeds = 4;  // a burst of losses is a large part of one run

struct Figures {
  double publishes_per_s = 0.0;  // per body
  double p95_m = 0.0;
  double p95_rad = 0.0;
  std::vector<std::string> logs;
};

// Twelve bodies drive on roads of straight lines and curves. `give`: what the game gives of a state.
Figures drive(const std::string& link, PlayoutMode mode, VelocitySource source,
              const std::function<State(State)>& give) {
  constexpr int kBodies = 12;
  Figures out;
  std::vector<double> errors_m, errors_rad;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    WorldConfig config{.links = network(link), .seed = seed};
    config.server.archetypes[0].velocity = source;
    config.server.log = [&](const LogRecord& record) {
      const bool is_of_velocity = record.event.find("velocity") != std::string_view::npos;
      if (seed == 1 && is_of_velocity) out.logs.push_back(text_of(record));
    };
    World world(config);
    add_client(world, mode);
    const auto truth = [](int i, double t) {
      const double radius_m = 8.0 + 2.0 * i;
      const double speed_mps = 8.0;
      const double angle = speed_mps / radius_m * t + i;
      State s;
      s.position = {radius_m * std::cos(angle), radius_m * std::sin(angle), 0.0};
      s.velocity = {static_cast<float>(-speed_mps * std::sin(angle)),
                    static_cast<float>(speed_mps * std::cos(angle)), 0.0f};
      s.orientation = {static_cast<float>(std::cos(0.5 * angle)), 0.0f, 0.0f,
                       static_cast<float>(std::sin(0.5 * angle))};
      s.angular_velocity.z = static_cast<float>(speed_mps / radius_m);
      return s;
    };
    for (int i = 0; i < kBodies; ++i)
      world.add_body([&, i](double t) { return give(truth(i, t)); });
    world.on_frame = [&](std::size_t, double t, std::span<const ShownEntity> shown) {
      if (t < 5.0) return;
      for (const ShownEntity& entity : shown) {
        const State there = truth(static_cast<int>(entity.id.slot()), entity.shown_time_s);
        errors_m.push_back(glm::distance(entity.shown.position, there.position));
        const float cosine = std::abs(glm::dot(entity.shown.orientation, there.orientation));
        errors_rad.push_back(2.0 * std::acos(std::min(1.0f, cosine)));
      }
    };
    world.run_to(5.0);
    out.publishes_per_s += static_cast<double>(publishes_in(world, 15.0)) / 15.0 / kBodies / kSeeds;
  }
  out.p95_m = p95(errors_m);
  out.p95_rad = p95(errors_rad);
  return out;
}

State positions_only(State s) {
  s.velocity = s.acceleration = s.angular_velocity = glm::vec3{0.0f};
  return s;
}
State as_it_is(State s) {
  return s;
}

TEST(Velocity, PositionsAloneAreAsGoodAsVelocities) {
  for (const char* link : {"lan", "intercity", "mobile"}) {
    for (const PlayoutMode mode : kModes) {
      SCOPED_TRACE(std::string(link) + ' ' + name_of(mode));
      const Figures given = drive(link, mode, VelocitySource::automatic, as_it_is);
      for (const VelocitySource source : {VelocitySource::automatic, VelocitySource::estimated}) {
        const Figures estimated = drive(link, mode, source, positions_only);
        RecordProperty("publishes", std::to_string(estimated.publishes_per_s));
        EXPECT_LT(estimated.publishes_per_s, 1.5 * given.publishes_per_s + 0.5);
        EXPECT_LT(estimated.p95_m, 1.5 * given.p95_m + 0.01);
        EXPECT_LT(estimated.p95_rad, 1.25 * given.p95_rad + 0.01);
      }
      EXPECT_TRUE(given.logs.empty());
    }
  }
}

TEST(Velocity, MissingOnesAreLoggedOnce) {
  const Figures automatic = drive("lan", PlayoutMode::present, VelocitySource::automatic, positions_only);
  EXPECT_EQ(automatic.logs, (std::vector<std::string>{
                                "velocity estimated, the game gives none archetype=entity of=position",
                                "velocity estimated, the game gives none archetype=entity of=orientation"}));
  const Figures given = drive("lan", PlayoutMode::present, VelocitySource::given, positions_only);
  EXPECT_EQ(given.logs.size(), 2u);
  EXPECT_GT(given.publishes_per_s, 10.0) << "the setting has no effect";
}

// The game moves its entities 20 or 30 times a second; the server ticks at 60 Hz.
TEST(Velocity, SlowerGamesAreEstimatedToo) {
  for (const int every : {2, 3}) {
    World world({.links = network("intercity")});
    add_client(world, PlayoutMode::present);
    const EntityId id = *world.server().spawn(0, "e", State{});
    int tick = 0;
    world.before_tick = [&](double t) {
      if (tick++ % every == 0) {
        EXPECT_TRUE(world.server().move(id, positions_only(Ship{}(t))));
      }
    };
    double least_mps = 1e9, most_mps = 0.0;
    world.after_tick = [&](double t) {
      if (t < 1.0) return;
      const double speed = glm::length(world.server().state(id)->velocity);
      least_mps = std::min(least_mps, speed);
      most_mps = std::max(most_mps, speed);
    };
    world.run_to(6.0);
    EXPECT_GT(least_mps, 9.8);
    EXPECT_LT(most_mps, 10.6);
  }
}

// An owner's game gives only positions.
TEST(Velocity, OwnersVelocitiesAreEstimated) {
  const auto play = [](bool with_velocity) {
    World world({.links = network("intercity")});
    std::vector<std::string> logs;
    ClientConfig owner;
    owner.log = [&](const LogRecord& record) {
      if (record.event.find("velocity") != std::string_view::npos) logs.push_back(text_of(record));
    };
    world.add_client(owner);
    world.run_to(1.0);
    world.add_client();
    world.run_to(2.0);
    const EntityId id = *world.server().spawn(0, "car", Ship{}(2.0));
    EXPECT_TRUE(world.server().give(id, {1}));
    std::vector<double> errors_m;
    world.on_frame = [&](std::size_t client, double t, std::span<const ShownEntity>) {
      const auto now_s = world.client(client).server_time_s();
      if (client == 0 && now_s && world.client(0).owned(id)) {
        State s = Ship{}(*now_s);
        if (!with_velocity) s = positions_only(s);
        (void)world.client(0).move(id, s);
      }
      const ShownEntity* shown = world.shown(1, id);
      if (client == 1 && t > 5.0 && shown != nullptr)
        errors_m.push_back(glm::distance(shown->shown.position, Ship{}(shown->shown_time_s).position));
    };
    world.run_to(5.0);
    const std::uint64_t published = publishes_in(world, 10.0);
    EXPECT_EQ(world.server().ownership_stats().corrected, 0u);
    EXPECT_EQ(logs.size(), with_velocity ? 0u : 1u);
    return std::pair{published, p95(errors_m)};
  };
  const auto [given, given_m] = play(true);
  const auto [estimated, estimated_m] = play(false);
  EXPECT_LT(estimated, 2 * given + 20);
  EXPECT_LT(estimated_m, 1.5 * given_m + 0.01);
}

}  // namespace
}  // namespace reckoner::test::velocity
