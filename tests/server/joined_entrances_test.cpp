// SPDX-License-Identifier: MIT
// A server with two entrances: a socket with security, and streams that a TokenGate guards. Tokens, kicks and
// the limit of sessions apply to both. watch_test.cpp has the live view of reckoner-server.
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/transport/pipe/pipe_message.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "tests/support/loopback.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/joined_transport.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/token_gate.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::test {
namespace {

double clock_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t clock_unix_ms() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count());
}

/// Its streams keep what they are sent. Streams are numbered by the test.
struct TwoEntrances {
  explicit TwoEntrances(std::uint8_t entrance)
      : gate(*TokenGate::create(security(), {.transport = udp.get(), .entrance = entrance})) {}

  SecretKey key = SecretKey::make();
  std::unique_ptr<NetworkTransport> udp =
      std::move(*NetworkTransport::listen({.host = loopback(), .max_peers = 16, .security = security()}));
  TokenGate gate;
  std::map<StreamId, std::vector<pipe::Kind>> sent;
  std::map<StreamId, std::vector<std::byte>> newest;  // datagrams
  PipeServer pipes =
      std::move(*PipeServer::create({},
                                    {.send = [this](StreamId stream, std::span<const std::byte> message,
                                                    bool) { return keep(stream, message); },
                                     .close = [](StreamId) {}},
                                    gate.pipe_gate([] {
                                      return TokenTime{clock_s(), clock_unix_ms()};
                                    })));
  JoinedTransport both{*udp, pipes};
  Server server = std::move(*Server::create({}, both));
  std::vector<std::unique_ptr<NetworkTransport>> players;

  [[nodiscard]] ServerSecurity security() const { return {.key = key, .any_server = true}; }
  [[nodiscard]] ConnectToken token(std::uint64_t client_id) const {
    ConnectGrant grant{.client_id = client_id, .expires_s = clock_unix_ms() / 1000 + 60};
    grant.servers = {{loopback_ip(), udp->port()}};
    return *issue_token(grant, key, 0);
  }
  static std::vector<std::byte> request() {
    return request_datagram({.archetype_hash = archetype_hash(ServerConfig{}.archetypes), .resume = {}});
  }

  bool keep(StreamId stream, std::span<const std::byte> message) {
    const auto read = pipe::read(message);
    sent[stream].push_back(read->kind);
    if (read->kind == pipe::Kind::state) newest[stream].assign(read->body.begin(), read->body.end());
    return true;
  }
  void send(StreamId stream, const pipe::Message& message) {
    std::vector<std::byte> bytes;
    pipe::write(message, bytes);
    pipes.received(stream, bytes, clock_s());
  }
  /// Presents a token over a stream. True if the server admits its bearer.
  bool streams(StreamId stream, const ConnectToken& token) {
    EXPECT_TRUE(pipes.opened(stream, IpAddress(0x01020300u + static_cast<std::uint32_t>(stream)), clock_s()));
    send(stream, {.kind = pipe::Kind::hello, .reason = kProtocolVersion, .body = *write_token(token)});
    return !sent[stream].empty() && sent[stream].front() == pipe::Kind::welcome;
  }
  void join(StreamId stream) {
    const auto datagram = request();
    send(stream, {.kind = pipe::Kind::state, .body = datagram});
    server.receive(0.0);
  }
  /// Acknowledges the newest datagram, the only one with reliable messages so far.
  void acknowledge(StreamId stream) {
    BitReader reader{newest.at(stream)};
    const ServerHeader header = read_server_header(reader);
    ASSERT_TRUE(header.has_reliable);
    ClientDatagram datagram;
    datagram.ack = Ack{header.sequence};
    std::array<std::byte, 64> buffer;
    BitWriter writer{buffer};
    write(writer, datagram);
    send(stream, {.kind = pipe::Kind::state, .body = writer.finish()});
    server.receive(0.0);
  }
  [[nodiscard]] bool has_ended(StreamId stream) const {
    return !sent.at(stream).empty() && sent.at(stream).back() == pipe::Kind::bye;
  }
  /// Joins over the socket. False if the server refuses the token.
  bool plays(const ConnectToken& token) {
    auto connecting = NetworkTransport::connect(
        {.host = loopback(), .port = udp->port(), .security = ClientSecurity{token, 0}});
    NetworkTransport& player = *players.emplace_back(std::move(*connecting));
    while (server.poll_event()) {
    }
    for (const double end_s = clock_s() + 40.0; clock_s() < end_s;
         std::this_thread::sleep_for(std::chrono::microseconds(200))) {
      player.service(0.0);
      while (const auto event = player.poll()) {
        if (event->kind == TransportEvent::Kind::disconnected) return false;
        if (event->kind == TransportEvent::Kind::connected) player.send(event->peer, request());
      }
      server.receive(0.0);
      while (const auto event = server.poll_event()) {
        if (event->kind == ServerEvent::Kind::client_joined) return true;
      }
    }
    return false;
  }
};

TEST(TwoEntrances, WithAnEntranceOfItsOwnATokenIsValidOnceForEach) {
  TwoEntrances house(1);
  const ConnectToken token = house.token(7);
  EXPECT_TRUE(house.plays(token));
  EXPECT_TRUE(house.streams(1, token));
  house.join(1);
  EXPECT_EQ(house.server.client_count(), 2u) << "neither replaces the other";
  EXPECT_FALSE(house.streams(2, token));
  EXPECT_FALSE(house.plays(token));
  EXPECT_FALSE(house.has_ended(1));
}

TEST(TwoEntrances, WithOneEntranceATokenIsValidOnceInAll) {
  TwoEntrances house(0);
  const ConnectToken over_udp = house.token(7);
  EXPECT_TRUE(house.plays(over_udp));
  EXPECT_FALSE(house.streams(1, over_udp));
  const ConnectToken over_stream = house.token(8);
  EXPECT_TRUE(house.streams(2, over_stream));
  EXPECT_FALSE(house.plays(over_stream));
}

// A client id has one session, wherever it comes in.
TEST(TwoEntrances, WithOneEntranceANewerTokenReplacesTheOtherSession) {
  TwoEntrances house(0);
  const ConnectToken first = house.token(7);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const ConnectToken second = house.token(7);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const ConnectToken third = house.token(7);
  ASSERT_TRUE(house.streams(1, first));
  house.join(1);
  ASSERT_EQ(house.server.client_count(), 1u);
  EXPECT_TRUE(house.plays(second));
  EXPECT_TRUE(house.has_ended(1));
  EXPECT_TRUE(house.streams(2, third));
  house.join(2);
  const double end_s = clock_s() + 40.0;
  bool has_ended = false;
  while (!has_ended && clock_s() < end_s) {
    house.server.receive(0.0);
    house.players.back()->service(0.0);
    while (const auto event = house.players.back()->poll())
      has_ended = has_ended || (event->kind == TransportEvent::Kind::disconnected &&
                                unpack_end_code(event->reason).reason == EndReason::replaced);
  }
  EXPECT_TRUE(has_ended) << "the newest login has the only session";
  EXPECT_FALSE(house.has_ended(2));
}

// The player is out of both, however it was kicked.
TEST(TwoEntrances, KickAppliesToBoth) {
  for (const bool kicks_the_stream : {false, true}) {
    TwoEntrances house(1);
    const ConnectToken kept_back = house.token(7), later = house.token(7);
    ASSERT_TRUE(house.streams(1, house.token(7)));
    house.join(1);
    const ClientId watcher = house.server.clients().back();
    ASSERT_TRUE(house.plays(house.token(7)));
    const ClientId player = house.server.clients().back();
    ASSERT_TRUE(house.streams(2, house.token(8)));
    house.join(2);
    ASSERT_EQ(house.server.client_count(), 3u);
    EXPECT_TRUE(house.server.kick(kicks_the_stream ? watcher : player, "cheating"));
    EXPECT_EQ(house.server.client_count(), 1u);
    house.server.receive(0.0);
    EXPECT_FALSE(house.has_ended(1)) << "it may lack the reason";
    house.acknowledge(1);
    EXPECT_TRUE(house.has_ended(1));
    EXPECT_FALSE(house.has_ended(2));
    EXPECT_FALSE(house.streams(3, kept_back));
    EXPECT_FALSE(house.plays(later));
    EXPECT_TRUE(house.streams(4, house.token(7))) << "issued after the kick";
  }
}

// The bearer was admitted, and joins after the kick.
TEST(TwoEntrances, ClientThatHasNotJoinedIsKickedToo) {
  TwoEntrances house(1);
  ASSERT_TRUE(house.plays(house.token(7)));
  const ClientId player = house.server.clients().back();
  ASSERT_TRUE(house.streams(1, house.token(7)));
  EXPECT_TRUE(house.server.kick(player, "cheating"));
  house.join(1);
  EXPECT_TRUE(house.has_ended(1));
  EXPECT_EQ(house.server.client_count(), 0u);
}

TEST(TwoEntrances, GateNeedsTokensToShare) {
  const ServerSecurity security{.key = SecretKey::make(), .any_server = true};
  for (const bool has_key : {false, true}) {
    ListenConfig config{
        .host = loopback(), .security = Insecure{}, .transport = "udp", .receive_thread = has_key};
    if (has_key) config.security = security;
    const auto udp = NetworkTransport::listen(config);
    ASSERT_TRUE(udp) << udp.error();
    EXPECT_FALSE(TokenGate::create(security, {.transport = udp->get()}));
    EXPECT_TRUE(TokenGate::create(Insecure{}, {.transport = udp->get()}));
  }
}

}  // namespace
}  // namespace reckoner::test
