// SPDX-License-Identifier: MIT
#include "net/src/messages/messages.hpp"
#include "net/src/transport/pipe/pipe_message.hpp"
#include "scenario/builtin/random.hpp"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/joined_transport.hpp>
#include <reckoner/net/pipe_server.hpp>
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
  explicit World(const PipeServerConfig& config = {})
      : server(std::move(*PipeServer::create(
            config,
            {.send = [this](StreamId stream, std::span<const std::byte> sent,
                            bool may_drop) { return keep(stream, sent, may_drop); },
             .close = [this](StreamId stream) { closed.insert(stream); }},
            {.admit = [this](std::span<const std::byte> token, const IpAddress& host) -> Admission {
               tokens.emplace_back(token.begin(), token.end());
               hosts.push_back(host);
               return answer;
             },
             .is_revoked = [this](const PeerLogin& login) { return login.client_id == revoked; },
             .revoke = [this](const PeerLogin& login) { revoked = login.client_id; },
             .next_replaced = [this]() -> std::optional<std::uint32_t> {
               if (replaced.empty()) return std::nullopt;
               const std::uint32_t session = replaced.front();
               replaced.pop_front();
               return session;
             }}))) {}

  bool keep(StreamId stream, std::span<const std::byte> sent, bool may_drop) {
    if (may_drop && full.contains(stream)) return false;
    streams[stream].emplace_back(sent.begin(), sent.end());
    return true;
  }

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
  std::vector<IpAddress> hosts;
  Admission answer{};
  std::optional<std::uint64_t> revoked{};
  std::deque<std::uint32_t> replaced;
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
  EXPECT_FALSE(read(message(Kind::state)));
  EXPECT_FALSE(read(message(Kind::state, Bytes(kMaxDatagramBytes + 1))));
  EXPECT_FALSE(read(message(Kind::welcome, Bytes(1))));
  EXPECT_FALSE(read(message(Kind::hello, Bytes(7))));
  EXPECT_FALSE(read(message(Kind::status, Bytes(PipeServer::kMaxStatusBytes + 1))));
  for (const unsigned kind : {0u, 6u, 255u}) {  // 0 is retired
    EXPECT_FALSE(read(Bytes(1, static_cast<std::byte>(kind)))) << kind;
    EXPECT_FALSE(read(Bytes(9, static_cast<std::byte>(kind)))) << kind;
  }
  EXPECT_FALSE(read(Bytes{std::byte{4}, std::byte{0}}));  // half a reason
  EXPECT_TRUE(read(message(Kind::hello, Bytes(ConnectToken::kBytes))));
}

TEST(PipeTransport, TheNewestTokenIsPresented) {
  World world;
  PipeTransport client(
      [&](std::span<const std::byte> sent) { return world.server.received(5, sent, 0.0), true; });
  ASSERT_TRUE(world.server.opened(5, kHost, 0.0));
  Bytes token(ConnectToken::kBytes, std::byte{7});
  client.set_token(token);
  const Bytes presented = token;
  token.assign(token.size(), std::byte{0});  // the transport has a copy
  client.opened();
  EXPECT_EQ(world.tokens, std::vector<Bytes>{presented});
}

TEST(PipeTransport, PayloadsTravelBothWaysAfterTheWelcome) {
  World world;
  const Bytes token(ConnectToken::kBytes, std::byte{7});
  PipeTransport client(
      [&](std::span<const std::byte> sent) { return world.server.received(5, sent, 0.0), true; }, token);
  ASSERT_TRUE(world.server.opened(5, kHost, 0.0));
  client.opened();
  EXPECT_EQ(world.tokens, std::vector<Bytes>{token});
  EXPECT_EQ(world.hosts, std::vector<IpAddress>{kHost});
  const auto joined = world.server.poll();
  ASSERT_TRUE(joined);
  const PeerId peer = joined->peer;
  EXPECT_FALSE(client.send(PeerId{1}, bytes_of("early")));
  EXPECT_EQ(client.max_datagram_bytes(PeerId{1}), 0u);
  const auto deliver = [&] {
    for (const Bytes& sent : std::exchange(world.streams[5], {}))
      client.received(sent, 0.0);
  };
  deliver();
  const auto connected = client.poll();
  ASSERT_TRUE(connected && connected->kind == EventKind::connected);
  EXPECT_EQ(client.max_datagram_bytes(connected->peer), kMaxDatagramBytes);
  EXPECT_TRUE(client.is_ordered(connected->peer));
  EXPECT_TRUE(client.send(connected->peer, bytes_of("up")));
  const auto up = world.server.poll();
  ASSERT_TRUE(up);
  EXPECT_EQ(Bytes(up->payload.begin(), up->payload.end()), bytes_of("up"));
  EXPECT_TRUE(world.server.send(peer, bytes_of("down")));
  deliver();
  const auto down = client.poll();
  ASSERT_TRUE(down);
  EXPECT_EQ(Bytes(down->payload.begin(), down->payload.end()), bytes_of("down"));
  world.server.send_status("{}");
  deliver();
  EXPECT_EQ(client.status(), "{}");
  world.server.disconnect(peer, 9);
  deliver();
  const auto over = client.poll();
  ASSERT_TRUE(over && over->kind == EventKind::disconnected);
  EXPECT_EQ(over->reason, 9u);
  EXPECT_FALSE(client.send(connected->peer, bytes_of("late")));
  EXPECT_EQ(client.max_datagram_bytes(connected->peer), 0u);
  EXPECT_FALSE(client.poll()) << "it ends once";
}

// A data channel beside the stream.
TEST(PipeTransport, PathOfTheDatagramsChangesAtBothEnds) {
  World world;
  PipeTransport client(
      [&](std::span<const std::byte> sent) { return world.server.received(5, sent, 0.0), true; });
  ASSERT_TRUE(world.server.opened(5, kHost, 0.0));
  world.server.set_path(6, {});  // unknown
  client.opened();
  const auto joined = world.server.poll();
  ASSERT_TRUE(joined);
  for (const Bytes& sent : std::exchange(world.streams[5], {}))
    client.received(sent, 0.0);
  const auto connected = client.poll();
  ASSERT_TRUE(connected);
  const auto expect_path = [&](bool is_ordered, std::size_t bytes) {
    EXPECT_EQ(world.server.is_ordered(joined->peer), is_ordered);
    EXPECT_EQ(client.is_ordered(connected->peer), is_ordered);
    EXPECT_EQ(world.server.max_datagram_bytes(joined->peer), bytes);
    EXPECT_EQ(client.max_datagram_bytes(connected->peer), bytes);
  };
  expect_path(true, kMaxDatagramBytes);
  world.server.set_path(5, {.is_ordered = false, .max_datagram_bytes = 600});
  client.set_path({.is_ordered = false, .max_datagram_bytes = 600});
  expect_path(false, 600);
  // Larger ones, for messages of the game, are passed on as well.
  EXPECT_TRUE(client.send(connected->peer, Bytes(kMaxDatagramBytes)));
  EXPECT_TRUE(world.server.send(joined->peer, Bytes(kMaxDatagramBytes)));
  EXPECT_FALSE(client.send(connected->peer, Bytes(kMaxDatagramBytes + 1)));
  EXPECT_FALSE(world.server.send(joined->peer, Bytes(kMaxDatagramBytes + 1)));
  EXPECT_EQ(world.streams[5].size(), 1u);
  world.server.set_path(5, {.max_datagram_bytes = 5000});
  client.set_path({.max_datagram_bytes = 5000});
  expect_path(true, kMaxDatagramBytes);
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
  EXPECT_EQ(world.server.streams(), 0u);
}

TEST(PipeServer, RefusesAWrongTokenAndPayloadsBeforeIt) {
  World world;
  world.answer = {.refusal = Refusal::wrong_token};
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

// The transport neither waits for a slow reader nor ends its connection. The server ends its session when too
// many reliable messages wait.
TEST(PipeServer, ASlowReaderLosesDatagramsAndKeepsItsConnection) {
  World world;
  const PeerId peer = world.join(1);
  world.full.insert(1);
  world.streams[1].clear();
  EXPECT_TRUE(world.server.send(peer, bytes_of("x")));
  EXPECT_TRUE(world.streams[1].empty());
  EXPECT_EQ(world.closed.count(1), 0u);
  EXPECT_EQ(world.server.max_datagram_bytes(peer), kMaxDatagramBytes);
  world.full.clear();
  EXPECT_TRUE(world.server.send(peer, bytes_of("y")));
  EXPECT_EQ(world.streams[1], std::deque<Bytes>{message(Kind::state, bytes_of("y"))});
  EXPECT_FALSE(world.server.poll());
  world.full.insert(1);
  world.server.disconnect(peer, 7);
  ASSERT_EQ(world.streams[1].size(), 2u) << "the last message is not dropped";
  EXPECT_EQ(read(world.streams[1].back())->reason, 7u);
  const auto event = world.server.poll();
  ASSERT_TRUE(event && event->kind == EventKind::disconnected);
  EXPECT_FALSE(world.server.send(peer, bytes_of("x")));
  EXPECT_EQ(world.server.max_datagram_bytes(peer), 0u);
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
    EXPECT_LE(connected.size(), world.server.streams());
  }
}

TEST(PipeServer, ReplacedPeerLearnsTheReasonAndSoDoesTheServer) {
  World world;
  std::vector<PeerId> peers;
  for (StreamId stream = 1; stream <= 2; ++stream) {
    world.answer = {.login = {.client_id = 7, .entrance = 1}, .session = static_cast<std::uint32_t>(stream)};
    peers.push_back(world.join(stream));
  }
  const std::uint32_t reason = pack({EndReason::replaced, 0});
  world.replaced = {9, 0, 1};
  world.server.service(1.0);
  const auto ended = world.server.poll();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->kind, EventKind::disconnected);
  EXPECT_EQ(ended->peer, peers[0]);
  EXPECT_EQ(ended->reason, reason);
  EXPECT_FALSE(world.server.poll()) << "there is no session 9, and 0 is none";
  const auto bye = read(world.streams[1].back());
  ASSERT_TRUE(bye);
  EXPECT_EQ(bye->kind, Kind::bye);
  EXPECT_EQ(bye->reason, reason);
  EXPECT_EQ(world.server.streams(), 1u);
  EXPECT_FALSE(world.server.login(peers[0]).client_id);
}

// Its place is free before the game hears of the one that has taken it.
TEST(PipeServer, ReplacedPeerEndsBeforeItsSuccessorConnects) {
  World world;
  world.answer = {.session = 1};
  const PeerId old = world.join(1);
  ASSERT_TRUE(world.server.opened(2, kHost, 0.0));
  world.replaced = {1};
  world.server.received(2, message(Kind::hello, {}, kProtocolVersion), 0.0);
  const auto ended = world.server.poll();
  ASSERT_TRUE(ended && ended->kind == EventKind::disconnected);
  EXPECT_EQ(ended->peer, old);
  const auto connected = world.server.poll();
  EXPECT_TRUE(connected && connected->kind == EventKind::connected);
}

TEST(PipeServer, KnowsLoginAndIdentityUntilTheEnd) {
  World world;
  ClientIdentity identity{.client_id = 7};
  identity.user_data[3] = std::byte{5};
  world.answer = {.login = {.client_id = 7, .sessions_per_client = 1}, .identity = identity};
  const PeerId peer = world.join(1);
  EXPECT_EQ(world.server.login(peer).client_id, 7u);
  EXPECT_EQ(world.server.login(peer).host, IpAddress(kHost));
  EXPECT_FALSE(world.server.login(peer).is_revoked);
  world.server.revoke_login(world.server.login(peer));
  EXPECT_TRUE(world.server.login(peer).is_revoked);
  ASSERT_TRUE(world.server.identity(peer));
  EXPECT_EQ(world.server.identity(peer)->user_data, identity.user_data);
  world.server.closed(1);
  EXPECT_FALSE(world.server.identity(peer));
  EXPECT_FALSE(world.server.login(peer).client_id);
}

TEST(PipeServer, RefusesInvalidSettings) {
  EXPECT_FALSE(find_invalid_setting(PipeServerConfig{}));
  PipeServerConfig config;
  config.limits.silence_s = -1.0;
  EXPECT_TRUE(find_invalid_setting(config));
  const auto error = find_invalid_setting(PipeServerConfig{.max_peers = 0});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "max_peers is 0; it must be from 1 to 65535 streams");
  EXPECT_FALSE(PipeServer::create(
      {.join_s = 0.0},
      {.send = [](StreamId, std::span<const std::byte>, bool) { return true; }, .close = [](StreamId) {}},
      {.admit = [](std::span<const std::byte>, const IpAddress&) { return Admission{}; }}));
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
  EXPECT_TRUE(JoinedTransport::is_of_second(from_second->peer));
  EXPECT_FALSE(JoinedTransport::is_of_second(a));
  EXPECT_EQ(JoinedTransport::own_id(from_second->peer), b);
  const std::size_t before = second.streams[1].size();
  EXPECT_TRUE(both.send(from_second->peer, bytes_of("x")));
  EXPECT_EQ(second.streams[1].size(), before + 1);
  EXPECT_EQ(both.stats().datagrams_received, 4u);
  both.disconnect(from_second->peer, 3);
  EXPECT_EQ(second.server.streams(), 0u);
  EXPECT_EQ(first.server.streams(), 1u);
}

}  // namespace
}  // namespace reckoner::pipe
