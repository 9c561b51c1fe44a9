// SPDX-License-Identifier: MIT
// Server::session_stats(): the figures of single clients.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <array>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

TEST(SessionStats, MeasureTheLinkOfEachClient) {
  World world({.links = both_ways({.latency_ms = 5})});
  for (int i = 0; i < 50; ++i)
    world.add_body(Circle{.turn_rps = 1.0 + 0.01 * i, .centre = {20.0 * i, 0.0, 0.0}});
  world.add_client();
  world.run_to(1.0);
  world.add_client({}, {}, both_ways({.latency_ms = 60, .jitter_ms = 10, .loss_percent = 5}));
  world.run_to(2.0);
  world.add_client({}, {}, both_ways({.latency_ms = 30, .rate_kbps = 12, .queue_ms = 500}));
  world.run_to(40.0);

  const auto ids = world.server().clients();
  ASSERT_EQ(ids.size(), 3u);
  std::array<SessionStats, 3> stats;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto found = world.server().session_stats(ids[i]);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->client, ids[i]);
    EXPECT_TRUE(found->connected);
    EXPECT_EQ(found->entities, 50u);
    EXPECT_EQ(found->queued_messages, 0u);
    stats[i] = *found;
  }
  const auto& [near, lossy, slow] = stats;
  EXPECT_NEAR(near.round_trip_s, 0.010, 0.020) << "answers wait for frames";
  EXPECT_LT(near.loss, 0.001);
  EXPECT_EQ(near.datagrams_lost, 0u);
  EXPECT_LT(near.sent_age_s, 0.005);
  EXPECT_EQ(near.behind_s, 0.0);
  EXPECT_EQ(near.queued_motions, 0u);
  EXPECT_GT(near.budget_bytes_per_second, 2.0 * near.sent_bytes_per_second);

  EXPECT_NEAR(lossy.round_trip_s, 0.136, 0.025) << "twice 60 ms, and the mean of |N| times 10 ms";
  EXPECT_GT(lossy.round_trip_deviation_s, near.round_trip_deviation_s);
  EXPECT_NEAR(lossy.loss, 0.05, 0.04);
  EXPECT_NEAR(static_cast<double>(lossy.datagrams_lost), 0.05 * static_cast<double>(lossy.datagrams_sent),
              0.02 * static_cast<double>(lossy.datagrams_sent));

  EXPECT_LT(slow.budget_bytes_per_second, 2500.0) << "the link carries 1500 bytes/s";
  EXPECT_GT(slow.sent_age_s, 0.03);
  EXPECT_GT(slow.behind_s, 0.05);
  EXPECT_GT(slow.queued_motions, 5u);
  EXPECT_LT(slow.motions_sent, near.motions_sent);
}

// Except for acknowledgements and other traffic of ENet.
TEST(SessionStats, CountTheBytesOnTheWire) {
  World world({.links = both_ways({.latency_ms = 20, .loss_percent = 1}), .log_packets = true});
  for (int i = 0; i < 50; ++i)
    world.add_body(Circle{.turn_rps = 1.0 + 0.01 * i, .centre = {20.0 * i, 0.0, 0.0}});
  world.add_client();
  world.run_to(20.0);
  double all = 0.0, last_second = 0.0;
  for (const harness::PacketRecord& p : world.network().packets()) {
    if (!p.down) continue;
    all += static_cast<double>(p.wire_bytes);
    if (p.sent_s > world.now_s() - 1.0) last_second += static_cast<double>(p.wire_bytes);
  }
  const auto stats = world.server().session_stats(world.server().clients()[0]);
  ASSERT_TRUE(stats);
  EXPECT_NEAR(stats->sent_bytes_per_second, last_second, 0.1 * last_second);
  EXPECT_NEAR(static_cast<double>(stats->bytes_sent), all, 0.03 * all);
}

TEST(SessionStats, CountMessagesThatAreNotConfirmed) {
  World world({.links = both_ways({.latency_ms = 100})});
  world.add_client();
  world.run_to(3.0);
  const ClientId client = world.server().clients()[0];
  const std::array<std::byte, 100> payload{};
  for (int i = 0; i < 7; ++i)
    EXPECT_TRUE(world.server().send(client, payload, Delivery::reliable));
  world.run_to(3.05);
  EXPECT_EQ(world.server().session_stats(client)->queued_messages, 7u);
  EXPECT_GE(world.server().session_stats(client)->queued_message_bytes, 700u);
  world.run_to(4.0);
  EXPECT_EQ(world.server().session_stats(client)->queued_messages, 0u);
}

TEST(SessionStats, KnowLostClientsAndNoOthers) {
  World world({.links = both_ways({.latency_ms = 10}), .silence_timeout_s = 2.0});
  world.add_dialing_client();
  world.run_to(3.0);
  const ClientId client = world.server().clients()[0];
  EXPECT_FALSE(world.server().session_stats(ClientId{77}));
  world.kill_client(0);
  world.run_to(8.0);
  const auto lost = world.server().session_stats(client);
  ASSERT_TRUE(lost);
  EXPECT_FALSE(lost->connected);
  EXPECT_EQ(lost->sent_bytes_per_second, 0.0);
  world.run_to(80.0);
  EXPECT_FALSE(world.server().session_stats(client)) << "the session has ended";
  EXPECT_TRUE(world.server().clients().empty());
}

}  // namespace
}  // namespace reckoner::test
