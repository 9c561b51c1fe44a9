// SPDX-License-Identifier: MIT
#include "scenario/builtin/builtin.hpp"

#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::scenario {
namespace {

// Largest values of a scenario's motion, sampled every 1 ms.
struct Extremes {
  double speed = 0.0;         // m/s
  double acceleration = 0.0;  // m/s^2
  double turn_rate = 0.0;     // rad/s
  double resting = 0.0;       // share of the time below 1 cm/s
  double mean_speed = 0.0;
};

Extremes extremes(const Source& source, double from_s, double to_s) {
  constexpr double kStep = 1e-3;
  Extremes most;
  double count = 0.0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const double first = std::max(from_s, source.entity(i).first_s);
    const double last = std::min(to_s, source.entity(i).last_s);
    Pose before = source.pose(i, first);
    glm::dvec3 last_velocity{0.0};
    int since_jump = 0;
    for (int k = 1; first + k * kStep <= last; ++k) {
      const double t = first + k * kStep;
      const Pose now = source.pose(i, t);
      EXPECT_NEAR(glm::length(now.orientation), 1.0f, 1e-5f);
      if (source.teleports_within(i, first + (k - 1) * kStep, t)) {
        since_jump = 0;
      } else {
        const glm::dvec3 velocity = (now.position - before.position) / kStep;
        const double speed = glm::length(velocity);
        most.speed = std::max(most.speed, speed);
        if (since_jump > 0) {
          most.acceleration = std::max(most.acceleration, glm::length(velocity - last_velocity) / kStep);
        }
        most.turn_rate = std::max(most.turn_rate, angle_between(before.orientation, now.orientation) / kStep);
        last_velocity = velocity;
        ++since_jump;
        most.resting += speed < 0.01 ? 1.0 : 0.0;
        most.mean_speed += speed;
        count += 1.0;
      }
      before = now;
    }
  }
  most.resting /= count;
  most.mean_speed /= count;
  return most;
}

std::unique_ptr<Source> make(std::string_view name, std::size_t entities = 0, std::uint64_t seed = 1) {
  auto source = make_builtin(name, entities, seed);
  EXPECT_TRUE(source) << source.error();
  return std::move(*source);
}

TEST(Builtin, EveryListedScenarioCanBeMade) {
  ASSERT_EQ(builtin_scenarios().size(), 11u);
  for (const BuiltinInfo& info : builtin_scenarios()) {
    EXPECT_EQ(make(info.name)->size(), info.default_entities);
    EXPECT_FALSE(info.description.empty());
    const auto three = make(info.name, 3);
    ASSERT_EQ(three->size(), 3u);
    std::set<std::string> names;
    for (std::size_t i = 0; i < 3; ++i)
      names.insert(three->entity(i).name);
    EXPECT_EQ(names.size(), 3u);
  }
}

TEST(Builtin, RefusesAnUnknownNameAndListsTheKnownOnes) {
  const auto source = make_builtin("circus");
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error(),
            "expected a scenario (orbit, traffic, crowd, hop, patrol, visitors, duel, owned, ship, ashore, "
            "football, asteroids, cubes), found 'circus'");
}

TEST(Builtin, IsAPureFunctionOfSeedEntityAndTime) {
  for (const BuiltinInfo& info : builtin_scenarios()) {
    const auto a = make(info.name, 20, 9);
    const auto b = make(info.name, 20, 9);
    const auto other = make(info.name, 20, 10);
    int different = 0;
    for (double t = 40.0; t >= 0.0; t -= 0.37) {  // backwards, so that no history can help
      for (std::size_t i = 0; i < 20; ++i) {
        const Pose pose_a = a->pose(i, t);
        const Pose pose_b = b->pose(i, t);
        ASSERT_EQ(std::memcmp(&pose_a, &pose_b, sizeof pose_a), 0) << info.name;
        different += pose_a.position != other->pose(i, t).position ? 1 : 0;
      }
    }
    EXPECT_GT(different, 2000) << info.name;
  }
}

TEST(Builtin, EntitiesMoveDifferently) {
  for (const BuiltinInfo& info : builtin_scenarios()) {
    const auto source = make(info.name, 50, 1);
    std::set<double> xs;
    for (std::size_t i = 0; i < 50; ++i)
      xs.insert(source->pose(i, 12.3).position.x);
    EXPECT_GT(xs.size(), 40u) << info.name;
  }
}

TEST(Builtin, OrbitIsSmooth) {
  const Extremes most = extremes(*make("orbit", 10), 0.0, 30.0);
  EXPECT_LT(most.speed, 20.0);
  EXPECT_LT(most.acceleration, 30.0);
  EXPECT_GT(most.mean_speed, 2.0);
  EXPECT_LT(most.turn_rate, 2.1);
}

TEST(Builtin, TrafficKeepsItsAccelerationLimitAndStops) {
  for (const std::uint64_t seed : {1u, 2u}) {
    const Extremes most = extremes(*make("traffic", 20, seed), 0.0, 160.0);
    EXPECT_LT(most.speed, 20.0);
    EXPECT_GT(most.speed, 9.0);
    // 3 m/s^2 along the road, and speed^2 / 16 m sideways in the arcs
    EXPECT_LT(most.acceleration, 8.0);
    EXPECT_GT(most.resting, 0.02);
    EXPECT_LT(most.resting, 0.4);
    EXPECT_LT(most.turn_rate, 1.0);
  }
}

TEST(Builtin, TrafficFacesItsDirectionOfTravel) {
  const auto source = make("traffic", 20);
  for (std::size_t i = 0; i < 20; ++i) {
    for (double t = 0.0; t < 200.0; t += 0.31) {
      const glm::dvec3 step = source->pose(i, t + 1e-4).position - source->pose(i, t - 1e-4).position;
      if (glm::length(step) < 2e-5) continue;  // below 0.1 m/s
      const glm::dvec3 ahead = glm::dquat(source->pose(i, t).orientation) * glm::dvec3{1.0, 0.0, 0.0};
      EXPECT_GT(glm::dot(glm::normalize(step), ahead), 0.999) << i << " " << t;
    }
  }
}

TEST(Builtin, CrowdStartsStopsAndRestsWithinBoundedAcceleration) {
  const Extremes most = extremes(*make("crowd", 60), 100.0, 160.0);
  EXPECT_LT(most.speed, 5.0);
  EXPECT_GT(most.acceleration, 10.0);
  EXPECT_LT(most.acceleration, 30.0);
  EXPECT_GT(most.resting, 0.1);
  EXPECT_LT(most.resting, 0.6);
  EXPECT_GT(most.mean_speed, 0.3);
  EXPECT_LT(most.turn_rate, 1.5 * 3.1416 / 0.3 + 0.1);  // half a turn by smoothstep in 0.3 s
}

TEST(Builtin, HopFliesUnderGravityAndDeclaresItsTeleports) {
  const auto source = make("hop", 6);
  const Extremes most = extremes(*source, 0.0, 60.0);
  EXPECT_LT(most.speed, 10.0);  // so every jump was declared
  int teleports = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    bool flies = false;
    for (double t = 0.0; t < 60.0; t += 0.01) {
      if (source->teleports_within(i, t - 0.01, t)) {
        ++teleports;
        EXPECT_GT(glm::length(source->pose(i, t).position - source->pose(i, t - 0.01).position), 1.0);
      }
      const double z = source->pose(i, t).position.z;
      EXPECT_GE(z, 0.0);
      if (z > 0.3 && source->pose(i, t - 0.01).position.z > 0.2 &&
          source->pose(i, t + 0.01).position.z > 0.2) {
        flies = true;
        const double bend =
            source->pose(i, t + 0.01).position.z - 2.0 * z + source->pose(i, t - 0.01).position.z;
        EXPECT_NEAR(bend / 1e-4, -9.81, 1e-3);
      }
    }
    EXPECT_TRUE(flies);
  }
  EXPECT_EQ(teleports, 36);
}

TEST(Builtin, VisitorsSpawnAndDespawn) {
  const auto source = make("visitors", 100);
  EXPECT_TRUE(std::isfinite(source->end_s()));
  EXPECT_EQ(source->start_s(), 0.0);
  std::size_t most = 0;
  for (double t = 0.0; t < source->end_s(); t += 0.5) {
    std::size_t there = 0;
    for (std::size_t i = 0; i < 100; ++i) {
      there += t >= source->entity(i).first_s && t <= source->entity(i).last_s ? 1 : 0;
    }
    most = std::max(most, there);
  }
  EXPECT_GT(most, 10u);
  EXPECT_LT(most, 40u);
  for (std::size_t i = 0; i < 100; ++i) {
    const double life = source->entity(i).last_s - source->entity(i).first_s;
    EXPECT_GE(life, 5.0);
    EXPECT_LE(life, 40.0);
  }
}

TEST(Builtin, ShipPassengersBoardAndLeave) {
  const auto ship = make("ship", 32, 5);
  const auto ashore = make("ashore", 32, 5);
  const Extremes most = extremes(*ship, 0.0, 45.0);
  EXPECT_LT(most.speed, 12.0);
  EXPECT_LT(most.acceleration, 31.0);  // the walkers' corners
  EXPECT_LT(most.turn_rate, 21.0);
  int boarded = 0, left = 0, deep = 0;
  for (std::size_t i = 0; i < ship->size(); ++i) {
    EXPECT_EQ(ashore->entity(i).name, ship->entity(i).name);
    std::optional<std::size_t> before = ship->frame_of(i, 0.0);
    for (double t = 0.0; t < 90.0; t += 0.02) {
      const auto frame = ship->frame_of(i, t);
      EXPECT_FALSE(ashore->frame_of(i, t));
      boarded += frame && !before ? 1 : 0;
      left += !frame && before ? 1 : 0;
      EXPECT_TRUE(frame == before || ship->changes_frame(i));
      before = frame;
      // The pose in the frame and the pose in the world agree.
      if (!frame) continue;
      deep += ship->frame_of(*frame, t) ? 1 : 0;
      const Pose world = out_of_frame(ship->pose(*frame, t), ship->pose_in(i, frame, t));
      ASSERT_LT(glm::distance(world.position, ship->pose(i, t).position), 1e-4);
      ASSERT_LT(angle_between(world.orientation, ship->pose(i, t).orientation), 1e-3);
    }
  }
  EXPECT_GE(boarded, 12);
  EXPECT_GE(left, 12);
  EXPECT_GT(deep, 0);
}

// The walk on deck equals the walk ashore.
TEST(Builtin, AshoreHasTheSameWalksAsTheShip) {
  const auto ship = make("ship", 16, 3);
  const auto ashore = make("ashore", 16, 3);
  for (std::size_t i = 1; i < 16; ++i) {
    if (ship->changes_frame(i)) continue;
    const auto frame = ship->frame_of(i, 0.0);
    ASSERT_TRUE(frame);
    for (double t = 0.0; t < 30.0; t += 0.7) {
      const Pose deck = ship->pose_in(i, frame, t);
      const Pose walk = into_frame(ashore->pose(*frame, t), ashore->pose(i, t));
      EXPECT_LT(glm::distance(deck.position, walk.position), 1e-6);
    }
  }
}

TEST(Builtin, FootballPlaysByItsRules) {
  constexpr double kStep = 2e-3;
  double fastest_car = 0.0, fastest_ball = 0.0, highest = 0.0;
  int hits = 0, bounces = 0, wall_turns = 0, teleports = 0, boarded = 0, left = 0;
  double steps = 0.0, sudden = 0.0;  // of cars
  for (const std::uint64_t seed : {1u, 2u}) {
    const auto game = make("football", 8, seed);
    EXPECT_EQ(game->entity(0).name, "ball1");
    EXPECT_FALSE(game->entity(0).has_orientation);
    EXPECT_EQ(game->entity(1).name, "platform1");
    EXPECT_EQ(game->entity(7).name, "car6");
    for (std::size_t i = 0; i < 8; ++i) {
      Pose before = game->pose(i, 0.0);
      glm::dvec3 last{0.0}, earlier{0.0};  // velocities
      int since_jump = 0;
      for (int k = 1; k * kStep <= 60.0; ++k) {
        const double t = k * kStep;
        const Pose now = game->pose(i, t);
        ASSERT_NEAR(glm::length(now.orientation), 1.0f, 1e-5f);
        const bool jumps = game->teleports_within(i, t - kStep, t);
        teleports += jumps ? 1 : 0;
        since_jump = jumps ? 0 : since_jump + 1;
        const glm::dvec3 velocity = (now.position - before.position) / kStep;
        before = now;
        const glm::dvec3 was = std::exchange(earlier, std::exchange(last, velocity));
        if (since_jump < 4) continue;
        const double speed = glm::length(velocity);
        if (i == 0) {
          fastest_ball = std::max(fastest_ball, speed);
          bounces += velocity.z - was.z > 2.0 && last.z - earlier.z < 1.0 ? 1 : 0;
          wall_turns += std::abs(velocity.y + was.y) < 0.05 && std::abs(velocity.y) > 1.0 ? 1 : 0;
          ASSERT_GE(now.position.z, 0.9 - 1e-9);
          ASSERT_LE(std::abs(now.position.y), 31.1 + 1e-6);
        } else if (i == 1) {
          ASSERT_LT(speed, 8.0);
        } else {
          fastest_car = std::max(fastest_car, speed);
          highest = std::max(highest, now.position.z);
          ASSERT_GE(now.position.z, 0.5 - 1e-9);
          ASSERT_LE(std::abs(now.position.x), 48.5 + 1e-6);
          if (i > 2) {
            ASSERT_LE(std::abs(now.position.y), 30.5 + 1e-6);
          }
          // A hit takes one or two steps.
          const bool is_sudden = glm::length(velocity - earlier) > 1.0;
          steps += 1.0;
          sudden += is_sudden ? 1.0 : 0.0;
          if (is_sudden) {
            const glm::dvec3 apart = now.position - game->pose(0, t).position;
            hits += std::hypot(apart.x, apart.y) < 2.6 ? 1 : 0;
          }
        }
      }
    }
    // The rider, the first car.
    EXPECT_TRUE(game->changes_frame(2) && !game->changes_frame(3) && !game->changes_frame(1));
    std::optional<std::size_t> frame = game->frame_of(2, 0.0);
    for (double t = 0.0; t < 60.0; t += 0.01) {
      const auto in = game->frame_of(2, t);
      boarded += in && !frame ? 1 : 0;
      left += !in && frame ? 1 : 0;
      frame = in;
      if (!in) continue;
      ASSERT_EQ(*in, 1u);
      const Pose local = game->pose_in(2, in, t);
      EXPECT_LE(std::abs(local.position.x), 4.0);
      const Pose world = out_of_frame(game->pose(1, t), local);
      ASSERT_LT(glm::distance(world.position, game->pose(2, t).position), 1e-6);
      ASSERT_LT(angle_between(world.orientation, game->pose(2, t).orientation), 1e-3);
    }
  }
  EXPECT_GT(fastest_car, 28.0);
  EXPECT_LT(fastest_car, 45.0);
  EXPECT_GT(fastest_ball, 30.0);
  EXPECT_LT(fastest_ball, 50.0);
  EXPECT_LT(sudden, 0.01 * steps);
  EXPECT_GT(highest, 2.0) << "cars jump";
  EXPECT_GT(hits, 40);
  EXPECT_GT(bounces, 40);
  EXPECT_GT(wall_turns, 3);
  EXPECT_GE(teleports, 2 * 7 * 2);
  EXPECT_GE(boarded, 4);
  EXPECT_GE(left, 4);
}

TEST(Builtin, FootballHasAPitchForEveryEightEntities) {
  const auto game = make("football", 24, 5);
  for (std::size_t i = 0; i < 24; ++i) {
    const double middle = 160.0 * static_cast<double>(i / 8);
    for (double t = 0.0; t < 30.0; t += 0.5)
      EXPECT_LT(std::abs(game->pose(i, t).position.y - middle), 60.0);
  }
  bool rides = false;
  for (double t = 0.0; t < 24.0; t += 0.5) {
    EXPECT_EQ(game->frame_of(18, t).value_or(17u), 17u) << "the platform of its own pitch";
    rides = rides || game->frame_of(18, t).has_value();
  }
  EXPECT_TRUE(rides);
}

TEST(Builtin, MotionStaysContinuousAfterADay) {
  for (const char* name : {"orbit", "traffic", "crowd"}) {
    const Extremes most = extremes(*make(name, 5), 86'400.0, 86'430.0);
    EXPECT_LT(most.speed, 20.0) << name;
    EXPECT_LT(most.acceleration, 31.0) << name;
  }
}

}  // namespace
}  // namespace reckoner::scenario
