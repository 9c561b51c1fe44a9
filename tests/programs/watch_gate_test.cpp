// SPDX-License-Identifier: MIT
// Which tokens the live view accepts, without sockets for it. watch_test.cpp has the real server.
#include "programs/server/watch/watch_gate.hpp"

#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/transport/pipe/joined_transport.hpp"
#include "net/src/transport/pipe/pipe_server.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/enet_transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::program {
namespace {

constexpr SocketAddress kServer{0x7F000001, 4000};

struct Backend {
  SecretKey key = SecretKey::make();
  std::uint64_t unix_s = 1'800'000'000;

  [[nodiscard]] ServerSecurity security() const { return {.key = key, .addresses = {kServer}}; }
  [[nodiscard]] std::vector<std::byte> token(std::uint64_t client_id,
                                             const SocketAddress& server = kServer) const {
    ConnectGrant grant{.client_id = client_id, .expires_s = unix_s + 3600, .servers = {server}};
    grant.issued_ms = unix_s * 1000;
    const auto bytes = *write_token(*issue_token(grant, key, 0));
    return {bytes.begin(), bytes.end()};
  }
};

// Before, a token was remembered by the wall clock only.
TEST(WatchGate, UsedTokenStaysUsedWhenTheWallClockIsSetForthAndBack) {
  for (const std::uint64_t by_s : {60u, 3601u, 86'400u, 1'000'000'000u}) {
    const Backend backend;
    WatchGate gate(backend.security(), 4000);
    const auto used = backend.token(1);
    EXPECT_FALSE(gate.admit(used, 0.0, backend.unix_s).refusal);
    const Backend ahead{.key = backend.key, .unix_s = backend.unix_s + by_s};
    for (int i = 0; i < 100; ++i)  // others use their tokens meanwhile
      EXPECT_FALSE(gate.admit(ahead.token(100), 1.0 + i, ahead.unix_s).refusal) << by_s;
    EXPECT_EQ(gate.admit(used, 200.0, backend.unix_s + 200).refusal, Refusal::token_reused) << by_s;
  }
}

TEST(WatchGate, TokenIsForgottenWhenItHasExpired) {
  Backend backend;
  ServerSecurity security = backend.security();
  security.used_tokens = 1;
  WatchGate gate(security, 4000);
  EXPECT_FALSE(gate.admit(backend.token(1), 0.0, backend.unix_s).refusal);
  EXPECT_EQ(gate.admit(backend.token(2), 0.0, backend.unix_s).refusal, Refusal::handshake_limit);
  backend.unix_s += 8000;
  EXPECT_FALSE(gate.admit(backend.token(2), 8000.0, backend.unix_s).refusal);
}

// A newer token ends the oldest view of its client id, and an older one is refused.
TEST(WatchGate, LimitsTheViewsOfAClientId) {
  for (const std::uint32_t most : {1u, 2u, 0u}) {
    Backend backend;
    ServerSecurity security = backend.security();
    security.sessions_per_client = most;
    WatchGate gate(security, 4000);
    const auto kept_back = backend.token(7);
    std::vector<std::uint32_t> seats, ended;
    for (int i = 0; i < 6; ++i) {
      ++backend.unix_s;
      const auto admission = gate.admit(backend.token(7), i, backend.unix_s);
      ASSERT_FALSE(admission.refusal);
      EXPECT_EQ(admission.login.client_id, 7u);
      EXPECT_EQ(admission.login.entrance, 1);
      seats.push_back(admission.seat);
      gate.end_replaced([&](std::uint32_t seat) { ended.push_back(seat); });
    }
    EXPECT_FALSE(gate.admit(backend.token(8), 7.0, backend.unix_s).refusal) << "others do not notice";
    gate.end_replaced([&](std::uint32_t seat) { ended.push_back(seat); });
    const std::size_t gone = most == 0 ? 0 : seats.size() - most;
    EXPECT_EQ(ended,
              std::vector<std::uint32_t>(seats.begin(), seats.begin() + static_cast<std::ptrdiff_t>(gone)));
    EXPECT_EQ(gate.admit(kept_back, 8.0, backend.unix_s).refusal.has_value(), most > 0);
  }
}

double steady_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A server with both ways in: a socket, and streams that keep what they are sent.
struct TwoEntrances {
  SecretKey key = SecretKey::make();
  std::unique_ptr<EnetTransport> udp = std::move(*EnetTransport::listen(
      {.host = "127.0.0.1", .max_peers = 16, .security = ServerSecurity{.key = key, .any_server = true}}));
  WatchGate gate{ServerSecurity{.key = key, .any_server = true}, udp->port(), udp->used_tokens()};
  std::map<pipe::StreamId, std::vector<pipe::Kind>> sent;
  std::map<pipe::StreamId, std::vector<std::byte>> newest;  // datagrams
  pipe::PipeServer pipes{
      {},
      {.send =
           [this](pipe::StreamId stream, std::span<const std::byte> message, bool) {
             const auto read = pipe::read(message);
             sent[stream].push_back(read->kind);
             if (read->kind == pipe::Kind::state) newest[stream].assign(read->body.begin(), read->body.end());
             return true;
           },
       .close = [](pipe::StreamId) {},
       .admit = [this](auto token, double now_s) { return gate.admit(token, now_s, unix_s()); },
       .is_revoked = [this](const PeerLogin& login) { return gate.is_revoked(login); }}};
  pipe::JoinedTransport both{*udp, pipes};
  Server server = std::move(*Server::create({}, both));
  std::vector<std::unique_ptr<EnetTransport>> players;

  static std::uint64_t unix_s() {
    return static_cast<std::uint64_t>(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
  }
  [[nodiscard]] ConnectToken token(std::uint64_t client_id) const {
    ConnectGrant grant{
        .client_id = client_id, .expires_s = unix_s() + 60, .servers = {{0x7F000001, udp->port()}}};
    return *issue_token(grant, key, 0);
  }
  static std::vector<std::byte> request() {
    return request_datagram({.archetype_hash = archetype_hash(ServerConfig{}.archetypes), .resume = {}});
  }
  void send(pipe::StreamId stream, const pipe::Message& message) {
    std::vector<std::byte> bytes;
    pipe::write(message, bytes);
    pipes.received(stream, bytes, steady_s());
  }
  /// Presents a token over a stream. True if the server admits its bearer.
  bool watches(pipe::StreamId stream, const ConnectToken& token) {
    EXPECT_TRUE(
        pipes.opened(stream, IpAddress(0x01020300u + static_cast<std::uint32_t>(stream)), steady_s()));
    send(stream, {.kind = pipe::Kind::hello, .reason = kProtocolVersion, .body = *write_token(token)});
    return !sent[stream].empty() && sent[stream].front() == pipe::Kind::welcome;
  }
  void join(pipe::StreamId stream) {
    const auto datagram = request();
    send(stream, {.kind = pipe::Kind::state, .body = datagram});
    server.receive(0.0);
  }
  /// Acknowledges the newest datagram, the only one with reliable messages so far.
  void acknowledge(pipe::StreamId stream) {
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
  [[nodiscard]] bool has_ended(pipe::StreamId stream) const {
    return !sent.at(stream).empty() && sent.at(stream).back() == pipe::Kind::bye;
  }
  /// Joins over UDP. False if the server refuses the token.
  bool plays(const ConnectToken& token) {
    auto connecting =
        EnetTransport::connect("127.0.0.1", udp->port(), kProtocolVersion, ClientSecurity{token, 0});
    EnetTransport& player = *players.emplace_back(std::move(*connecting));
    const std::size_t before = server.client_count();
    for (const double end_s = steady_s() + 40.0; steady_s() < end_s;
         std::this_thread::sleep_for(std::chrono::microseconds(200))) {
      player.service(0.0);
      while (const auto event = player.poll()) {
        if (event->kind == TransportEvent::Kind::disconnected) return false;
        if (event->kind == TransportEvent::Kind::connected)
          player.send(event->peer, Channel::state, request());
      }
      server.receive(0.0);
      if (server.client_count() > before) return true;
    }
    return false;
  }
};

TEST(WatchGate, TokenIsValidOnceForTheViewAndOnceOverUdp) {
  TwoEntrances house;
  const ConnectToken token = house.token(7);
  EXPECT_TRUE(house.plays(token));
  EXPECT_TRUE(house.watches(1, token));
  house.join(1);
  EXPECT_EQ(house.server.client_count(), 2u) << "neither replaces the other";
  EXPECT_FALSE(house.watches(2, token));
  EXPECT_FALSE(house.plays(token));
  EXPECT_FALSE(house.has_ended(1));
}

// The player is out of both, however it was kicked.
TEST(WatchGate, KickEndsTheViewToo) {
  for (const bool kicks_the_view : {false, true}) {
    TwoEntrances house;
    const ConnectToken kept_back = house.token(7), later = house.token(7);
    ASSERT_TRUE(house.watches(1, house.token(7)));
    house.join(1);
    const ClientId watcher = house.server.clients().back();
    ASSERT_TRUE(house.plays(house.token(7)));
    const ClientId player = house.server.clients().back();
    ASSERT_TRUE(house.watches(2, house.token(8)));
    house.join(2);
    ASSERT_EQ(house.server.client_count(), 3u);
    EXPECT_TRUE(house.server.kick(kicks_the_view ? watcher : player, "cheating"));
    EXPECT_EQ(house.server.client_count(), 1u);
    house.server.receive(0.0);
    EXPECT_FALSE(house.has_ended(1)) << "it may lack the reason";
    house.acknowledge(1);
    EXPECT_TRUE(house.has_ended(1));
    EXPECT_FALSE(house.has_ended(2));
    EXPECT_FALSE(house.watches(3, kept_back));
    EXPECT_FALSE(house.plays(later));
    EXPECT_TRUE(house.watches(4, house.token(7))) << "issued after the kick";
  }
}

// The bearer was admitted, and joins after the kick.
TEST(WatchGate, ViewThatHasNotJoinedIsKickedToo) {
  TwoEntrances house;
  ASSERT_TRUE(house.plays(house.token(7)));
  const ClientId player = house.server.clients().back();
  ASSERT_TRUE(house.watches(1, house.token(7)));
  EXPECT_TRUE(house.server.kick(player, "cheating"));
  house.join(1);
  EXPECT_TRUE(house.has_ended(1));
  EXPECT_EQ(house.server.client_count(), 0u);
}

}  // namespace
}  // namespace reckoner::program
