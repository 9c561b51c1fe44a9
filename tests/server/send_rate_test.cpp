// SPDX-License-Identifier: MIT
#include "server/src/session/send_turns.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

int turns_in(SendTurns& turns, Tick first, Tick ticks) {
  int count = 0;
  for (Tick tick = first; tick != first + ticks; ++tick) {
    if (!turns.is_due(tick)) continue;
    ++count;
    turns.take();
  }
  return count;
}

TEST(SendTurns, ComeAtTheirRate) {
  ServerConfig config;
  for (const double rate_hz : {0.5, 7.0, 10.0, 45.0, 60.0, 1000.0}) {
    config.send_rate_hz = rate_hz;
    for (std::uint32_t client = 1; client < 20; ++client) {
      SendTurns turns{{client}, config};
      EXPECT_NEAR(turns_in(turns, 1000, 1200), 20.0 * std::min(rate_hz, 60.0), 1.0) << rate_hz;
      EXPECT_NEAR(turns.interval_s(), 1.0 / std::min(rate_hz, 60.0), 1e-12);
    }
  }
}

TEST(SendTurns, EveryTickIsATurnWithoutARate) {
  SendTurns turns{{1}, ServerConfig{}};
  EXPECT_EQ(turns_in(turns, 0, 600), 600);
  EXPECT_EQ(turns.mean_wait_s(), 0.0);
}

TEST(SendTurns, ClientsHaveTurnsInDifferentTicks) {
  ServerConfig config;
  config.send_rate_hz = 10.0;
  std::vector<int> clients_in_tick(6);
  for (std::uint32_t client = 1; client <= 600; ++client) {
    SendTurns turns{{client}, config};
    for (Tick tick = 0; tick < 6; ++tick) {
      if (turns.is_due(tick)) ++clients_in_tick[tick];
      turns.take();
    }
  }
  for (const int clients : clients_in_tick)
    EXPECT_NEAR(clients, 100, 5);
}

TEST(SendTurns, ExplainWaitsOfLessThanAnInterval) {
  ServerConfig config;
  EXPECT_FALSE((SendTurns{{1}, config}.explains(1.0 / 60)));
  config.send_rate_hz = 10.0;
  EXPECT_TRUE((SendTurns{{1}, config}.explains(5.0 / 60)));
  EXPECT_FALSE((SendTurns{{1}, config}.explains(6.0 / 60)));
}

TEST(SendTurns, MissedTurnIsNotLost) {
  ServerConfig config;
  config.send_rate_hz = 1.0;
  SendTurns turns{{1}, config};
  Tick tick = 0;
  while (!turns.is_due(tick))
    ++tick;
  EXPECT_TRUE(turns.is_due(tick + 1));  // the server was late and wrote nothing
  turns.take();
  EXPECT_FALSE(turns.is_due(tick + 2));
}

struct Seen {
  double datagrams_per_s = 0.0;
  double worst_m = 0.0;
};

// Shows circling bodies to a client that shows the past.
Seen watch(double send_rate_hz, double delay_s) {
  WorldConfig config{.links = network("lan")};
  config.server.send_rate_hz = send_rate_hz;
  World world(config);
  std::map<EntityId, Circle> paths;
  for (int i = 0; i < 10; ++i) {
    const Circle path{.radius_m = 4.0, .turn_rps = 2.0, .phase_rad = 0.6 * i};
    paths[world.add_body(path)] = path;
  }
  ClientConfig client;
  client.playout.mode = PlayoutMode::delayed;
  client.playout.delay_s = delay_s;
  world.add_client(client);
  world.run_to(5.0);
  Seen seen;
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity> shown) {
    ASSERT_EQ(shown.size(), paths.size());
    for (const ShownEntity& e : shown) {
      const State truth = paths.at(e.id)(e.shown_time_s);
      seen.worst_m = std::max(seen.worst_m, glm::distance(e.shown.position, truth.position));
    }
  };
  const std::uint64_t before = world.server().stats().datagrams_sent;
  world.run_to(25.0);
  seen.datagrams_per_s = static_cast<double>(world.server().stats().datagrams_sent - before) / 20.0;
  return seen;
}

TEST(SendRate, LimitsDatagramsAndLongerDelayKeepsTheError) {
  const Seen slow = watch(5.0, 0.4);
  EXPECT_LE(slow.datagrams_per_s, 5.1);
  EXPECT_GE(slow.datagrams_per_s, 4.8);
  EXPECT_LE(slow.worst_m, 0.06);  // the threshold and the error of the client's clock
  EXPECT_GT(watch(0.0, 0.4).datagrams_per_s, 25.0);
}

TEST(SendRate, UnreliableMessagesDoNotWait) {
  WorldConfig config{.links = both_ways({.latency_ms = 20.0})};
  config.server.send_rate_hz = 1.0;
  World world(config);
  world.add_body(Circle{});
  const std::size_t player = world.add_client();
  world.run_to(5.0);
  ClientId id;
  for (const ServerEvent& event : world.server_events()) {
    if (event.kind == ServerEvent::Kind::client_joined) id = event.client;
  }
  double sent_s = 0.0;
  double worst_s = 0.0;
  int arrived = 0;
  world.after_tick = [&](double time_s) {
    if (time_s - sent_s < 0.3) return;
    sent_s = time_s;
    const std::byte message[4]{};
    EXPECT_TRUE(world.server().send(id, message, Delivery::unreliable));
  };
  world.on_frame = [&](std::size_t, double now_s, std::span<const ShownEntity>) {
    while (world.client(player).poll_message()) {
      worst_s = std::max(worst_s, now_s - sent_s);
      ++arrived;
    }
  };
  world.run_to(15.0);
  EXPECT_GT(arrived, 25);
  EXPECT_LT(worst_s, 0.08);  // the link, a tick and a frame
}

}  // namespace
}  // namespace reckoner::test
