// SPDX-License-Identifier: MIT
// Client::correct() with a time: the game anticipates a hit that the server has not sent yet.
#include "tests/support/percentile.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test::anticipation {
namespace {

constexpr double kHitEveryS = 2.0;
constexpr double kFrameS = 1.0 / 60.0;

// A ball on a slope rolls back to the left and is hit to the right, again and again. The game of the client
// knows about each hit when it happens; the server learns of it after `late_s`.
struct Ball {
  double late_s = 0.0;
  double rolls_mps = -2.0;
  double hit_mps = 8.0;
  double friction_mps2 = 5.0;  // of the ball after a hit

  // Time since the last hit, as the server knows it.
  [[nodiscard]] double since_s(double t) const { return std::fmod(std::max(0.0, t - late_s), kHitEveryS); }

  State operator()(double t) const {
    const double since = since_s(t);
    State s;
    // It rolls out until it has the velocity with which it rolls back.
    const double slows_s = std::min(since, (hit_mps - rolls_mps) / friction_mps2);
    s.position.x = hit_mps * slows_s - 0.5 * friction_mps2 * slows_s * slows_s;
    s.velocity.x = static_cast<float>(hit_mps - friction_mps2 * slows_s);
    s.acceleration.x = static_cast<float>(-friction_mps2);
    const double rounds = std::floor(std::max(0.0, t - late_s) / kHitEveryS);
    s.position.x += rounds * (hit_mps * kHitEveryS - 0.5 * friction_mps2 * kHitEveryS * kHitEveryS);
    return s;
  }
};

struct Outcome {
  int hits = 0;
  int backwards = 0;         // hits after which the ball ran backwards
  double largest_mps = 0.0;  // what the position moves in a frame
  double p95_m = 0.0;        // error later than 1.75 s after a hit
};

// `anticipated_s` 0: a plain correction.
Outcome play(const std::string& link, PlayoutMode mode, double anticipated_s, std::uint64_t seed) {
  WorldConfig config{.links = network(link)};
  config.seed = seed;
  World world(config);
  ClientConfig client;
  client.playout.mode = mode;
  world.add_client(client);
  Ball truth;
  truth.late_s = 0.5 * 1e-3 * (config.links.up.latency_ms + config.links.down.latency_ms);
  const EntityId id = world.add_body(truth);
  Outcome out;
  double last_hit = 0.0;
  double corrected_s = -1e300;
  bool ran_back = false;
  std::vector<double> errors_m;
  std::optional<double> before;
  world.on_frame = [&](std::size_t index, double t, std::span<const ShownEntity>) {
    const ShownEntity* shown = world.shown(index, id);
    if (shown == nullptr || t < 4.0) return;
    const double x = shown->shown.position.x;
    if (t - corrected_s < 0.8 && before && *before - x > 1e-3) ran_back = true;
    if (before) out.largest_mps = std::max(out.largest_mps, std::abs(x - *before) / kFrameS);
    if (t - corrected_s > 1.75) errors_m.push_back(std::abs(x - truth(shown->shown_time_s).position.x));
    before = x;
    // The client's game: the hit happens now.
    const double hit = std::floor(t / kHitEveryS);
    if (hit == last_hit || last_hit == 0.0) {
      last_hit = hit;
      return;
    }
    last_hit = hit;
    out.backwards += ran_back ? 1 : 0;
    ran_back = false;
    ++out.hits;
    State hit_state = shown->shown;
    hit_state.velocity.x = static_cast<float>(truth.hit_mps);
    hit_state.acceleration.x = static_cast<float>(-truth.friction_mps2);
    EXPECT_TRUE(world.client(index).correct(id, hit_state, anticipated_s));
    corrected_s = t;
  };
  world.run_to(30.0);
  out.p95_m = p95(errors_m);
  return out;
}

TEST(Anticipation, HitIsNotPulledBack) {
  int hits = 0, backwards = 0, plain_backwards = 0;
  for (const char* link : {"lan", "broadband", "intercity", "mobile"}) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE(std::string(link) + (mode == PlayoutMode::present ? " present" : " adaptive"));
        const Outcome plain = play(link, mode, 0.0, seed);
        const Outcome anticipated = play(link, mode, 0.8, seed);
        hits += anticipated.hits;
        backwards += anticipated.backwards;
        plain_backwards += plain.backwards;
        EXPECT_LT(anticipated.largest_mps, plain.largest_mps + 2.0);
        EXPECT_LT(anticipated.p95_m, plain.p95_m + 0.02);
      }
    }
  }
  EXPECT_GT(hits, 200);
  EXPECT_LE(100 * backwards, hits) << "a burst of losses may hide the hit for longer than the anticipation";
  EXPECT_GT(plain_backwards, hits / 4) << "nothing to prevent";
}

// The server has seen no hit. The guess ends, and the ball goes back without a jump.
TEST(Anticipation, WrongGuessEnds) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
    for (const double anticipated_s : {0.1, 0.5, 1.5}) {
      World world({.links = network("intercity")});
      ClientConfig client;
      client.playout.mode = mode;
      world.add_client(client);
      const EntityId id = world.add_body([](double t) {
        State s;
        s.position.x = 3.0 * t;
        s.velocity.x = 3.0f;
        return s;
      });
      world.run_to(4.0);
      State guess = world.shown(0, id)->shown;
      guess.velocity = {0.0f, 9.0f, 0.0f};
      ASSERT_TRUE(world.updated(0).correct(id, guess, anticipated_s));
      glm::dvec3 before = guess.position;
      double furthest_m = 0.0;
      world.on_frame = [&](std::size_t, double, std::span<const ShownEntity> shown) {
        EXPECT_LT(glm::distance(shown[0].shown.position, before), 80.0 * kFrameS);
        before = shown[0].shown.position;
        furthest_m = std::max(furthest_m, before.y);
      };
      world.run_to(4.0 + anticipated_s + 0.65);
      EXPECT_GT(furthest_m, 9.0 * std::min(anticipated_s, 0.25));
      EXPECT_LT(furthest_m, 9.0 * anticipated_s + 0.8);
      const ShownEntity* shown = world.shown(0, id);
      EXPECT_LT(std::abs(shown->shown.position.y), 0.02);
      EXPECT_NEAR(shown->shown.position.x, 3.0 * shown->shown_time_s, 0.05);
    }
  }
}

// A teleport, a despawn or a change of the mode during an anticipation.
TEST(Anticipation, HoldSurvivesWhatElseHappens) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
    World world({.links = network("intercity")});
    ClientConfig client;
    client.playout.mode = mode;
    world.add_client(client);
    const auto path = [](double t) {
      State s;
      s.position.x = t < 4.3 ? 3.0 * t : 500.0;
      if (t < 4.3) s.velocity.x = 3.0f;
      return s;
    };
    const EntityId teleports = world.add_body(path, {4.3});
    const EntityId ends = world.add_body([](double) { return State{}; });
    const EntityId changes = world.add_body([](double t) {
      State s;
      s.position.z = std::sin(t);
      s.velocity.z = static_cast<float>(std::cos(t));
      return s;
    });
    world.run_to(4.0);
    for (const EntityId id : {teleports, ends, changes}) {
      State guess = world.shown(0, id)->shown;
      guess.velocity = {0.0f, 5.0f, 0.0f};
      ASSERT_TRUE(world.updated(0).correct(id, guess, 2.0));
    }
    world.run_to(4.2);
    world.remove_body(ends);
    ASSERT_TRUE(world.updated(0).set_playout({.mode = PlayoutMode::present}));
    world.run_to(5.2);
    EXPECT_NEAR(world.shown(0, teleports)->shown.position.x, 500.0, 0.01);
    EXPECT_LT(std::abs(world.shown(0, teleports)->shown.position.y), 0.01);
    EXPECT_EQ(world.shown(0, ends), nullptr);
    world.updated(0).set_paused(true);
    world.run_to(5.5);
    world.updated(0).set_paused(false);
    world.run_to(8.0);
    const ShownEntity* shown = world.shown(0, changes);
    EXPECT_LT(std::abs(shown->shown.position.y), 0.01);
    EXPECT_NEAR(shown->shown.position.z, std::sin(shown->shown_time_s), 0.1);
  }
}

// An entity on a ship, hit by something in the world.
TEST(Anticipation, HoldsInAFrame) {
  World world({.links = network("intercity")});
  world.add_client();
  const EntityId ship = world.add_body([](double t) {
    State s;
    s.position.x = 10.0 * t;
    s.velocity.x = 10.0f;
    return s;
  });
  world.run_to(1.0);
  const EntityId crate = *world.server().spawn(0, "crate", State{}, ship);
  world.run_to(4.0);
  const auto shown = world.updated(0).shown();
  const auto found = std::ranges::find(shown, crate, &ShownEntity::id);
  ASSERT_NE(found, shown.end());
  State guess = found->shown;
  guess.velocity.y = 4.0f;
  ASSERT_TRUE(world.client(0).correct(crate, guess, 0.5));
  world.run_to(4.45);
  EXPECT_NEAR(world.shown(0, crate)->local.position.y, 1.8, 0.1);
  EXPECT_NEAR(world.shown(0, crate)->local.position.x, 0.0, 0.1);
  world.run_to(5.2);
  EXPECT_LT(glm::length(world.shown(0, crate)->local.position), 0.02);
}

TEST(Anticipation, BadTimesAreRefused) {
  World world({.links = network("lan")});
  world.add_client();
  const EntityId id = world.add_body([](double) { return State{}; });
  world.run_to(2.0);
  for (const double anticipated_s : {-0.1, kMaxAnticipationS + 0.1, std::nan(""), HUGE_VAL})
    EXPECT_FALSE(world.updated(0).correct(id, State{}, anticipated_s)) << anticipated_s;
  EXPECT_TRUE(world.client(0).correct(id, State{}, kMaxAnticipationS));
}

}  // namespace
}  // namespace reckoner::test::anticipation
