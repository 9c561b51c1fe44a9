// SPDX-License-Identifier: MIT
// Many datagrams in flight at once, over links that lose nothing from the server to the client.
#include "tests/support/paths.hpp"
#include "tests/support/sanitizer.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

// A body that spins and changes its direction at the same instants as all the others, so that motions of all
// bodies become due in one tick.
struct Herd {
  glm::dvec3 from{0.0};
  double number = 0.0;  // another one, another direction

  static constexpr double kLegS = 0.25;

  State operator()(double t) const {
    const double leg = std::floor(t / kLegS);
    const double angle = 2.4 * leg + 0.7 * number;
    const glm::dvec3 velocity = 8.0 * glm::dvec3{std::cos(angle), std::sin(angle), std::sin(3.0 * angle)};
    State s;
    s.position = from + velocity * (t - kLegS * leg - 0.5 * kLegS);
    s.velocity = glm::vec3{velocity};
    return s;
  }
};

struct Flight {
  std::uint64_t most_in_tick = 0;  // datagrams
  ServerStats server;
  SessionStats session;
  ClientStats client;
};

// Lets a client join a server that sends as much as it can, over this link.
Flight join_herd(World& world, int bodies, double end_s) {
  for (int i = 0; i < bodies; ++i)
    world.add_body(Herd{.from = {5.0 * (i % 150), 5.0 * (i / 150), 0.0}, .number = 1.0 * i});
  world.run_to(0.2);
  world.add_client();
  Flight flight;
  std::uint64_t before = 0;
  world.after_tick = [&](double) {
    const std::uint64_t sent = world.server().stats().datagrams_sent;
    flight.most_in_tick = std::max(flight.most_in_tick, sent - before);
    before = sent;
  };
  world.run_to(end_s);
  EXPECT_EQ(world.shown(0).size(), static_cast<std::size_t>(bodies));
  flight.server = world.server().stats();
  flight.session = *world.server().session_stats(world.server().clients().front());
  flight.client = world.client(0).stats();
  return flight;
}

constexpr std::uint64_t kLargeBurst = 200;  // datagrams, far more than an ack of one word covers

TEST(LargeFlight, JoiningAmong20000MovingEntitiesCountsNothingLost) {
  World world({.server = {.bytes_per_second = 0, .follow_link = false}, .links = network("lan")});
  constexpr int kBodies = kSanitized ? 8'000 : 20'000;
  const Flight flight = join_herd(world, kBodies, 1.5);
  EXPECT_GT(flight.most_in_tick, kLargeBurst * kBodies / 20'000);
  EXPECT_EQ(flight.server.datagrams_lost, 0u);
  EXPECT_EQ(flight.session.datagrams_lost, 0u);
  EXPECT_EQ(flight.session.loss, 0.0);
  EXPECT_EQ(flight.client.datagrams_lost, 0u);
  EXPECT_EQ(flight.client.datagrams_stale, 0u) << "a datagram that others overtook is not too old";
}

// More is due during a round trip than an acknowledgement can cover: the server waits with the rest.
TEST(LargeFlight, TheFlightEndsWhereAcknowledgementsEnd) {
  const harness::LinkOptions slow{.latency_ms = 300, .jitter_ms = 2};
  World world({.server = {.bytes_per_second = 0, .follow_link = false}, .links = both_ways(slow)});
  const Flight flight = join_herd(world, kSanitized ? 5000 : 8000, 3.0);
  EXPECT_GT(flight.most_in_tick, kLargeBurst / (kSanitized ? 8 : 4));
  EXPECT_EQ(flight.server.datagrams_lost, 0u);
}

// Few datagrams of a long flight bring changes of fields. A lost change must be sent again, whatever becomes
// of the datagrams without changes.
TEST(LargeFlight, LostChangesOfFieldsAreRepaired) {
  WorldConfig config{.server = {.bytes_per_second = 0, .follow_link = false},
                     .links = both_ways({.latency_ms = 700, .jitter_ms = 20, .loss_percent = 20})};
  config.server.archetypes[0].fields = {{"number", IntegerField{0, 1'000'000}}};
  World world(config);
  for (int i = 0; i < 40; ++i)
    world.add_body(Circle{.turn_rps = 3.0 + 0.1 * i, .centre = {20.0 * i, 0.0, 0.0}});  // in every tick
  ClientConfig client;
  client.archetypes = config.server.archetypes;
  world.add_client(client);
  world.run_to(8.0);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_TRUE(world.server().set_field(world.body(i), 0, std::int64_t{7}));
    world.run_to(world.now_s() + 2.5);
  }
  world.run_to(world.now_s() + 10.0);
  for (std::size_t i = 0; i < 40; ++i) {
    const FieldValue* shown = world.client(0).field(world.body(i), 0);
    ASSERT_NE(shown, nullptr);
    EXPECT_EQ(*shown, FieldValue{std::int64_t{7}}) << i;
  }
}

}  // namespace
}  // namespace reckoner::test
