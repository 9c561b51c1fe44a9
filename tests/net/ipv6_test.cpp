// SPDX-License-Identifier: MIT
// Servers for both families, clients that find their server by name, and changes between the families. The
// other tests with sockets run once over each family (tests/support/loopback.hpp).
#include "net/src/secure/handshake.hpp"
#include "net/src/secure/seal.hpp"
#include "net/src/transport/socket/udp_socket.hpp"
#include "token_server.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/network_dialer.hpp>

namespace reckoner {
namespace {

using test::Bytes;
using test::End;
using test::kLoopback4;
using test::kLoopback6;
using test::now_s;

class Ipv6 : public test::TokenServer<NetworkTransport> {
 protected:
  void SetUp() override {
    reckoner::UdpSocket probe = reckoner::UdpSocket::open(IpFamilies::ipv6);
    if (!probe || !probe.bind({kLoopback6})) GTEST_SKIP() << "this machine does not have the address ::1";
  }
  void listen(const std::string& host, bool sealed = true) {
    ListenConfig config{.host = host, .max_peers = 16, .security = Insecure{}, .transport = "udp"};
    if (sealed)
      config.security = ServerSecurity{.key = key, .game = kGame, .addresses = {{kLoopback4}, {kLoopback6}}};
    ASSERT_NO_FATAL_FAILURE(serve(NetworkTransport::listen(config)));
  }
  [[nodiscard]] OrInsecure<ClientSecurity> security_for(const std::vector<IpAddress>& servers) {
    ConnectGrant named = grant(++clients_);
    named.servers.clear();
    for (const IpAddress& host : servers)
      named.servers.push_back({host, port()});
    return ClientSecurity{*issue_token(named, key, kGame), kGame};
  }
  End& dial(const std::string& host, const OrInsecure<ClientSecurity>& security,
            const ResolveHost& resolve = {}) {
    return dial(host, port(), security, resolve);
  }
  End& dial(const std::string& host, std::uint16_t to, const OrInsecure<ClientSecurity>& security,
            const ResolveHost& resolve = {}) {
    End& client = add_client();
    auto connecting = NetworkTransport::connect(
        {.host = host, .port = to, .security = security, .transport = "udp", .resolve = resolve});
    EXPECT_TRUE(connecting) << (connecting ? "" : connecting.error());
    if (connecting) client.transport = std::move(*connecting);
    return client;
  }
  bool joins(End& client) {
    return until([&] { return !client.connected.empty() || !client.disconnected.empty(); }) &&
           client.disconnected.empty();
  }
  std::uint64_t clients_ = 0;
};

TEST_F(Ipv6, OneServerServesBothFamiliesOnOnePort) {
  for (const bool sealed : {true, false}) {
    listen("", sealed);
    const auto security = [&](const IpAddress& host) {
      return sealed ? security_for({host}) : OrInsecure<ClientSecurity>(Insecure{});
    };
    EXPECT_TRUE(joins(dial("127.0.0.1", security(kLoopback4)))) << sealed;
    EXPECT_TRUE(joins(dial("::1", security(kLoopback6)))) << sealed;
    EXPECT_TRUE(joins(dial("[::1]", security(kLoopback6)))) << sealed;
    EXPECT_TRUE(until([&] { return server.connected.size() == 3; }));
    for (const auto& client : clients)
      (void)client->transport->send(client->connected[0], Bytes(20));
    EXPECT_TRUE(until([&] { return server.received.size() == 3; }));
    EXPECT_EQ(server.transport->stats().refused, 0u);
    EXPECT_EQ(server.transport->stats().service_errors, 0u);
    clients.clear();
    server = {};
  }
}

TEST_F(Ipv6, AFamilyCanBeLeftOut) {
  const auto joins_at = [&](const std::string& host, const IpAddress& at, double patience_s) {
    listen(host);
    End& client = dial(host_text({at}), security_for({at}));
    const bool joined = until([&] { return !client.connected.empty(); }, patience_s);
    clients.clear();
    server = {};
    return joined;
  };
  EXPECT_TRUE(joins_at("0.0.0.0", kLoopback4, test::kTimeoutS));
  EXPECT_FALSE(joins_at("0.0.0.0", kLoopback6, 0.5));
  EXPECT_TRUE(joins_at("::", kLoopback6, test::kTimeoutS));
  EXPECT_FALSE(joins_at("::", kLoopback4, 0.5));
}

// Both kinds of addresses of a name are tried, and the first that answers wins. The other leads nowhere.
TEST_F(Ipv6, ClientFindsTheAddressThatAnswers) {
  for (const char* host : {"127.0.0.1", "::1"}) {
    for (const bool sealed : {true, false}) {
      listen(host, sealed);
      const IpAddress at = parse_host(host)->host;
      const ResolveHost both = [](const std::string&) {
        return std::vector<SocketAddress>{{kLoopback6}, {kLoopback4}};
      };
      EXPECT_TRUE(joins(dial("game.example", sealed ? security_for({at}) : Insecure{}, both)))
          << host << sealed;
      clients.clear();
      server = {};
    }
  }
}

// If both addresses lead to the server, the client joins once.
TEST_F(Ipv6, ClientWithTwoWorkingAddressesJoinsOnce) {
  for (const bool sealed : {true, false}) {
    listen("", sealed);
    const ResolveHost both = [](const std::string&) {
      return std::vector<SocketAddress>{{kLoopback6}, {kLoopback4}};
    };
    End& client = dial("game.example", sealed ? security_for({kLoopback4, kLoopback6}) : Insecure{}, both);
    ASSERT_TRUE(joins(client));
    (void)until([] { return false; }, 0.6);
    EXPECT_EQ(server.connected.size(), 1u);
    EXPECT_EQ(client.connected.size(), 1u);
    EXPECT_TRUE(client.disconnected.empty() && server.disconnected.empty());
    clients.clear();
    server = {};
  }
}

// The game thread does not wait for a name server that does not answer.
TEST_F(Ipv6, ASlowLookUpDoesNotBlockTheGame) {
  listen("");
  auto may_answer = std::make_shared<std::atomic<bool>>(false);
  const ResolveHost slow = [may_answer](const std::string&) {
    while (!*may_answer)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::vector<SocketAddress>{{kLoopback6}};
  };
  End& client = dial("game.example", security_for({kLoopback6}), slow);
  for (int frame = 0; frame < 20; ++frame)
    turn();  // would never return
  EXPECT_TRUE(client.connected.empty());
  *may_answer = true;
  EXPECT_TRUE(joins(client));
}

TEST_F(Ipv6, TokenNamesServersOfBothFamilies) {
  listen("::1");
  ConnectGrant named = grant(++clients_);
  named.servers = {{kLoopback4, port()}, {kLoopback6, port()}};
  NetworkDialer dialer({.security = ClientSecurity{*issue_token(named, key, kGame), kGame}, .version = 5});
  bool joined = false;
  for (int tries = 0; tries < 2 && !joined; ++tries) {
    const auto dialed = dialer.dial();
    ASSERT_TRUE(dialed) << dialed.error();
    bool failed = false;
    (void)until([&] {
      (*dialed)->service(0.0);
      while (const auto event = (*dialed)->poll())
        (event->kind == TransportEvent::Kind::connected ? joined : failed) = true;
      return joined || failed;
    });
    if (failed) (void)dialer.try_next_server();
  }
  EXPECT_TRUE(joined);
}

// A translator between an IPv6-only client and a server that knows only IPv4. The server checks the addresses
// in the token against its own, and not against the one that the client sent to.
TEST_F(Ipv6, ClientBehindATranslatorJoins) {
  listen("127.0.0.1");
  relay = std::make_unique<test::Relay>(port(), kLoopback6);
  relay->rebind(kLoopback4);
  ConnectGrant named = grant(++clients_);
  named.servers = {{kLoopback4, port()}};
  End& client = dial("::1", relay->port(), ClientSecurity{*issue_token(named, key, kGame), kGame});
  EXPECT_TRUE(joins(client));
  EXPECT_TRUE(until([&] { return !server.connected.empty(); }));
}

// A telephone leaves the wireless network (IPv4) for the mobile network (IPv6) and comes back.
TEST_F(Ipv6, SessionContinuesAfterAChangeOfFamily) {
  listen("");
  relay = std::make_unique<test::Relay>(port(), kLoopback4);
  End& client = dial("127.0.0.1", relay->port(), security_for({kLoopback4}));
  ASSERT_TRUE(joins(client));
  ASSERT_TRUE(until([&] { return !server.connected.empty(); }));
  std::uint64_t changes = 0;
  for (const IpAddress& next : {kLoopback6, kLoopback4, kLoopback6}) {
    relay->rebind(next);
    const auto number = static_cast<std::byte>(++changes);
    const auto has_new = [&](const End& end) {
      return !end.received.empty() && end.received.back().front() == number;
    };
    double next_s = now_s();
    ASSERT_TRUE(until([&] {
      for (; now_s() >= next_s; next_s += 1.0 / 60.0) {
        (void)client.transport->send(client.connected[0], Bytes(12, number));
        (void)server.transport->send(server.connected[0], Bytes(100, number));
      }
      return server.transport->stats().address_changes == changes && has_new(client) && has_new(server);
    })) << changes;
  }
  EXPECT_EQ(server.connected.size(), 1u);
  EXPECT_TRUE(server.disconnected.empty() && client.disconnected.empty());
}

// The header of IPv6 is twice as long.
TEST_F(Ipv6, StatisticsCountTheHeadersOfEachFamily) {
  listen("");
  for (const IpAddress& host : {kLoopback4, kLoopback6}) {
    const std::size_t header = host.is_ipv4() ? 28 : 48;
    relay = std::make_unique<test::Relay>(port(), host);
    End& client = dial(host_text({host}), relay->port(), security_for({host}));
    ASSERT_TRUE(joins(client));
    for (int i = 0; i < 10; ++i)
      (void)client.transport->send(client.connected[0], Bytes(100));
    const auto on_the_wire = [&] {
      std::size_t bytes = 0;
      for (const Bytes& datagram : relay->up)
        bytes += datagram.size() + header;
      return bytes;
    };
    EXPECT_TRUE(until([&] { return client.transport->stats().wire_bytes_sent == on_the_wire(); })) << header;
    EXPECT_EQ(client.transport->stats().datagrams_sent, relay->up.size());
    clients.clear();
    relay.reset();
  }
}

// IPv6 guarantees that packets of 1280 bytes pass.
TEST_F(Ipv6, LargestDatagramsFitTheMinimumMtu) {
  constexpr std::size_t kHeaders = kIpv6HeaderBytes + kUdpHeaderBytes, kMinMtu = 1280;
  static_assert(kMaxDatagramBytes + secure::kSealBytes + kHeaders <= kMinMtu);
  static_assert(secure::Response::kBytes + kHeaders <= kMinMtu &&
                secure::Accepted::kBytes + kHeaders <= kMinMtu);
  for (const bool sealed : {true, false}) {
    listen("::1", sealed);
    relay = std::make_unique<test::Relay>(port(), kLoopback6);
    End& client = dial("::1", relay->port(), sealed ? security_for({kLoopback6}) : Insecure{});
    ASSERT_TRUE(joins(client));
    ASSERT_TRUE(until([&] { return !server.connected.empty(); }));
    const std::size_t most = client.transport->max_datagram_bytes(client.connected[0]);
    (void)client.transport->send(client.connected[0], Bytes(most));
    ASSERT_TRUE(until([&] { return server.received.size() == 1; }));
    std::size_t longest = 0;
    for (const Bytes& bytes : relay->up)
      longest = std::max(longest, bytes.size());
    EXPECT_LE(longest + kHeaders, kMinMtu);
    EXPECT_GE(longest + kHeaders, kMinMtu - 60);
    clients.clear();
    relay.reset();
    server = {};
  }
}

}  // namespace
}  // namespace reckoner
