// SPDX-License-Identifier: MIT
// One connection after another, over real sockets.
#include "real_time.hpp"
#include "tests/support/loopback.hpp"

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <reckoner/net/network_dialer.hpp>

namespace reckoner {
namespace {

using test::kTimeoutS;
using test::now_s;
using test::unix_s;

constexpr std::uint64_t kGame = 12;

struct Bench {
  SecretKey key = SecretKey::make();
  std::unique_ptr<NetworkTransport> server;
  std::vector<std::uint64_t> joined;  // client ids

  double ticket_s = 3600.0;

  void listen(std::uint16_t port) {
    ListenConfig config{.host = test::loopback(),
                        .port = port,
                        .max_peers = 8,
                        .security = ServerSecurity{.key = key, .game = kGame, .ticket_s = ticket_s}};
    auto listening = NetworkTransport::listen(config);
    ASSERT_TRUE(listening) << listening.error();
    server = std::move(*listening);
  }
  [[nodiscard]] ClientSecurity security(std::uint64_t client_id, std::uint64_t seconds = 60) const {
    ConnectGrant grant{.client_id = client_id, .expires_s = unix_s() + seconds};
    grant.servers = {{test::loopback_ip(), server->port()}};
    return {.token = *issue_token(grant, key, kGame), .game = kGame};
  }
  // True once the dialer's newest connection is established at both ends.
  bool joins(NetworkDialer& dialer) {
    bool client_in = false;
    const std::size_t before = joined.size();
    for (const double end_s = now_s() + kTimeoutS; now_s() < end_s && !(client_in && joined.size() > before);
         usleep(300)) {
      server->service(0.0);
      while (const auto event = server->poll()) {
        if (event->kind == TransportEvent::Kind::connected)
          joined.push_back(server->identity(event->peer)->client_id);
      }
      dialer.transport()->service(0.0);
      while (const auto event = dialer.transport()->poll()) {
        if (event->kind == TransportEvent::Kind::disconnected) return false;
        client_in = client_in || event->kind == TransportEvent::Kind::connected;
      }
    }
    return client_in && joined.size() > before;
  }
};

// Connects with the token first, then with one ticket after another, as the same client. This also works at a
// restarted server that knows nothing but the key.
TEST(NetworkDialer, ReconnectsWithTicketsEvenToARestartedServer) {
  Bench bench;
  bench.listen(0);
  const std::uint16_t port = bench.server->port();
  NetworkDialer dialer(
      {.host = test::loopback(), .port = port, .security = bench.security(41), .version = 3});
  EXPECT_EQ(dialer.transport(), nullptr);
  for (int i = 0; i < 4; ++i) {
    if (i == 2) {
      bench.server.reset();
      bench.listen(port);
    }
    ASSERT_TRUE(dialer.dial());
    ASSERT_TRUE(bench.joins(dialer)) << i;
  }
  EXPECT_EQ(bench.joined, (std::vector<std::uint64_t>{41, 41, 41, 41}));
  EXPECT_GE(dialer.stats().datagrams_sent, 4 * 3u) << "of all connections";
}

// The first ticket has expired when it is needed, and the token expired long before.
// It waits, because the transport and the expiry of tickets, which is in whole seconds, read the system's
// clocks.
TEST(NetworkDialer, ReconnectsAfterItsFirstTicketHasExpired) {
  Bench bench;
  bench.ticket_s = 6.0;
  bench.listen(0);
  const std::uint16_t port = bench.server->port();
  NetworkDialer dialer(
      {.host = test::loopback(), .port = port, .security = bench.security(41, 5), .version = 3});
  ASSERT_TRUE(dialer.dial());
  ASSERT_TRUE(bench.joins(dialer));
  const ConnectToken first = *dialer.transport()->ticket();
  for (const double end_s = now_s() + 8.0; now_s() < end_s; usleep(10'000)) {
    bench.server->service(0.0);
    dialer.transport()->service(0.0);
  }
  EXPECT_TRUE(NetworkTransport::is_expired(first));
  bench.server.reset();
  bench.listen(port);
  ASSERT_TRUE(dialer.dial());
  EXPECT_TRUE(bench.joins(dialer));
  EXPECT_EQ(bench.joined.back(), 41u);
}

// An attempt without an answer does not use up the token.
TEST(NetworkDialer, ReusesTheTokenUntilItIsAccepted) {
  Bench bench;
  bench.listen(0);
  const std::uint16_t port = bench.server->port();
  NetworkDialer dialer({.host = test::loopback(), .port = port, .security = bench.security(7), .version = 3});
  bench.server.reset();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(dialer.dial());
    dialer.transport()->service(0.0);
  }
  bench.listen(port);
  ASSERT_TRUE(dialer.dial());
  EXPECT_TRUE(bench.joins(dialer));
}

// The first server of the token does not answer. The dialer goes to the next one and stays there, also with
// the ticket.
TEST(NetworkDialer, TriesTheServersOfItsTokenInTurn) {
  Bench bench;
  bench.listen(0);
  ConnectGrant grant{.client_id = 5, .expires_s = unix_s() + 60};
  const auto nobody =
      NetworkTransport::listen({.host = test::loopback(), .security = Insecure{}, .transport = "udp"});
  ASSERT_TRUE(nobody);  // owns the port but answers nothing
  grant.servers = {{test::loopback_ip(), (*nobody)->port()}, {test::loopback_ip(), bench.server->port()}};
  NetworkDialer dialer(
      {.security = ClientSecurity{.token = *issue_token(grant, bench.key, kGame), .game = kGame},
       .version = 3});
  ASSERT_TRUE(dialer.dial());
  for (const double end_s = now_s() + 0.2; now_s() < end_s; usleep(2000))
    dialer.transport()->service(0.0);
  EXPECT_FALSE(dialer.transport()->ticket());
  EXPECT_TRUE(dialer.try_next_server()) << "there is another";
  ASSERT_TRUE(dialer.dial());
  ASSERT_TRUE(bench.joins(dialer));
  ASSERT_TRUE(dialer.dial());
  ASSERT_TRUE(bench.joins(dialer)) << "the one that was connected last comes first";
  EXPECT_TRUE(dialer.try_next_server()) << "and then the others, in turn";
  EXPECT_FALSE(dialer.try_next_server()) << "until all have been tried";
  EXPECT_EQ(bench.joined, (std::vector<std::uint64_t>{5, 5}));
}

TEST(NetworkDialer, ExplicitServerIsTheOnlyOneTried) {
  Bench bench;
  bench.listen(0);
  ConnectGrant grant{.client_id = 5, .expires_s = unix_s() + 60};
  grant.servers = {{test::loopback_ip(), 1}, {test::loopback_ip(), bench.server->port()}};
  const ClientSecurity security{.token = *issue_token(grant, bench.key, kGame), .game = kGame};
  NetworkDialer dialer(
      {.host = test::loopback(), .port = bench.server->port(), .security = security, .version = 3});
  EXPECT_FALSE(dialer.try_next_server());
  ASSERT_TRUE(dialer.dial());
  EXPECT_TRUE(bench.joins(dialer));
}

// A new token provides new server addresses. A token without addresses keeps the old ones.
TEST(NetworkDialer, NewTokenReplacesTheServers) {
  Bench bench;
  bench.listen(0);
  ConnectGrant grant{.client_id = 5, .expires_s = unix_s() + 60, .servers = {{test::loopback_ip(), 1}}};
  NetworkDialer dialer(
      {.security = ClientSecurity{.token = *issue_token(grant, bench.key, kGame), .game = kGame},
       .version = 3});
  dialer.set_security(bench.security(6));
  ASSERT_TRUE(dialer.dial());
  ASSERT_TRUE(bench.joins(dialer));
  const ConnectToken ticket = *dialer.transport()->ticket();
  EXPECT_TRUE(ticket.servers.empty());
  dialer.set_security({.token = ticket, .game = kGame});
  ASSERT_TRUE(dialer.dial());
  EXPECT_TRUE(bench.joins(dialer));
  NetworkDialer lost({.security = ClientSecurity{.token = ticket, .game = kGame}, .version = 3});
  const auto refused = lost.dial();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("server"), std::string::npos) << refused.error();
}

// The server decides whether a token is valid, because the player's clock may be wrong. The dialer therefore
// sends an expired token, and names it as a possible reason if nothing answers.
TEST(NetworkDialer, ReportsAnExpiredTokenButStillTriesIt) {
  Bench bench;
  bench.listen(0);
  NetworkDialer dialer({.host = test::loopback(),
                        .port = bench.server->port(),
                        .security = bench.security(7, 0),
                        .version = 3});
  ASSERT_TRUE(dialer.dial());
  const double begin_s = now_s();
  EXPECT_FALSE(bench.joins(dialer));
  EXPECT_LT(now_s() - begin_s, kTimeoutS) << "the dialer reports that there is no answer";
  EXPECT_GT(bench.server->stats().refusals[Refusal::wrong_token], 0u) << "the dialer did try the token";
  EXPECT_NE(dialer.failure_hint().find("expired"), std::string::npos) << dialer.failure_hint();
  dialer.set_security(bench.security(8));
  EXPECT_EQ(dialer.failure_hint(), "");
  ASSERT_TRUE(dialer.dial());
  EXPECT_TRUE(bench.joins(dialer));
  EXPECT_EQ(dialer.failure_hint(), "");
  EXPECT_EQ(bench.joined.back(), 8u);
}

TEST(NetworkDialer, EmptyTokenIsNotCalledExpired) {
  NetworkDialer dialer({.host = test::loopback(), .port = 9, .security = ClientSecurity{}, .version = 3});
  const auto dialed = dialer.dial();
  ASSERT_FALSE(dialed);
  EXPECT_EQ(dialed.error(), "the token is empty");
  EXPECT_EQ(dialer.failure_hint(), "");
}

// A token that was accepted is not reported as expired later, however long the connection lasts.
TEST(NetworkDialer, DoesNotReportAnAcceptedToken) {
  Bench bench;
  bench.listen(0);
  NetworkDialer dialer({.host = test::loopback(),
                        .port = bench.server->port(),
                        .security = bench.security(7, 3),
                        .version = 3});
  ASSERT_TRUE(dialer.dial());
  ASSERT_TRUE(bench.joins(dialer));
  for (const double end_s = now_s() + 3.5; now_s() < end_s; usleep(10'000)) {
    bench.server->service(0.0);
    dialer.transport()->service(0.0);
  }
  EXPECT_EQ(dialer.failure_hint(), "");
}

TEST(NetworkDialer, RandomNumbersDiffer) {
  NetworkDialer dialer({.host = test::loopback(), .port = 1, .security = Insecure{}, .version = 3});
  std::set<double> seen;
  for (int i = 0; i < 1000; ++i) {
    const double random_fraction = dialer.random_fraction();
    EXPECT_GE(random_fraction, 0.0);
    EXPECT_LT(random_fraction, 1.0);
    seen.insert(random_fraction);
  }
  EXPECT_GT(seen.size(), 990u);
}

TEST(NetworkDialer, SaysThatAHostIsUnknown) {
  const auto nobody = [](const std::string&) { return std::vector<SocketAddress>(); };
  NetworkDialer dialer({.host = "no-such-host.invalid",
                        .port = 26000,
                        .security = Insecure{},
                        .resolve = nobody,
                        .version = 3});
  const auto dialed = dialer.dial();
  ASSERT_TRUE(dialed);
  std::optional<TransportEvent> event;
  const auto turn = [&] {
    (*dialed)->service(0.0);
    event = (*dialed)->poll();
  };
  ASSERT_TRUE(test::turn_until(
      turn, [&] { return event.has_value(); }, test::kTimeoutS));
  EXPECT_EQ(event->kind, TransportEvent::Kind::disconnected);
  EXPECT_NE(dialer.failure_hint().find("no-such-host.invalid"), std::string::npos) << dialer.failure_hint();
}

}  // namespace
}  // namespace reckoner
