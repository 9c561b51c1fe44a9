// SPDX-License-Identifier: MIT
// Several hosts of one server that requires tokens. The system assigns each client socket to a random host.
#include "net/src/messages/messages.hpp"
#include "token_server.hpp"

#include <set>

#include <gtest/gtest.h>

#include <reckoner/net/sharded_transport.hpp>

namespace reckoner {
namespace {

using test::End;

constexpr std::uint32_t kPeersPerHost = 16;

class ShardedSecurity : public test::TokenServer<ShardedTransport> {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(serve(ShardedTransport::listen(
        {.host = test::loopback(), .max_peers = 64, .security = ServerSecurity{.key = key, .game = kGame}},
        kPeersPerHost)));
    ASSERT_GE(server.transport->hosts(), 4u);
  }
  End& join(const ConnectToken& with) { return TokenServer::join(with, port()); }
};

// If each host kept its own table of used tokens, each host would admit one of these clients.
TEST_F(ShardedSecurity, TokenIsAcceptedOnceOverAllHosts) {
  constexpr std::size_t kThieves = 11;
  const ConnectToken stolen = token(1);
  for (std::size_t i = 0; i < kThieves + 1; ++i)
    join(stolen);
  const auto turned_away = [&] { return server.transport->stats().refusals[Refusal::token_reused]; };
  EXPECT_TRUE(until([&] { return !server.connected.empty() && turned_away() >= kThieves; }));
  EXPECT_FALSE(until([&] { return server.connected.size() > 1 || !server.disconnected.empty(); }, 0.5));
  ASSERT_EQ(server.connected.size(), 1u);
  std::size_t inside = 0;
  for (const auto& client : clients)
    inside += client->connected.size();
  EXPECT_EQ(inside, 1u);
}

// The client returns with a ticket and with a newer token in turn.
TEST_F(ShardedSecurity, ReturningClientReplacesItsConnectionAtAnyHost) {
  join(token(5));
  ASSERT_TRUE(until([&] { return !clients[0]->connected.empty() && server.connected.size() == 1; }));
  std::set<std::size_t> hosts{server.transport->host_of(server.connected[0])};
  for (std::size_t i = 1; i <= 16; ++i) {
    SCOPED_TRACE(i);
    const bool by_ticket = i % 2 == 0;
    End& older = *clients.back();
    const End& newer = join(by_ticket ? *older.transport->ticket() : token(5));
    ASSERT_TRUE(until([&] {
      return server.connected.size() == i + 1 && server.disconnected.size() == i &&
             !newer.connected.empty() && !older.disconnected.empty();
    }));
    EXPECT_EQ(server.disconnected.back(), server.connected[i - 1]);
    EXPECT_EQ(unpack_end_code(server.reasons.back()).reason,
              by_ticket ? EndReason::none : EndReason::replaced);
    EXPECT_EQ(unpack_end_code(older.reasons[0]).reason, EndReason::replaced);
    ASSERT_TRUE(server.transport->identity(server.connected[i]));
    EXPECT_EQ(server.transport->identity(server.connected[i])->client_id, 5u);
    hosts.insert(server.transport->host_of(server.connected[i]));
  }
  EXPECT_GT(hosts.size(), 1u) << "otherwise the test proves nothing";
}

}  // namespace
}  // namespace reckoner
