// SPDX-License-Identifier: MIT
// Datagrams from UDP port 0, to which no answer can be sent. An ordinary socket cannot send them.
#include "net/src/secure/handshake.hpp"
#include "raw_socket.hpp"
#include "real_time.hpp"
#include "relay.hpp"

#include <functional>
#include <memory>

#include <gtest/gtest.h>

#include <reckoner/net/network_transport.hpp>

namespace reckoner {
namespace {

using test::Bytes;
using test::End;
using test::kTimeoutS;
using test::unix_s;

constexpr int kDatagrams = 200;

class PortZero : public testing::TestWithParam<bool> {
 protected:
  test::RawSocket nowhere;
  SecretKey key = SecretKey::make();
  End server;
  std::vector<std::unique_ptr<End>> clients;

  void SetUp() override {
    if (!nowhere.permitted()) GTEST_SKIP() << "raw sockets are not permitted here";
    ListenConfig config{.host = test::loopback(), .max_peers = 8, .security = Insecure{}, .transport = "udp"};
    if (sealed()) config.security = ServerSecurity{.key = key};
    auto listening = NetworkTransport::listen(config);
    ASSERT_TRUE(listening) << listening.error();
    server.transport = std::move(*listening);
  }
  [[nodiscard]] static bool sealed() { return GetParam(); }
  [[nodiscard]] ConnectToken token(std::uint64_t client_id) const {
    ConnectGrant grant{.client_id = client_id, .expires_s = unix_s() + 60};
    grant.servers = {{test::loopback_ip(), server.transport->port()}};
    return *issue_token(grant, key, 0);
  }
  End& join() {
    OrInsecure<ClientSecurity> security = Insecure{};
    if (sealed()) security = ClientSecurity{token(1 + clients.size())};
    auto connecting = NetworkTransport::connect({.host = test::loopback(),
                                                 .port = server.transport->port(),
                                                 .security = security,
                                                 .transport = "udp"});
    EXPECT_TRUE(connecting);
    clients.push_back(std::make_unique<End>());
    clients.back()->transport = std::move(*connecting);
    return *clients.back();
  }
  bool until(const std::function<bool()>& done) {
    const auto turn = [this] {
      server.turn();
      for (const auto& client : clients)
        client->turn();
    };
    return test::turn_until(turn, done, kTimeoutS);
  }
};

// The datagrams are valid requests. The server would answer them if they came from any other port.
TEST_P(PortZero, IsNotAnsweredAndDoesNotDelayOthers) {
  const End& here = join();
  ASSERT_TRUE(until([&] { return !here.connected.empty() && !server.connected.empty(); }));
  secure::ClientHandshake handshake(kProtocolVersion);
  const auto request = handshake.to_send(0.0);
  ASSERT_TRUE(request);
  const Bytes question(request->begin(), request->end());
  const std::uint64_t answered = server.transport->stats().datagrams_sent;
  ASSERT_TRUE(test::UdpSocket().send({test::loopback_ip(), server.transport->port()}, question));
  ASSERT_TRUE(until([&] { return server.transport->stats().datagrams_sent > answered; }));
  const RefusalCounts before = server.transport->stats().refusals;
  for (int i = 0; i < kDatagrams; ++i)
    ASSERT_TRUE(nowhere.send(0, server.transport->port(), question));
  const RefusalCounts& now = server.transport->stats().refusals;
  (void)until([&] { return now.total() >= before.total() + kDatagrams; });
  EXPECT_EQ(now[Refusal::malformed], before[Refusal::malformed] + kDatagrams);
  EXPECT_EQ(now.total(), before.total() + kDatagrams);
  (void)here.transport->send(here.connected[0], Bytes(20));
  const End& next = join();
  EXPECT_TRUE(until([&] { return server.received.size() == 1 && !next.connected.empty(); }));
  EXPECT_TRUE(server.disconnected.empty());
  EXPECT_EQ(server.transport->stats().service_errors, 0u);
}

INSTANTIATE_TEST_SUITE_P(Of, PortZero, testing::Bool(),
                         [](const auto& which) { return which.param ? "Sealed" : "Open"; });

}  // namespace
}  // namespace reckoner
