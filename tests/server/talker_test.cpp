// SPDX-License-Identifier: MIT
// Games pass reliable messages on. Clients that send as many as they can must disturb nobody's motions.
#include "net/src/messages/messages.hpp"
#include "tests/support/forged_client.hpp"
#include "tests/support/watched_bodies.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kTalkFromS = 6.0, kTalkToS = 11.0, kEndS = 40.0;
constexpr int kBodies = 60;

struct Talk {
  std::string name;
  std::size_t talkers = 1;
  std::size_t bytes = 200;
  Delivery delivery = Delivery::reliable;
  std::size_t bytes_per_second = 256'000;
  harness::LinkOptions link{.latency_ms = 30.0, .jitter_ms = 5.0};
  bool ignores_the_window = false;  // the talker's program is not Reckoner's
  // The link carries the talk and the motions together only just, and the server has to find that out.
  bool is_too_slow = false;
};

// What a client that does not talk saw from the first message until long after the last one.
struct Seen {
  double error_m_p95 = 0.0;
  double error_m_p99 = 0.0;
  double spawn_s = 0.0;    // until an entity that spawned during the talk was shown
  double message_s = 0.0;  // the longest time that a message of a third client, or of the game, took
  int messages = 0;
  std::uint64_t relayed = 0;
  std::uint64_t refused = 0;  // messages of clients
};

// Sends as many messages as it can over the client's interface.
void talk(World& world, std::size_t talker, const Talk& how) {
  const Bytes text(how.bytes, std::byte{7});
  for (int i = 0; i < 200 && world.client(talker).send(text, how.delivery); ++i) {
  }
}

// Sends as many messages without that interface.
void talk(ForgedClient& talker, const Talk& how) {
  const Bytes message = encoded_message(GameDataMessage{Bytes(how.bytes, std::byte{7}), std::nullopt});
  for (int i = 0; i < 200; ++i)
    talker.send(message);
}

Seen play(const Talk& how, bool talks) {
  WorldConfig config;
  config.links = both_ways(how.link);
  config.server.bytes_per_second = how.bytes_per_second;
  World world(config);
  const WatchedBodies bodies(world, kBodies);
  const std::size_t watcher = world.add_client();
  world.run_to(0.5);         // it is the first of Server::clients()
  ForgedClient rude(world);  // only joins if the talker ignores the window
  if (how.ignores_the_window) rude.join();
  for (std::size_t i = 0; i < how.talkers && !how.ignores_the_window; ++i)
    world.add_client();
  const std::size_t polite = world.add_client();
  Seen seen;
  EntityId late_body;
  SameTimeErrors errors;
  constexpr std::byte kPolite{9};
  constexpr double kEveryS = 0.5;
  double next_s = kTalkFromS;
  world.after_tick = [&](double time_s) {
    while (const auto message = world.server().poll_message()) {
      ++seen.relayed;
      for (const ClientId to : world.server().clients()) {
        const bool kept = message->payload[0] == kPolite;
        if (to != message->sender)
          (void)world.server().send(to, message->payload, kept ? Delivery::reliable : how.delivery);
      }
    }
    const bool now = talks && time_s >= kTalkFromS && time_s < kTalkToS;
    if (how.ignores_the_window) {
      rude.service();
      if (now) talk(rude, how);
    }
    for (std::size_t i = 1; now && i <= how.talkers && !how.ignores_the_window; ++i)
      talk(world, i, how);
    if (time_s > 9.0 && !late_body) late_body = world.add_body(Still{});
    // The other client and the game say something now and then. The bytes are the time.
    if (time_s < next_s || time_s > kTalkToS) return;
    Bytes text(1 + sizeof time_s, kPolite);
    std::memcpy(&text[1], &time_s, sizeof time_s);
    EXPECT_TRUE(world.client(polite).send(text, Delivery::reliable));
    EXPECT_TRUE(world.server().send(world.server().clients().front(), text, Delivery::reliable));
    next_s += kEveryS;
  };
  world.on_frame = [&](std::size_t client, double time_s, std::span<const ShownEntity>) {
    if (client != watcher) return;
    while (const auto message = world.client(watcher).poll_message()) {
      if (message->payload[0] != kPolite) continue;
      double sent_s = 0.0;
      std::memcpy(&sent_s, &message->payload[1], sizeof sent_s);
      seen.message_s = std::max(seen.message_s, time_s - sent_s);
      ++seen.messages;
    }
    if (late_body && seen.spawn_s == 0.0 && world.shown(watcher, late_body) != nullptr)
      seen.spawn_s = time_s - 9.0;
    if (time_s >= kTalkFromS) bodies.look(watcher, time_s, errors);
  };
  world.run_to(kEndS);
  seen.refused = world.server().stats().refusals[Refusal::too_many];
  seen.error_m_p95 = errors.quantile(0.95);
  seen.error_m_p99 = errors.quantile(0.99);
  return seen;
}

class Talkers : public testing::TestWithParam<Talk> {};

TEST_P(Talkers, DisturbNobodysMotions) {
  const Talk& how = GetParam();
  const Seen quiet = play(how, false);
  const Seen loud = play(how, true);
  RecordProperty("p99_quiet_m", std::to_string(quiet.error_m_p99));
  RecordProperty("p99_m", std::to_string(loud.error_m_p99));
  std::printf(
      "%-22s p95 %.4f -> %.4f m, p99 %.4f -> %.4f m, spawn after %.2f s, messages after %.2f s, %llu "
      "relayed\n",
      how.name.c_str(), quiet.error_m_p95, loud.error_m_p95, quiet.error_m_p99, loud.error_m_p99,
      loud.spawn_s, loud.message_s, static_cast<unsigned long long>(loud.relayed));
  EXPECT_GT(loud.relayed, 50u);  // honest messages are not refused altogether
  if (how.ignores_the_window) {
    EXPECT_GT(loud.refused, 50'000u) << "the messages have to reach the server";
  } else if (how.delivery == Delivery::reliable) {
    EXPECT_EQ(loud.refused, 0u);
  }
  if (how.is_too_slow) {
    EXPECT_LE(loud.error_m_p95, 0.3);  // tens of metres before messages had a share of their own
    EXPECT_LE(loud.error_m_p99, 1.0);
  } else {
    EXPECT_LE(loud.error_m_p95, 1.1 * quiet.error_m_p95);
    EXPECT_LE(loud.error_m_p99, 1.1 * quiet.error_m_p99);
  }
  EXPECT_GT(loud.spawn_s, 0.0);
  EXPECT_LT(loud.spawn_s, 1.0);
  EXPECT_EQ(loud.messages, quiet.messages) << "none is lost";
  EXPECT_GT(loud.messages, 15);
  EXPECT_LT(loud.message_s, 3.0);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Talkers,
    testing::Values(Talk{.name = "Texts"}, Talk{.name = "Bytes", .bytes = 1},
                    Talk{.name = "Large", .bytes = kMaxReliableBytes}, Talk{.name = "Three", .talkers = 3},
                    Talk{.name = "TightBudget", .bytes_per_second = 64'000},
                    Talk{.name = "Unreliable", .delivery = Delivery::unreliable},
                    Talk{.name = "SlowLink",
                         .link = {.latency_ms = 40.0, .rate_kbps = 512.0, .queue_ms = 500.0},
                         .is_too_slow = true},
                    Talk{.name = "Lossy",
                         .link = {.latency_ms = 40.0, .jitter_ms = 10.0, .loss_percent = 2.0}},
                    Talk{.name = "IgnoresTheWindow", .ignores_the_window = true}),
    [](const auto& one) { return one.param.name; });

// A client that sends more than the rates allow, over a link that fails for a while.
TEST(MessageRates, SlowDownAClientThatLosesNothing) {
  for (const char* script : {"", "4 loss=100\n7 loss=0\n", "4 loss=100\n20 loss=0\n"}) {
    WorldConfig config;
    config.links = both_ways({.latency_ms = 40.0, .jitter_ms = 4.0});
    config.script = script;
    config.silence_timeout_s = 10.0;
    World world(config);
    world.add_dialing_client();
    world.run_to(2.0);
    std::uint32_t sent = 0, next = 0, most_in_a_second = 0;
    std::vector<std::uint32_t> passed;  // by tick
    world.after_tick = [&](double time_s) {
      passed.push_back(next);
      while (const auto message = world.server().poll_message()) {
        std::uint32_t number = 0;
        std::memcpy(&number, message->payload.data(), sizeof number);
        ASSERT_EQ(number, next++) << time_s;
      }
      if (passed.size() > 60)
        most_in_a_second = std::max(most_in_a_second, next - passed[passed.size() - 60]);
      for (int i = 0; i < 8 && time_s < 9.0; ++i) {
        Bytes text(20);
        std::memcpy(text.data(), &sent, sizeof sent);
        sent += world.client(0).send(text, Delivery::reliable) ? 1 : 0;
      }
    };
    world.run_to(60.0);
    EXPECT_GT(sent, 3000u);
    EXPECT_EQ(next, sent) << script;
    EXPECT_LE(most_in_a_second, 256u + 128u + 2u);
    EXPECT_EQ(world.server().stats().messages_refused, 0u);
    EXPECT_EQ(world.client(0).stats().messages_abandoned, 0u);
  }
}

TEST(MessageRates, CanBeRemoved) {
  WorldConfig config{.links = both_ways({.latency_ms = 10.0})};
  config.server.client_messages_per_second = 0.0;
  config.server.client_message_bytes_per_second = 0;
  World world(config);
  const std::size_t client = world.add_client();
  world.run_to(1.0);
  std::size_t sent = 0, arrived = 0;
  world.after_tick = [&](double time_s) {
    while (world.server().poll_message())
      ++arrived;
    for (int i = 0; i < 20 && time_s < 4.0; ++i)
      sent += world.client(client).send(Bytes(100), Delivery::reliable) ? 1 : 0;
  };
  world.run_to(4.5);
  EXPECT_GT(sent, 3000u);
  EXPECT_EQ(arrived, sent);
}

// What the game said before it ended a session arrives, also if it had to wait for the byte budget.
TEST(MessageRates, WaitingMessagesArriveBeforeAKickAndAShutdown) {
  for (const bool kicks : {true, false}) {
    WorldConfig config{.links = both_ways({.latency_ms = 10.0})};
    World world(config);
    const std::size_t client = world.add_client();
    world.run_to(1.0);
    for (int i = 0; i < 10; ++i)
      ASSERT_TRUE(world.server().send(world.server().clients().front(), Bytes(2000), Delivery::reliable));
    if (kicks) {
      ASSERT_TRUE(world.server().kick(world.server().clients().front(), "enough"));
    } else {
      world.server().shutdown();
    }
    world.run_to(2.0);
    EXPECT_EQ(world.client(client).stats().messages_received, 10u);
  }
}

}  // namespace
}  // namespace reckoner::test
