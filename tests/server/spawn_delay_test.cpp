// SPDX-License-Identifier: MIT
// How long it takes until a client shows new entities.
#include "tests/support/paths.hpp"
#include "tests/support/sanitizer.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

// A body of many. Every second one rests. The others move in different directions, so newer motions of them
// follow their spawns.
State drifting(std::size_t i, double t) {
  const auto number = static_cast<double>(i);
  const double angle = 2.4 * number;
  State s;
  if (i % 2 == 0) return s;
  s.velocity = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)), 0.0f};
  s.position = glm::dvec3{s.velocity} * (t - number / 40.0);
  return s;
}

// The delay of each entity from its spawn to the first picture with it, s, in ascending order. An entity
// spawns every 25 ms and lives for 5 s.
std::vector<double> spawn_delays(const std::string& link, std::uint64_t seed) {
  constexpr std::size_t kSpawns = kSanitized ? 3'000 : 10'000;
  constexpr double kLifeS = 5.0, kEveryS = 0.025, kFirstS = 3.0;
  World world({.links = network(link), .seed = seed});
  world.add_client();
  std::map<EntityId, double> spawned_s;
  std::map<double, EntityId> ends_s;
  std::vector<double> delays_s;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
    for (const ShownEntity& e : shown) {
      const auto spawn = spawned_s.find(e.id);
      if (spawn == spawned_s.end()) continue;
      delays_s.push_back(time_s - spawn->second);
      spawned_s.erase(spawn);
    }
  };
  for (std::size_t i = 0; i < kSpawns; ++i) {
    const double now_s = kFirstS + kEveryS * static_cast<double>(i);
    world.run_to(now_s);
    for (; !ends_s.empty() && ends_s.begin()->first <= now_s; ends_s.erase(ends_s.begin()))
      world.remove_body(ends_s.begin()->second);
    const EntityId id = world.add_body([i](double t) { return drifting(i, t); });
    spawned_s.emplace(id, now_s);
    ends_s.emplace(now_s + kLifeS, id);
  }
  world.run_to(world.now_s() + kLifeS);
  EXPECT_EQ(delays_s.size(), kSpawns) << "the client shows every entity";
  std::sort(delays_s.begin(), delays_s.end());
  return delays_s;
}

double at_share(const std::vector<double>& sorted, double share) {
  return sorted.at(static_cast<std::size_t>(share * static_cast<double>(sorted.size())));
}

class SpawnDelay : public testing::TestWithParam<unsigned> {};  // the seed

// 3 % of the datagrams are lost, three in a row on average, and delays vary by more than two ticks.
TEST_P(SpawnDelay, NewEntityIsShownSoonOverMobile) {
  const std::vector<double> delays_s = spawn_delays("mobile", GetParam());
  EXPECT_LE(at_share(delays_s, 0.99), 0.350);
  EXPECT_LE(at_share(delays_s, 0.999), 1.0);
}

TEST_P(SpawnDelay, NewEntityIsShownSoonOverIntercity) {
  EXPECT_LE(at_share(spawn_delays("intercity", GetParam()), 0.99), 0.200);
}

INSTANTIATE_TEST_SUITE_P(, SpawnDelay, testing::Range(1u, 1u + seeds_to_run(3)));

class JoinDelay : public testing::TestWithParam<const char*> {};  // the link

constexpr std::size_t kMoving = 20;

// A client joins among kMoving moving entities, and a crowd of others that rest. Returns the time from the
// start of the connection until it has reported all of them as spawned, s; infinity if it has not after 6 s.
// Adds the distances between the shown and the true positions of the moving entities to `errors_m`, m. They
// are measured while the crowd arrives.
double join_among(std::size_t crowd, const std::string& link, std::uint64_t seed,
                  std::vector<double>& errors_m) {
  constexpr double kJoinS = 1.0, kFirstS = 1.0, kLastS = 4.0, kLongestS = 6.0;
  World world({.links = network(link), .seed = seed, .sampled = true});
  std::vector<Circle> paths;
  std::vector<EntityId> movers;
  for (std::size_t i = 0; i < kMoving; ++i) {
    const auto number = static_cast<double>(i);
    paths.push_back({.turn_rps = 1.0 + 0.05 * number, .centre = {20.0 * number, -50.0, 0.0}});
    movers.push_back(world.add_body(paths.back()));
  }
  for (std::size_t i = 0; i < crowd; ++i) {
    State s;
    s.position = {5.0 * static_cast<double>(i % 150), 5.0 * static_cast<double>(i / 150), 0.0};
    EXPECT_TRUE(world.server().spawn(0, "body", s));
  }
  world.run_to(kJoinS);
  world.add_client();
  double complete_s = std::numeric_limits<double>::infinity();
  std::size_t events = 0, spawned = 0;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity>) {
    for (; events < world.events(0).size(); ++events) {
      spawned += world.events(0)[events].kind == ClientEvent::Kind::spawned ? 1 : 0;
      if (spawned == kMoving + crowd) complete_s = std::min(complete_s, time_s - kJoinS);
    }
    if (time_s < kJoinS + kFirstS || time_s > kJoinS + kLastS) return;
    for (std::size_t i = 0; i < kMoving; ++i) {
      const auto debug = world.client(0).debug(movers[i]);
      if (!debug) continue;
      errors_m.push_back(glm::distance(debug->shown.position, paths[i](debug->shown_time_s).position));
    }
  };
  for (double after_s = 0.0; after_s < (complete_s < kLongestS ? kLastS : kLongestS);)
    world.run_to(kJoinS + (after_s += 0.1));
  return complete_s;
}

// The spawns of a crowd use what the motions leave of the link. The crowd arrives for more than four seconds.
TEST_P(JoinDelay, CrowdArrivesSoonAndMotionsGoOn) {
  constexpr std::size_t kCrowd = 20'000;
  std::vector<double> alone_m, beside_crowd_m;
  for (unsigned seed = 1; seed <= seeds_to_run(2); ++seed) {
    EXPECT_LT(join_among(0, GetParam(), seed, alone_m), 1.0) << seed;
    const double complete_s = join_among(kCrowd, GetParam(), seed, beside_crowd_m);
    EXPECT_LT(complete_s, 5.5) << seed;
    EXPECT_GT(complete_s, 4.0) << "the errors are measured while the crowd arrives";
  }
  EXPECT_GT(beside_crowd_m.size(), alone_m.size() * 9 / 10);
  std::sort(alone_m.begin(), alone_m.end());
  std::sort(beside_crowd_m.begin(), beside_crowd_m.end());
  EXPECT_LT(at_share(beside_crowd_m, 0.5), 1.3 * at_share(alone_m, 0.5));
  EXPECT_LT(at_share(beside_crowd_m, 0.95), 2.0 * at_share(alone_m, 0.95));
}

INSTANTIATE_TEST_SUITE_P(, JoinDelay, testing::Values("intercity", "mobile"));

}  // namespace
}  // namespace reckoner::test
