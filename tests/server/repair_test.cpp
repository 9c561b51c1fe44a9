// SPDX-License-Identifier: MIT
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

// Long after the last change, a client shows exactly the newest motion that it has.
void expect_follows_published(World& world, std::size_t client, EntityId id, double tolerance_m = 1e-4) {
  const ShownEntity* shown = world.shown(client, id);
  const auto published = world.server().published(id);
  ASSERT_NE(shown, nullptr);
  ASSERT_TRUE(published);
  const State wanted = state_at(*published, shown->shown_time_s);
  EXPECT_LT(glm::distance(shown->shown.position, wanted.position), tolerance_m) << "client " << client;
  EXPECT_NEAR(shown->age_s, shown->shown_time_s - published->time_s, 1e-6);
}

// Moves until `stop_s` and rests afterwards.
struct Halting {
  double stop_s = 0.0;
  Circle circle;
  State operator()(double t) const {
    if (t < stop_s) return circle(t);
    State s = circle(stop_s);
    s.velocity = s.acceleration = s.angular_velocity = glm::vec3{0.0f};
    return s;
  }
};

// The repair bound: round trip + 4 deviations + one-way delay + acknowledgement interval + 2 ticks, for 50 ms
// latency and 10 ms of jitter.
constexpr double kRepairBoundS = 0.12 + 4 * 0.01 + 0.06 + 0.1 + 2.0 / 60.0 + 0.03;

// A minute of loss. Some bodies keep moving, some come to rest during it, and some at its very end.
TEST(Repair, EveryClientIsCorrectWithinTheBoundAfterHeavyLoss) {
  constexpr double kEndS = 60.0;
  for (const std::uint64_t seed : {11u, 12u, 13u}) {
    WorldConfig config;
    config.links = both_ways({.latency_ms = 50.0, .jitter_ms = 10.0, .loss_percent = 30.0});
    config.script = "60 loss=0\n";
    config.seed = seed;
    World world(config);
    std::map<EntityId, Truth> bodies;
    for (int i = 0; i < 10; ++i) {
      const Circle circle{.turn_rps = 0.5 + 0.15 * i};
      const Truth path = i % 2 == 0 ? Truth{circle} : Truth{Halting{kEndS - 2.0 + 0.25 * (i - 1), circle}};
      bodies.emplace(world.add_body(path), path);
    }
    std::vector<std::size_t> clients;
    for (int i = 0; i < 3; ++i)
      clients.push_back(world.add_client());
    world.run_to(kEndS);
    std::map<EntityId, double> published_s;  // time of each entity's newest published motion
    for (const auto& [id, path] : bodies)
      published_s[id] = world.server().published(id)->time_s;
    world.run_to(kEndS + kRepairBoundS);
    for (const std::size_t client : clients) {
      EXPECT_GT(world.client(client).stats().datagrams_lost, 200u);
      for (const auto& [id, path] : bodies) {
        const auto known = world.client(client).debug(id);
        ASSERT_TRUE(known);
        EXPECT_GE(known->motion_time_s, published_s[id]) << "client " << client;
        // The known motion without its blend, which is still in progress.
        EXPECT_LT(glm::distance(known->motion.position, path(known->shown_time_s).position),
                  known->threshold_m)
            << "client " << client << " seed " << seed;
      }
    }
    EXPECT_GT(world.server().stats().repairs_sent, 50u);
  }
}

TEST(Repair, LostLastUpdateBeforeRestIsRepaired) {
  // Many different stop times. The link is down exactly while the last update is sent.
  for (int i = 0; i < 20; ++i) {
    const double stop_s = 2.0 + 0.013 * i;
    WorldConfig config;
    config.links = both_ways({.latency_ms = 50.0, .jitter_ms = 10.0});
    const auto line = [](double t, double loss) {
      return std::to_string(t) + " down loss=" + std::to_string(loss) + "\n";
    };
    config.script = line(stop_s - 0.02, 100.0) + line(stop_s + 0.15, 0.0);
    World world(config);
    const std::size_t client = world.add_client();
    const EntityId id = world.add_body(Halting{stop_s, Circle{}});
    world.run_to(stop_s + 0.15 + kRepairBoundS + 0.11);
    const ShownEntity* shown = world.shown(client, id);
    ASSERT_NE(shown, nullptr);
    EXPECT_LT(glm::distance(shown->shown.position, Circle{}(stop_s).position), 0.05) << stop_s;
    EXPECT_LT(glm::length(shown->shown.velocity), 1e-3f);
  }
}

TEST(Repair, MotionFadesToRestInABlackoutAndRecovers) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
    WorldConfig config;
    config.links = both_ways({.latency_ms = 50.0, .jitter_ms = 10.0});
    config.script = "5 loss=100\n10 loss=0\n";
    World world(config);
    ClientConfig client_config;
    client_config.playout.mode = mode;
    const std::size_t client = world.add_client(client_config);
    const Straight path{.velocity = {6.0f, 2.0f, 0.0f}};
    const float speed = glm::length(path.velocity);
    const EntityId id = world.add_body(path);
    std::optional<glm::dvec3> before;
    double most_step_m = 0.0;
    double rest_from_s = 0.0;
    float last_speed = speed;
    bool rises = false;
    world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      ASSERT_TRUE(time_s < 1.0 || shown.size() == 1);
      if (shown.empty()) return;
      const State& s = shown[0].shown;
      if (time_s > 2.0 && time_s < 10.0) {
        if (before) most_step_m = std::max(most_step_m, glm::distance(s.position, *before));
        before = s.position;
      }
      const float now = glm::length(s.velocity);
      if (time_s > 6.1 && time_s < 10.0) rises = rises || now > last_speed + 1e-4f;
      last_speed = now;
      if (rest_from_s == 0.0 && time_s > 5.0 && now < 0.05f) rest_from_s = time_s;
    };
    world.run_to(9.99);
    EXPECT_LT(most_step_m, speed / 60.0 + 0.2 * 0.05);  // never faster except for rounding: no jump
    EXPECT_FALSE(rises);
    EXPECT_GT(rest_from_s, 6.0);
    EXPECT_LT(rest_from_s, 9.5);
    ASSERT_NE(world.shown(client, id), nullptr);
    // The blend after five seconds without updates takes a tenth of a second.
    world.on_frame = nullptr;
    world.run_to(12.0);
    const ShownEntity* shown = world.shown(client, id);
    ASSERT_NE(shown, nullptr);
    EXPECT_LT(glm::distance(shown->shown.position, path(shown->shown_time_s).position), 0.1);
    // Adaptive mode: late datagrams ask for a larger delay. While the delay grows, shown time runs a tenth
    // slower.
    EXPECT_NEAR(glm::length(shown->shown.velocity), speed,
                (mode == PlayoutMode::present ? 0.01f : 0.11f) * speed);
    EXPECT_EQ(world.client(client).status(), ClientStatus::joined);
  }
}

TEST(Repair, DuplicatesAndReorderingHaveNoEffect) {
  // On one link every datagram arrives twice and out of order. On the other link it arrives once. Both
  // clients end with the same newest motion.
  WorldConfig plain;
  plain.links = both_ways({.latency_ms = 40.0, .jitter_ms = 30.0});
  WorldConfig doubled = plain;
  doubled.links = both_ways({.latency_ms = 40.0, .jitter_ms = 30.0, .duplicate_percent = 100.0});
  double shown_x[2];
  std::uint64_t malformed = 0;
  for (int k = 0; k < 2; ++k) {
    World world(k == 0 ? plain : doubled);
    const std::size_t client = world.add_client();
    const EntityId id = world.add_body(Halting{4.0, Circle{}});
    world.run_to(6.0);
    expect_follows_published(world, client, id);
    shown_x[k] = world.shown(client, id)->shown.position.x;
    malformed += world.client(client).stats().malformed + world.server().stats().malformed;
    // A duplicate is not applied: the client counts no more datagrams or updates than were sent.
    EXPECT_LE(world.client(client).stats().datagrams_received, world.server().stats().datagrams_sent);
    EXPECT_LE(world.client(client).stats().updates_applied, world.server().stats().updates_sent);
  }
  EXPECT_NEAR(shown_x[0], shown_x[1], 0.05);
  EXPECT_EQ(malformed, 0u);
}

TEST(Repair, NoRepairsWithoutLoss) {
  World world({.links = both_ways({.latency_ms = 60.0, .jitter_ms = 5.0})});
  for (int i = 0; i < 20; ++i)
    world.add_body(Circle{.turn_rps = 0.2 + 0.1 * i});
  world.add_client();
  world.run_to(10.0);
  EXPECT_GT(world.server().stats().updates_sent, 400u);
  EXPECT_LT(world.server().stats().repairs_sent, world.server().stats().updates_sent / 100);
}

TEST(Repair, ManyDatagramsPerTickAreAllAcknowledged) {
  // 1500 bodies at 60 Hz: about forty datagrams in an acknowledgement interval, which is more than an
  // acknowledgement can name.
  WorldConfig config{.links = both_ways({.latency_ms = 30.0})};
  config.server.fixed_rate_hz = 60.0;
  config.server.bytes_per_second = 0;
  config.server.follow_link = false;
  World world(config);
  for (int i = 0; i < 1500; ++i)
    world.add_body(Circle{.centre = {10.0 * i, 0.0, 0.0}}, {}, "");
  const std::size_t client = world.add_client();
  world.run_to(1.5);
  EXPECT_GT(world.client(client).stats().datagrams_received, 400u);
  EXPECT_EQ(world.server().stats().datagrams_lost, 0u);
  EXPECT_EQ(world.server().stats().repairs_sent, 0u);
}

}  // namespace
}  // namespace reckoner::test
