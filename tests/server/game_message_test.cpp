// SPDX-License-Identifier: MIT
// Game messages in both directions, over simulated links.
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "tests/support/forged_client.hpp"
#include "tests/support/forged_stream.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

Bytes numbered(std::uint32_t number, std::size_t size = 4) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < 4; ++i)
    bytes[i] = static_cast<std::byte>(number >> (8 * i));
  return bytes;
}

std::uint32_t number_of(const GameMessage& message) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number |= std::to_integer<std::uint32_t>(message.payload[i]) << (8 * i);
  return number;
}

// For tests of the queues behind the rates of messages from one client (talker_test.cpp).
WorldConfig without_message_rates(WorldConfig config) {
  config.server.client_messages_per_second = 0.0;
  config.server.client_message_bytes_per_second = 0;
  return config;
}

ClientId client_id(const World& world, std::size_t i) {
  std::vector<ClientId> ids;
  for (const ServerEvent& event : world.server_events()) {
    if (event.kind == ServerEvent::Kind::client_joined) ids.push_back(event.client);
  }
  return i < ids.size() ? ids[i] : ClientId{};
}

TEST(GameMessages, ReliableMessagesArriveInOrderDespiteLoss) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 50.0, .jitter_ms = 20.0, .loss_percent = 20.0});
  World world(config);
  const std::size_t player = world.add_client();
  const EntityId id = world.add_body(Circle{});
  world.run_to(2.0);
  std::vector<std::uint32_t> at_client;
  std::vector<std::uint32_t> at_server;
  std::uint32_t next = 0;
  world.after_tick = [&](double) {
    while (const auto message = world.server().poll_message()) {
      EXPECT_EQ(message->sender, client_id(world, 0));
      EXPECT_EQ(message->payload.size(), 4 + number_of(*message) % 3000);
      at_server.push_back(number_of(*message));
    }
    if (next == 200) return;
    const Bytes payload = numbered(next, 4 + next % 3000);
    EXPECT_TRUE(world.server().send(client_id(world, 0), payload, Delivery::reliable));
    EXPECT_TRUE(world.client(player).send(payload, Delivery::reliable));
    if (next % 10 == 0) world.add_body(Still{});
    ++next;
  };
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity>) {
    while (const auto message = world.client(player).poll_message()) {
      EXPECT_FALSE(message->sender);
      EXPECT_FALSE(message->time_s);
      at_client.push_back(number_of(*message));
    }
  };
  world.run_to(60.0);
  ASSERT_EQ(at_client.size(), 200u);
  ASSERT_EQ(at_server.size(), 200u);
  for (std::uint32_t i = 0; i < 200; ++i) {
    EXPECT_EQ(at_client[i], i);
    EXPECT_EQ(at_server[i], i);
  }
  EXPECT_EQ(world.server().stats().malformed + world.client(player).stats().malformed, 0u);
  // Both ends still count the same number of messages: the state of the newest spawns is sent.
  EXPECT_EQ(world.shown(player).size(), 21u);
  EXPECT_NE(world.shown(player, id), nullptr);
}

TEST(GameMessages, UnreliableMessagesArriveWithTheNextDatagramAtMostOnce) {
  for (const double loss_percent : {0.0, 25.0}) {
    WorldConfig config;
    config.links = both_ways({.latency_ms = 40.0, .loss_percent = loss_percent, .duplicate_percent = 50.0});
    config.server.follow_link = false;  // this test does not cover how loss lowers the budget
    World world(config);
    const std::size_t player = world.add_client();
    world.add_body(Circle{});
    world.run_to(2.0);
    std::map<std::uint32_t, double> sent;
    std::map<std::uint32_t, int> at_client;
    std::map<std::uint32_t, int> at_server;
    std::uint32_t next = 0;
    world.after_tick = [&](double time_s) {
      while (const auto message = world.server().poll_message()) {
        ++at_server[number_of(*message)];
        EXPECT_LT(time_s - sent[number_of(*message)], 0.08);
      }
      if (time_s > 7.0) return;
      const Bytes payload = numbered(next, 4 + next % 200);
      sent[next] = time_s;
      EXPECT_EQ(world.server().broadcast(payload, Delivery::unreliable), 1u);
      EXPECT_TRUE(world.client(player).send(payload, Delivery::unreliable));
      ++next;
    };
    world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity>) {
      while (const auto message = world.client(player).poll_message()) {
        EXPECT_EQ(message->payload.size(), 4 + number_of(*message) % 200);
        ++at_client[number_of(*message)];
        EXPECT_LT(time_s - sent[number_of(*message)], 0.08);  // one-way delay, a tick, a frame
      }
    };
    world.run_to(8.0);
    for (const auto* arrived : {&at_client, &at_server}) {
      const double share = static_cast<double>(arrived->size()) / next;
      EXPECT_GE(share, loss_percent == 0.0 ? 1.0 : 0.6);
      EXPECT_LE(share, loss_percent == 0.0 ? 1.0 : 0.9);
      for (const auto& [number, times] : *arrived)
        EXPECT_EQ(times, 1);
    }
    EXPECT_EQ(world.server().stats().messages_sent, next);
    EXPECT_EQ(world.server().stats().messages_dropped, 0u);
    EXPECT_EQ(world.client(player).stats().messages_sent, next);
  }
}

TEST(GameMessages, StampedMessageIsDeliveredWhenItsTimeIsShown) {
  for (const Delivery delivery : {Delivery::reliable, Delivery::unreliable}) {
    World world({.links = both_ways({.latency_ms = 30.0})});
    ClientConfig client_config;
    client_config.playout.mode = PlayoutMode::delayed;
    client_config.playout.delay_s = 0.25;
    const std::size_t player = world.add_client(client_config);
    world.add_body(Circle{});
    world.run_to(2.0);
    std::map<std::uint32_t, double> stamps;
    std::uint32_t next = 0;
    world.after_tick = [&](double time_s) {
      if (time_s > 5.0 || next > 4 * time_s) return;
      // The stamp is now, in the future, or so old that the message is already late.
      stamps[next] = time_s + (next % 3 == 0 ? 0.0 : next % 3 == 1 ? 0.4 : -2.0);
      EXPECT_TRUE(world.server().send(client_id(world, 0), numbered(next), delivery, stamps[next]));
      ++next;
    };
    double shown_before_s = 0.0;
    std::size_t arrived = 0;
    world.on_frame = [&](std::size_t, double, std::span<const ShownEntity> shown) {
      if (shown.empty()) return;
      while (const auto message = world.client(player).poll_message()) {
        const double stamp_s = stamps.at(number_of(*message));
        EXPECT_EQ(message->time_s, stamp_s);
        EXPECT_LE(stamp_s, shown[0].shown_time_s);
        const bool was_late = number_of(*message) % 3 == 2;
        EXPECT_TRUE(was_late || stamp_s > shown_before_s - 1e-9);
        ++arrived;
      }
      shown_before_s = shown[0].shown_time_s;
    };
    world.run_to(7.0);
    EXPECT_EQ(arrived, next);
    EXPECT_GT(next, 15u);
  }
}

TEST(GameMessages, ServerReceivesTheClientsTimeStamp) {
  World world({.links = both_ways({.latency_ms = 30.0})});
  const std::size_t player = world.add_client();
  world.run_to(1.0);
  EXPECT_TRUE(world.client(player).send(numbered(1), Delivery::unreliable, 0.1));
  // The server delivers the message without waiting for its time.
  EXPECT_TRUE(world.client(player).send(numbered(2), Delivery::reliable, 1e6));
  world.run_to(1.5);
  std::map<std::uint32_t, std::optional<double>> stamps;
  while (const auto message = world.server().poll_message())
    stamps[number_of(*message)] = message->time_s;
  EXPECT_EQ(stamps[1], 0.1);
  EXPECT_EQ(stamps[2], 1e6);
}

TEST(GameMessages, RefusesMessagesThatCannotBeSent) {
  World world({.links = both_ways({.latency_ms = 10.0})});
  const std::size_t player = world.add_client();
  EXPECT_FALSE(world.client(player).send(numbered(1), Delivery::reliable));  // not joined yet
  EXPECT_FALSE(world.server().send({1}, numbered(1), Delivery::reliable));
  EXPECT_EQ(world.server().broadcast(numbered(1), Delivery::reliable), 0u);
  world.run_to(1.0);
  const ClientId id = client_id(world, 0);
  for (const Delivery delivery : {Delivery::reliable, Delivery::unreliable}) {
    const Bytes largest(max_message_bytes(delivery));
    const Bytes too_large(largest.size() + 1);
    EXPECT_TRUE(world.server().send(id, largest, delivery));
    EXPECT_TRUE(world.client(player).send(largest, delivery));
    for (const auto& payload : {Bytes{}, too_large}) {
      EXPECT_FALSE(world.server().send(id, payload, delivery));
      EXPECT_FALSE(world.client(player).send(payload, delivery));
    }
    EXPECT_FALSE(world.server().send(id, numbered(1), delivery, std::nan("")));
    EXPECT_FALSE(world.client(player).send(numbered(1), delivery, 1e300));
    EXPECT_FALSE(world.server().send({99}, numbered(1), delivery));
  }
  world.run_to(2.0);
  EXPECT_EQ(world.server().stats().messages_received, 2u);
  EXPECT_EQ(world.client(player).stats().messages_received, 2u);
}

// Game messages use at most half of a tight budget.
TEST(GameMessages, UnreliableMessagesBeyondTheBudgetAreDroppedAndCounted) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 30.0});
  config.server.bytes_per_second = 20'000;
  World world(config);
  const std::size_t player = world.add_client();
  for (int i = 0; i < 20; ++i)
    world.add_body(Circle{.turn_rps = 1.0 + 0.1 * i});
  world.run_to(3.0);
  const std::uint64_t updates_before = world.client(player).stats().updates_applied;
  std::uint64_t asked = 0;
  world.after_tick = [&](double time_s) {
    if (time_s < 13.0 &&
        world.server().send(client_id(world, 0), Bytes(kMaxUnreliableBytes), Delivery::unreliable))
      ++asked;
  };
  std::uint64_t arrived = 0;
  world.on_frame = [&](std::size_t, double, std::span<const ShownEntity>) {
    while (world.client(player).poll_message())
      ++arrived;
  };
  world.run_to(14.0);
  EXPECT_EQ(world.server().stats().messages_sent + world.server().stats().messages_dropped, asked);
  EXPECT_EQ(arrived, world.server().stats().messages_sent);
  EXPECT_GT(arrived, 80u);  // a budget of 10 kB/s would allow 100
  EXPECT_LT(arrived, 110u);
  EXPECT_GT(world.client(player).stats().updates_applied, updates_before + 10 * 20 * 2);
}

// While the game does not poll, the sender has to wait. Other clients do not.
TEST(GameMessages, UnpolledMessagesHoldBackOnlyTheirSender) {
  World world(without_message_rates({.links = both_ways({.latency_ms = 10.0})}));
  const std::size_t busy = world.add_client();
  const std::size_t player = world.add_client();
  world.run_to(1.0);
  constexpr std::uint32_t kAll = 200;  // 3.2 MB, which the client keeps
  for (std::uint32_t i = 0; i < kAll; ++i)
    EXPECT_TRUE(world.client(busy).send(numbered(i, kMaxReliableBytes), Delivery::reliable));
  while (world.client(busy).send(numbered(0, kMaxReliableBytes), Delivery::reliable)) {
  }
  EXPECT_GT(world.client(busy).stats().messages_dropped, 0u);
  EXPECT_TRUE(world.client(player).send(numbered(5), Delivery::reliable));
  world.run_to(4.0);
  const ServerStats& stats = world.server().stats();
  EXPECT_GT(stats.messages_received, 7u);
  EXPECT_LE(stats.messages_received, 16u + 1u);
  std::uint32_t next = 0;
  std::size_t of_player = 0;
  world.after_tick = [&](double) {
    while (const auto message = world.server().poll_message()) {
      if (message->sender == client_id(world, 1)) {
        ++of_player;
      } else if (next < kAll) {
        EXPECT_EQ(number_of(*message), next++);
      }
    }
  };
  world.run_to(14.0);
  EXPECT_EQ(next, kAll);
  EXPECT_EQ(of_player, 1u);
  EXPECT_EQ(stats.messages_refused, 0u);
}

// The hostile client sends more than a real client's code would allow.
TEST(GameMessages, FloodIsBoundedAndDoesNotAffectOthers) {
  World world(without_message_rates({.links = both_ways({.latency_ms = 10.0})}));
  const std::size_t player = world.add_client();
  ForgedClient hostile(world);
  hostile.join();
  world.run_to(1.0);
  const Bytes large = encoded_message(GameDataMessage{Bytes(kMaxReliableBytes), std::nullopt});
  for (int i = 0; i < 100; ++i)
    hostile.send(large);
  EXPECT_TRUE(world.client(player).send(numbered(5), Delivery::reliable));
  world.run_to(4.0);
  const ServerStats& stats = world.server().stats();
  EXPECT_EQ(stats.messages_received, 16u + 1u);
  EXPECT_EQ(stats.messages_refused, 84u);
  EXPECT_EQ(stats.refusals[Refusal::too_many], 84u);
  EXPECT_EQ(stats.malformed, 0u);
  std::size_t of_player = 0;
  while (const auto message = world.server().poll_message())
    of_player += message->sender == client_id(world, 0) ? 1 : 0;
  EXPECT_EQ(of_player, 1u);
  hostile.send(large);  // there is room again
  world.run_to(5.0);
  EXPECT_EQ(stats.messages_received, 18u);
}

// The hostile client leaves out the first byte of its stream, so that the server has to keep what follows. It
// keeps 160 KiB and refuses the rest before it copies anything.
TEST(GameMessages, FloodBehindAGapIsBoundedAndDoesNotAffectOthers) {
  constexpr std::size_t kKept = 160 * 1024;
  World world(without_message_rates({.links = both_ways({.latency_ms = 10.0})}));
  const std::size_t player = world.add_client();
  ForgedClient hostile(world);
  hostile.join();
  world.run_to(1.0);
  Bytes stream;
  for (int i = 0; i < 100; ++i)
    append_message(stream, encoded_message(GameDataMessage{Bytes(kMaxReliableBytes), std::nullopt}));
  const auto first = std::span(stream).first(kKept), beyond = std::span(stream).subspan(kKept);
  hostile.send_bytes_at(1, first.subspan(1));
  const std::size_t refused = hostile.send_bytes_at(kKept, beyond);
  EXPECT_GT(refused, 1400u);
  EXPECT_TRUE(world.client(player).send(numbered(5), Delivery::reliable));
  world.run_to(4.0);
  const ServerStats& stats = world.server().stats();
  EXPECT_EQ(stats.messages_received, 1u);
  EXPECT_EQ(stats.refusals[Refusal::beyond_limits], refused);
  EXPECT_EQ(stats.malformed, refused);
  EXPECT_EQ(stats.messages_refused, 0u);
  const auto message = world.server().poll_message();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->sender, client_id(world, 0));
  // The stream goes on when the gap is filled: nine messages are complete within the first 160 KiB.
  hostile.send_bytes_at(0, first.first(1));
  world.run_to(4.5);
  EXPECT_EQ(stats.messages_received, 1u + 9u);
  hostile.send_bytes_at(kKept, beyond.first(20'000));
  world.run_to(5.0);
  EXPECT_EQ(stats.messages_received, 1u + 11u);
  EXPECT_EQ(stats.malformed, refused);
}

struct Silence {
  const char* name;
  const char* script;
  double resume_s;
};
class BacklogAfterSilence : public testing::TestWithParam<Silence> {};

// The client postpones more messages than a server keeps for one client. When the link works again, they
// arrive in portions and in order.
TEST_P(BacklogAfterSilence, ArrivesInPortionsAndInOrder) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 40.0, .jitter_ms = 4.0});
  config.script = GetParam().script;
  config.silence_timeout_s = 10.0;
  config.server.resume_s = GetParam().resume_s;
  World world(without_message_rates(config));
  world.add_dialing_client();
  world.run_to(3.0);
  std::uint32_t sent = 0, next = 0, most_at_once = 0;
  world.after_tick = [&](double time_s) {
    const std::uint32_t before = next;
    while (const auto message = world.server().poll_message())
      ASSERT_EQ(number_of(*message), next++) << time_s;
    most_at_once = std::max(most_at_once, next - before);
    for (int i = 0; i < 6 && time_s < 25.0; ++i)
      sent += world.client(0).send(numbered(sent), Delivery::reliable) ? 1 : 0;
  };
  world.run_to(45.0);
  EXPECT_GT(sent, 7'000u);
  EXPECT_EQ(next, sent);
  EXPECT_GT(most_at_once, 300u);  // otherwise the test proves nothing
  EXPECT_EQ(world.server().stats().messages_refused, 0u);
  EXPECT_EQ(world.client(0).stats().messages_abandoned, 0u);
}

INSTANTIATE_TEST_SUITE_P(, BacklogAfterSilence,
                         testing::Values(Silence{"OverAnotherConnection", "4 loss=100\n20 loss=0\n", 60.0},
                                         Silence{"OverTheSame", "4 loss=100\n8 loss=0\n", 60.0},
                                         Silence{"WhereNobodyIsTakenBack", "4 loss=100\n8 loss=0\n", 0.0}),
                         [](const auto& silence) { return std::string(silence.param.name); });

// A client that leaves still delivers everything that it sent before.
TEST(GameMessages, MessagesSentBeforeLeavingArrive) {
  World world({.links = both_ways({.latency_ms = 10.0})});
  const std::size_t player = world.add_client();
  world.run_to(1.0);
  constexpr std::uint32_t kAll = 700;  // more than may be in flight at a time
  for (std::uint32_t i = 0; i < kAll; ++i)
    EXPECT_TRUE(world.client(player).send(numbered(i), Delivery::reliable));
  world.client(player).leave();
  world.run_to(3.0);
  std::uint32_t next = 0;
  while (const auto message = world.server().poll_message())
    EXPECT_EQ(number_of(*message), next++);
  EXPECT_EQ(next, kAll);
}

TEST(GameMessages, ServerStopsSendingToAClientThatDoesNotPoll) {
  WorldConfig config;
  config.links = both_ways({.latency_ms = 10.0});
  config.script = "1 down loss=100\n3 down loss=0\n";
  World world(config);
  const std::size_t player = world.add_client();
  world.run_to(1.1);
  const ClientId id = client_id(world, 0);
  std::uint64_t taken = 0;
  while (taken < 100 && world.server().send(id, Bytes(kMaxReliableBytes), Delivery::reliable))
    ++taken;
  EXPECT_EQ(taken, 15u);  // one more, with all headers, would exceed 256 KiB
  EXPECT_EQ(world.server().stats().messages_dropped, 1u);
  EXPECT_TRUE(world.server().send(id, numbered(1), Delivery::unreliable));
  world.run_to(12.0);
  EXPECT_EQ(world.client(player).stats().messages_received, taken);
  EXPECT_TRUE(world.server().send(id, Bytes(kMaxReliableBytes), Delivery::reliable));
}

TEST(GameMessages, MalformedMessagesAreRefused) {
  World world({.links = both_ways({.latency_ms = 10.0})});
  const std::size_t player = world.add_client();
  PeerId from;
  world.tap(player).filter = [&](const TransportEvent& event) {
    from = event.peer;
    return true;
  };
  ForgedStream to_server(world, player, ForgedStream::End::client);
  ForgedStream to_client(world, player, ForgedStream::End::server);
  world.run_to(1.0);
  Transport& raw = world.client_transport(player);
  // The messages of this datagram are truncated. The server accepts none of them, not even the complete first
  // one.
  ClientDatagram datagram;
  datagram.sequence = 5000;
  datagram.has_messages = true;
  Bytes buffer(200);
  BitWriter writer{buffer};
  write(writer, datagram);
  write_message(writer, numbered(1), std::nullopt);
  writer.write(1, 1);
  const auto cut = writer.finish();
  raw.send(from, cut);
  world.run_to(1.2);
  EXPECT_EQ(world.server().stats().malformed, 1u);
  EXPECT_EQ(world.server().stats().messages_received, 0u);
  // An empty reliable game message.
  Bytes control(16);
  control[0] = std::byte{6};
  to_server.send(control);
  EXPECT_EQ(world.server().stats().malformed, 2u);
  EXPECT_EQ(world.server().stats().messages_received, 0u);
  to_client.send(control);
  EXPECT_EQ(world.client(player).stats().malformed, 1u);
  EXPECT_EQ(world.client(player).stats().messages_received, 0u);
}

}  // namespace
}  // namespace reckoner::test
