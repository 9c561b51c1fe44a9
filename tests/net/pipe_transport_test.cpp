// SPDX-License-Identifier: MIT
#include "net/src/transport/pipe/joined_transport.hpp"
#include "net/src/transport/pipe/pipe_message.hpp"
#include "net/src/transport/pipe/pipe_server.hpp"
#include "scenario/builtin/random.hpp"

#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/pipe_transport.hpp>

namespace reckoner::pipe {
namespace {

using Bytes = std::vector<std::byte>;
using EventKind = TransportEvent::Kind;

constexpr std::uint32_t kHost = 0x7f000001;  // 127.0.0.1

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Bytes message(Kind kind, std::span<const std::byte> body = {}, std::uint32_t reason = 0) {
  Bytes out;
  write({.kind = kind, .reason = reason, .body = body}, out);
  return out;
}

// A server whose streams keep what they are sent.
struct World {
  explicit World(PipeServerConfig config = {})
      : server(config, {.send =
                            [this](StreamId stream, std::span<const std::byte> sent, bool may_drop) {
                              if (full.contains(stream)) return false;
                              (void)may_drop;
                              streams[stream].emplace_back(sent.begin(), sent.end());
                              return true;
                            },
                        .close = [this](StreamId stream) { closed.insert(stream); },
                        .admit = [this](std::span<const std::byte> token, double) -> std::optional<Refusal> {
                          tokens.emplace_back(token.begin(), token.end());
                          return refuses ? std::optional(Refusal::wrong_token) : std::nullopt;
                        }}) {}

  PeerId join(StreamId stream) {
    EXPECT_TRUE(server.opened(stream, kHost, now_s));
    server.received(stream, message(Kind::hello, {}, kProtocolVersion), now_s);
    const auto event = server.poll();
    EXPECT_TRUE(event && event->kind == EventKind::connected && event->reason == kProtocolVersion);
    return event ? event->peer : PeerId{};
  }

  std::map<StreamId, std::deque<Bytes>> streams;
  std::set<StreamId> closed;
  std::set<StreamId> full;
  std::vector<Bytes> tokens;
  bool refuses = false;
  double now_s = 0.0;
  PipeServer server;
};

TEST(PipeMessage, WhatIsReadIsWrittenAgain) {
  scenario::Random random(1);
  std::size_t valid = 0;
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes(random.below(i % 10 == 0 ? 2000 : 12));
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>(random.below(i % 2 == 0 ? 8 : 256));
    const auto read_message = read(bytes);
    if (!read_message) continue;
    ++valid;
    Bytes again;
    write(*read_message, again);
    EXPECT_EQ(again, bytes);
  }
  EXPECT_GT(valid, 1000u);
}

TEST(PipeMessage, RefusesWrongSizesAndKinds) {
  EXPECT_FALSE(read({}));
  EXPECT_FALSE(read(message(Kind::control)));
  EXPECT_FALSE(read(message(Kind::state, Bytes(kMaxStateBytes + 1))));
  EXPECT_FALSE(read(message(Kind::control, Bytes(kMaxControlBytes + 1))));
  EXPECT_FALSE(read(message(Kind::welcome, Bytes(1))));
  EXPECT_FALSE(read(message(Kind::hello, Bytes(7))));
  EXPECT_FALSE(read(message(Kind::status, Bytes(kMaxStatusBytes + 1))));
  EXPECT_FALSE(read(Bytes{std::byte{6}}));
  EXPECT_FALSE(read(Bytes{std::byte{4}, std::byte{0}}));  // half a reason
  EXPECT_TRUE(read(message(Kind::hello, Bytes(ConnectToken::kBytes))));
}

TEST(PipeTransport, PayloadsTravelBothWaysAfterTheWelcome) {
  World world;
  const Bytes token(ConnectToken::kBytes, std::byte{7});
  PipeTransport client(
      [&](std::span<const std::byte> sent) { return world.server.received(5, sent, 0.0), true; }, token);
  ASSERT_TRUE(world.server.opened(5, kHost, 0.0));
  client.opened();
  EXPECT_EQ(world.tokens, std::vector<Bytes>{token});
  const auto joined = world.server.poll();
  ASSERT_TRUE(joined);
  const PeerId peer = joined->peer;
  EXPECT_FALSE(client.send(PeerId{1}, Channel::state, bytes_of("early")));
  const auto deliver = [&] {
    for (const Bytes& sent : std::exchange(world.streams[5], {}))
      client.received(sent, 0.0);
  };
  deliver();
  const auto connected = client.poll();
  ASSERT_TRUE(connected && connected->kind == EventKind::connected);
  for (const Channel channel : {Channel::control, Channel::state}) {
    EXPECT_TRUE(client.send(connected->peer, channel, bytes_of("up")));
    const auto up = world.server.poll();
    ASSERT_TRUE(up);
    EXPECT_EQ(up->channel, channel);
    EXPECT_EQ(Bytes(up->payload.begin(), up->payload.end()), bytes_of("up"));
    EXPECT_TRUE(world.server.send(peer, channel, bytes_of("down")));
    deliver();
    const auto down = client.poll();
    ASSERT_TRUE(down);
    EXPECT_EQ(down->channel, channel);
    EXPECT_EQ(Bytes(down->payload.begin(), down->payload.end()), bytes_of("down"));
  }
  world.server.send_status("{}");
  deliver();
  EXPECT_EQ(client.status(), "{}");
  world.server.disconnect(peer, 9);
  deliver();
  const auto over = client.poll();
  ASSERT_TRUE(over && over->kind == EventKind::disconnected);
  EXPECT_EQ(over->reason, 9u);
  EXPECT_FALSE(client.send(connected->peer, Channel::state, bytes_of("late")));
}

TEST(PipeServer, ClosesStreamsThatDoNotJoinOrFallSilent) {
  World world;
  ASSERT_TRUE(world.server.opened(1, kHost, 0.0));
  (void)world.join(2);
  world.server.service(4.9);
  EXPECT_TRUE(world.closed.empty());
  world.server.service(5.1);
  EXPECT_EQ(world.closed, std::set<StreamId>{1});
  world.server.received(2, message(Kind::state, bytes_of("x")), 9.0);
  world.server.service(18.0);
  EXPECT_EQ(world.closed.count(2), 0u);
  world.server.service(19.1);
  EXPECT_EQ(world.closed.count(2), 1u);
  EXPECT_EQ(world.server.peers(), 0u);
}

TEST(PipeServer, RefusesAWrongTokenAndPayloadsBeforeIt) {
  World world;
  world.refuses = true;
  ASSERT_TRUE(world.server.opened(1, kHost, 0.0));
  world.server.received(1, message(Kind::state, bytes_of("x")), 0.0);
  EXPECT_EQ(world.server.stats().refusals[Refusal::unexpected], 1u);
  world.server.received(1, message(Kind::hello, Bytes(ConnectToken::kBytes)), 0.0);
  EXPECT_EQ(world.server.stats().refusals[Refusal::wrong_token], 1u);
  EXPECT_EQ(world.closed.count(1), 1u);
  EXPECT_FALSE(world.server.poll());  // the game never hears of it
  world.server.received(1, message(Kind::hello), 0.0);
  EXPECT_FALSE(world.server.poll());
}

TEST(PipeServer, LimitsStreamsInAllAndPerHost) {
  World world{{.max_peers = 6, .max_peers_per_host = 4}};
  for (StreamId stream = 1; stream <= 4; ++stream)
    EXPECT_TRUE(world.server.opened(stream, kHost, 0.0));
  EXPECT_FALSE(world.server.opened(5, kHost, 0.0));
  EXPECT_TRUE(world.server.opened(6, kHost + 1, 0.0));
  EXPECT_TRUE(world.server.opened(7, kHost + 1, 0.0));
  EXPECT_FALSE(world.server.opened(8, kHost + 2, 0.0));
  world.server.closed(1);
  EXPECT_TRUE(world.server.opened(9, kHost, 0.0));
}

TEST(PipeServer, ClosesAfterManyRefusedMessages) {
  World world;
  const PeerId peer = world.join(1);
  for (int i = 0; i < 100; ++i)
    world.server.received(1, Bytes(3, std::byte{0xff}), 0.0);
  EXPECT_EQ(world.server.stats().refusals[Refusal::malformed], 33u);
  EXPECT_EQ(world.closed.count(1), 1u);
  const auto event = world.server.poll();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, EventKind::disconnected);
  EXPECT_EQ(event->peer, peer);
}

TEST(PipeServer, AFloodIsDroppedAndThenCloses) {
  World world;
  (void)world.join(1);
  for (int i = 0; i < 20'000; ++i)
    world.server.received(1, message(Kind::state, Bytes(100)), 0.0);
  EXPECT_EQ(world.server.stats().refusals[Refusal::peer_limit], 33u);
  EXPECT_EQ(world.closed.count(1), 1u);
}

TEST(PipeServer, ASlowReaderLosesStatesAndThenItsConnection) {
  World world;
  const PeerId peer = world.join(1);
  world.full.insert(1);
  EXPECT_TRUE(world.server.send(peer, Channel::state, bytes_of("x")));
  EXPECT_EQ(world.closed.count(1), 0u);
  EXPECT_FALSE(world.server.send(peer, Channel::control, bytes_of("x")));
  EXPECT_EQ(world.closed.count(1), 1u);
  const auto event = world.server.poll();
  ASSERT_TRUE(event && event->kind == EventKind::disconnected);
  EXPECT_FALSE(world.server.send(peer, Channel::state, bytes_of("x")));
}

TEST(PipeServer, SurvivesAnyMessagesInAnyOrder) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    World world;
    scenario::Random random(seed);
    std::set<std::uint32_t> connected;
    for (int step = 0; step < 300; ++step) {
      const StreamId stream = random.below(6);
      world.now_s += random.uniform(0.0, 0.2);
      switch (random.below(6)) {
        case 0:
          (void)world.server.opened(stream, kHost + static_cast<std::uint32_t>(random.below(2)), world.now_s);
          break;
        case 1:
          world.server.closed(stream);
          break;
        case 2:
          world.server.service(world.now_s);
          break;
        default:
          world.server.received(
              stream, message(static_cast<Kind>(random.below(7)), Bytes(random.below(3)), 1), world.now_s);
      }
      while (const auto event = world.server.poll()) {
        if (event->kind == EventKind::connected) {
          EXPECT_TRUE(connected.insert(event->peer.value).second);
        } else {
          EXPECT_TRUE(connected.contains(event->peer.value));
          if (event->kind == EventKind::disconnected) connected.erase(event->peer.value);
        }
      }
    }
    EXPECT_LE(connected.size(), world.server.peers());
  }
}

TEST(PipeServer, ReplacedPeerLearnsTheReasonAndSoDoesTheServer) {
  std::vector<Bytes> sent;
  std::uint32_t seats = 0;
  PipeServer server(
      {}, {.send =
               [&](StreamId, std::span<const std::byte> bytes, bool) {
                 sent.emplace_back(bytes.begin(), bytes.end());
                 return true;
               },
           .close = [](StreamId) {},
           .admit = [&](std::span<const std::byte>,
                        double) { return Admission(PeerLogin{.client_id = 7, .entrance = 1}, ++seats); },
           .is_revoked = [&](const PeerLogin& login) { return login.client_id == 7 && seats == 2; }});
  std::vector<PeerId> peers;
  for (StreamId stream = 1; stream <= 2; ++stream) {
    ASSERT_TRUE(server.opened(stream, kHost, 0.0));
    server.received(stream, message(Kind::hello, {}, kProtocolVersion), 0.0);
    peers.push_back(server.poll()->peer);
    EXPECT_EQ(server.login(peers.back()).client_id, 7u);
    EXPECT_EQ(server.login(peers.back()).entrance, 1);
    EXPECT_EQ(server.login(peers.back()).host, IpAddress(kHost));
    EXPECT_EQ(server.login(peers.back()).is_revoked, stream == 2);
  }
  server.end_seat(9, 8);
  EXPECT_FALSE(server.poll());
  server.end_seat(1, 8);
  const auto ended = server.poll();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->kind, EventKind::disconnected);
  EXPECT_EQ(ended->peer, peers[0]);
  EXPECT_EQ(ended->reason, 8u);
  const auto bye = read(sent.back());
  ASSERT_TRUE(bye);
  EXPECT_EQ(bye->kind, Kind::bye);
  EXPECT_EQ(bye->reason, 8u);
  EXPECT_EQ(server.peers(), 1u);
  EXPECT_FALSE(server.login(peers[0]).client_id);
}

TEST(JoinedTransport, TellsThePeersOfBothApart) {
  World first;
  World second;
  JoinedTransport both(first.server, second.server);
  const PeerId a = first.join(1);
  const PeerId b = second.join(1);
  EXPECT_EQ(a, b);
  first.server.received(1, message(Kind::state, bytes_of("first")), 0.0);
  second.server.received(1, message(Kind::state, bytes_of("second")), 0.0);
  const auto from_first = both.poll();
  ASSERT_TRUE(from_first);
  EXPECT_EQ(from_first->peer, a);
  const auto from_second = both.poll();
  ASSERT_TRUE(from_second);
  EXPECT_NE(from_second->peer, a);
  const std::size_t before = second.streams[1].size();
  EXPECT_TRUE(both.send(from_second->peer, Channel::state, bytes_of("x")));
  EXPECT_EQ(second.streams[1].size(), before + 1);
  EXPECT_EQ(both.stats().datagrams_received, 4u);
  both.disconnect(from_second->peer, 3);
  EXPECT_EQ(second.server.peers(), 0u);
  EXPECT_EQ(first.server.peers(), 1u);
}

}  // namespace
}  // namespace reckoner::pipe
