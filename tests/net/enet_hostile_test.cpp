// SPDX-License-Identifier: MIT
// Datagrams that no program of ours sends, at a server with the transport "enet" that has a client.
#include "enet_datagram.hpp"
#include "enet_world.hpp"
#include "raw_client.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#ifndef _WIN32
#include "raw_socket.hpp"
#endif

#ifdef __linux__
#include <netinet/in.h>
#include <sys/socket.h>
#endif

namespace reckoner {
namespace {

using test::Bytes;
using test::EnetEnd;
using test::kLoopback4;
using test::kTimeoutS;
using test::now_s;
using test::RawClient;
using Datagram = test::EnetDatagram;

class EnetHostile : public test::EnetWorld {
 protected:
  void SetUp() override {
    listen(config());
    join(client_);
    pass({&client_}, 0.1);
    raw_ = std::make_unique<RawClient>(port(), kLoopback4);
  }
  /// The client sends until the server receives a datagram.
  bool client_still_heard() {
    const std::size_t before = server.received.size();
    if (!client_.transport->send(client_.connected[0], Bytes(100))) return false;
    return until({&client_}, [&] { return server.received.size() > before; }) && server.disconnected.empty();
  }

  EnetEnd client_;
  std::unique_ptr<RawClient> raw_;
};

TEST_F(EnetHostile, GarbageDoesNotDisturbAClient) {
  std::uint32_t state = 12345;  // a small random generator
  const auto random = [&state] { return state = state * 1664525u + 1013904223u, state >> 8; };
  std::uint64_t sent = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 40; ++i, ++sent) {
      Bytes bytes(1 + random() % 600);
      for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(random());
      if (i % 2 == 0 && bytes.size() > 6) {  // a plausible header and a known command
        bytes[0] = static_cast<std::byte>(i % 4 == 0 ? 0x8F : 0x80);
        bytes[1] = static_cast<std::byte>(i % 4 == 0 ? 0xFF : 0x00);
        bytes[4] = static_cast<std::byte>(0x80 | (random() % 13));
      }
      raw_->send(bytes);
    }
    ASSERT_TRUE(client_still_heard());
  }
  EXPECT_GT(server.refused(Refusal::malformed), sent / 2);
  EXPECT_EQ(server.stats().payload_bytes_received, 50u * 100u);
}

// A stranger at another port knows the number of the peer. It uses up nothing of what the peer may send.
TEST_F(EnetHostile, NobodySendsInTheNameOfAPeer) {
  auto limited = config();
  limited.limits.burst_s = 0.1;
  limited.limits.datagrams_per_second = 100.0;
  listen(limited);
  client_ = {};
  join(client_);
  raw_ = std::make_unique<RawClient>(port(), kLoopback4);
  for (unsigned session = 0; session < 4; ++session) {
    for (int i = 0; i < 20; ++i)
      raw_->send(Datagram(session << 12, false)
                     .command(0x49, 1)
                     .put16(static_cast<unsigned>(i))
                     .put16(4)
                     .data(4)
                     .bytes);
    raw_->send(Datagram(session << 12).command(0x84, 0xFF).put32(1).bytes);
  }
  EXPECT_TRUE(client_still_heard());
  EXPECT_EQ(server.received.size(), 1u);
  EXPECT_EQ(server.stats().refused, 0u);
}

TEST_F(EnetHostile, DatagramsTooLongForEnetAreCountedAndSkipped) {
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 10; ++i)
      raw_->send(Bytes(5000));
    ASSERT_TRUE(client_still_heard());
  }
  pass({&client_}, 0.1);
#ifndef _WIN32  // there, they are neither errors nor drops of the system
  EXPECT_EQ(server.stats().service_errors + server.stats().system_drops, 100u);
#endif
}

#ifdef __linux__
// Where the system cannot drop an overlong datagram, enet_host_service() returns -1 for it and ends its pass.
// The test takes the filter off the server's socket, which it finds by its port.
TEST_F(EnetHostile, AnErrorOfEnetDoesNotDelayOthers) {
  int found = 0;
  for (int file = 3; file < 1024; ++file) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) != 0) continue;
    if (address.sin_family != AF_INET || ntohs(address.sin_port) != port()) continue;
    const int none = 0;
    found += setsockopt(file, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof none) == 0 ? 1 : 0;
  }
  ASSERT_EQ(found, 1);
  for (int round = 0; round < 10; ++round) {
    const std::size_t before = server.received.size();
    for (int i = 0; i < 5; ++i) {
      raw_->send(Bytes(5000));
      raw_->send({});  // ENet takes it for the end of what waits
      ASSERT_TRUE(client_.transport->send(client_.connected[0], Bytes(50)));
      client_.turn();
    }
    server.turn();
    ASSERT_EQ(server.received.size(), before + 5) << round;
  }
  EXPECT_EQ(server.stats().service_errors, 50u);
  EXPECT_EQ(server.stats().system_drops, 0u);
}
#endif

TEST_F(EnetHostile, EmptyDatagramsDoNotDelayOthers) {
  for (int round = 0; round < 20; ++round) {
    const std::size_t before = server.received.size();
    for (int i = 0; i < 5; ++i) {
      for (int empty = 0; empty < 3; ++empty)
        raw_->send({});
      ASSERT_TRUE(client_.transport->send(client_.connected[0], Bytes(50)));
      client_.turn();
    }
    server.turn();
    ASSERT_EQ(server.received.size(), before + 5) << round;
  }
  EXPECT_TRUE(client_still_heard());
}

// A thousand forged requests fill every place. None is ever confirmed.
TEST_F(EnetHostile, ForgedRequestsFreeTheirPlacesSoon) {
  auto small = config();
  small.max_peers = 64;
  listen(small);
  RawClient forger(port(), kLoopback4);
  const double start_s = now_s();
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    forger.send(Datagram::connect(2, i).bytes);
    server.turn();
  }
  RawClient other(port(), kLoopback4);
  double answered_s = 0.0;
  const auto knock = [&] {
    server.turn();
    other.send(Datagram::connect(2, 0xABCDEF).bytes);
    if (!other.heard()) return;
    answered_s = now_s();
  };
  server.turn();
  other.send(Datagram::connect(2, 0xABCDEF).bytes);
  server.turn();
  EXPECT_FALSE(other.heard()) << "every place is taken";
  ASSERT_TRUE(test::turn_until(
      knock, [&] { return answered_s > 0.0; }, kTimeoutS));
  EXPECT_GT(answered_s - start_s, 2.0) << "a client with a bad link has time to confirm";
  EXPECT_LT(answered_s - start_s, 3.5);
  EXPECT_TRUE(server.connected.empty() && server.disconnected.empty());
  EnetEnd client;
  join(client);
}

#ifndef _WIN32  // which has no raw sockets for UDP
// The datagrams are valid requests. The server would answer them if they came from any other port.
TEST_F(EnetHostile, PortZeroIsNotAnsweredAndDoesNotDelayOthers) {
  const test::RawSocket nowhere(kLoopback4);
  if (!nowhere.permitted()) GTEST_SKIP() << "raw sockets are not permitted here";
  constexpr std::uint64_t kDatagrams = 200;
  const Bytes request = Datagram::connect(2).bytes;
  raw_->send(request);
  ASSERT_TRUE(until({&client_}, [&] { return raw_->heard().has_value(); }));
  for (std::uint64_t i = 0; i < kDatagrams; ++i)
    ASSERT_TRUE(nowhere.send(0, port(), request));
  EXPECT_TRUE(client_still_heard());
  EXPECT_EQ(server.refused(Refusal::malformed), kDatagrams);
  EXPECT_EQ(server.stats().refused, kDatagrams);
  EnetEnd next;
  join(next);
  EXPECT_TRUE(server.disconnected.empty());
  EXPECT_EQ(server.stats().service_errors, 0u);
}
#endif

}  // namespace
}  // namespace reckoner
