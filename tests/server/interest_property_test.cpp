// SPDX-License-Identifier: MIT
#include "interest_world.hpp"
#include "scenario/builtin/random.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

/// Compares what each client shows with what must be relevant and what must be hidden. Views and bodies move,
/// bodies rest and start again, relevance and groups change, and the network loses datagrams.
class RelevanceCheck {
 public:
  explicit RelevanceCheck(World& world) : world_(world) {}

  struct Walker {
    EntityId id;
    Truth path;
    Relevance relevance = Relevance::by_distance;
    std::uint32_t groups = 1u;
  };
  struct Viewer {
    ClientId client;
    Circle path;
    std::uint32_t groups = 1u;
    std::map<EntityId, double> inside_since_s, outside_since_s;
  };
  std::vector<Walker> walkers;
  std::vector<Viewer> eyes;
  std::size_t expected = 0, forbidden = 0;

  void look(double time_s) {
    for (Viewer& eye : eyes) {
      const glm::dvec3 place = eye.path(time_s).position;
      ASSERT_TRUE(world_.server().set_view(eye.client, place));
      for (const Walker& w : walkers) {
        const double d = glm::distance(place, w.path(time_s).position);
        const bool shares = (w.groups & eye.groups) != 0 && w.relevance != Relevance::never;
        const bool always = w.relevance == Relevance::always;
        note(eye.inside_since_s, w.id, shares && (always || d < kRadiusM - 1.0), time_s);
        note(eye.outside_since_s, w.id, !shares || (!always && d > 1.15 * kRadiusM + 1.0), time_s);
      }
    }
  }

  void check(double time_s, double settled_s) {
    for (std::size_t i = 0; i < eyes.size(); ++i) {
      for (const Walker& w : walkers) {
        if (const auto at = eyes[i].inside_since_s.find(w.id);
            at != eyes[i].inside_since_s.end() && time_s - at->second > settled_s) {
          EXPECT_TRUE(sees(world_, i, w.id)) << "client " << i << " at " << time_s;
          ++expected;
        }
        if (const auto at = eyes[i].outside_since_s.find(w.id);
            at != eyes[i].outside_since_s.end() && time_s - at->second > settled_s) {
          EXPECT_FALSE(sees(world_, i, w.id)) << "client " << i << " at " << time_s;
          ++forbidden;
        }
      }
    }
  }

 private:
  static void note(std::map<EntityId, double>& since_s, EntityId id, bool is_true, double time_s) {
    if (!is_true) since_s.erase(id);
    if (is_true) since_s.try_emplace(id, time_s);
  }

  World& world_;
};

Circle wander(scenario::Random& random) {
  return Circle{.radius_m = random.uniform(20.0, 120.0),
                .turn_rps = random.uniform(0.05, 0.2),
                .centre = {random.uniform(-200.0, 200.0), random.uniform(-200.0, 200.0), 0.0},
                .phase_rad = random.uniform(0.0, 6.28)};
}

// Follows its circle for a while, rests, and continues.
Truth stop_and_go(const Circle& circle, double go_s, double stop_s) {
  return [=](double t) {
    const double round_s = go_s + stop_s;
    const double rounds = std::floor(t / round_s);
    const double within_s = t - rounds * round_s;
    State state = circle(rounds * go_s + std::min(within_s, go_s));
    if (within_s >= go_s) state.velocity = state.acceleration = state.angular_velocity = glm::vec3{0.0f};
    return state;
  };
}

Truth some_path(scenario::Random& random) {
  const Circle circle = wander(random);
  switch (random.below(3)) {
    case 0:
      return Still{circle(0.0).position};
    case 1:
      return stop_and_go(circle, random.uniform(0.5, 4.0), random.uniform(1.0, 8.0));
    default:
      return circle;
  }
}

void wander_about(const std::string& link, double settled_s, std::uint64_t seed) {
  WorldConfig config = near_world(link);
  config.seed = seed;
  World world(config);
  RelevanceCheck bystander(world);
  scenario::Random random{seed};
  for (int i = 0; i < 4; ++i) {
    Circle path = wander(random);
    if (i % 2 == 1) path.turn_rps *= 0.1;  // a fast view would pass a body before the body can appear
    bystander.eyes.push_back({.client = join(world), .path = path});
    ASSERT_TRUE(world.server().set_groups(bystander.eyes.back().client, 1u));
  }
  for (int i = 0; i < 150; ++i) {
    const Truth path = some_path(random);
    bystander.walkers.push_back({.id = world.add_body(path), .path = path});
    ASSERT_TRUE(world.server().set_groups(bystander.walkers.back().id, 1u));
  }
  world.after_tick = [&](double time_s) { bystander.look(time_s); };
  for (int second = 0; second < 30; ++second) {
    world.run_to(world.now_s() + 1.0);
    bystander.check(world.now_s(), settled_s);
    // One body changes its relevance and groups, one client changes groups, one body disappears and another
    // appears.
    auto& w = bystander.walkers[random.below(bystander.walkers.size())];
    w.relevance = static_cast<Relevance>(random.below(3));
    w.groups = 1u + static_cast<std::uint32_t>(random.below(3));
    ASSERT_TRUE(world.server().set_relevance(w.id, w.relevance));
    ASSERT_TRUE(world.server().set_groups(w.id, w.groups));
    auto& eye = bystander.eyes[random.below(bystander.eyes.size())];
    eye.groups = 1u + static_cast<std::uint32_t>(random.below(3));
    ASSERT_TRUE(world.server().set_groups(eye.client, eye.groups));
    auto& gone = bystander.walkers[random.below(bystander.walkers.size())];
    world.remove_body(gone.id);
    const Truth path = some_path(random);
    gone = {.id = world.add_body(path), .path = path};
    ASSERT_TRUE(world.server().set_groups(gone.id, 1u));
  }
  EXPECT_GT(bystander.expected, 200u);
  EXPECT_GT(bystander.forbidden, 200u);
  for (std::size_t i = 0; i < bystander.eyes.size(); ++i)
    EXPECT_EQ(world.client(i).stats().malformed, 0u);
}

TEST(Interest, EveryClientSeesExactlyTheRelevantEntities) {
  wander_about("lan", 0.5, 1);
  wander_about("broadband", 1.0, 2);
  wander_about("mobile", 3.0, 3);
}

}  // namespace
}  // namespace reckoner::test
