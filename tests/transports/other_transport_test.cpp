// SPDX-License-Identifier: MIT
// A client that is set to another transport than its server. Each row of NetworkTransport recognises the
// first datagram of the other one, and the client learns the name of the transport that it needs.
#include "socket_world.hpp"

#include <ostream>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

struct WrongPair {
  TransportRow server, client;
};

void PrintTo(const WrongPair& pair, std::ostream* out) {
  *out << pair.client.name << " to " << pair.server.name;
}

class OtherTransport : public testing::TestWithParam<WrongPair> {};

INSTANTIATE_TEST_SUITE_P(, OtherTransport,
                         testing::Values(WrongPair{kEnetRow, kUdpRow}, WrongPair{kEnetRow, kSealedUdpRow},
                                         WrongPair{kUdpRow, kEnetRow}, WrongPair{kSealedUdpRow, kEnetRow}),
                         [](const auto& pair) {
                           return std::string(pair.param.client.name) + "_to_" + pair.param.server.name;
                         });

// One client reconnects and asks its dialer why nobody answers. The other one has only its one transport to
// ask.
TEST_P(OtherTransport, IsNamedToTheClientAndCounted) {
  const TransportRow& row = GetParam().client;
  SocketWorld world(GetParam().server);
  const SocketPlayer& dialing = world.dial_as(row);
  auto connecting = NetworkTransport::connect({.host = world.host(),
                                               .port = world.port(),
                                               .security = world.security_of(row),
                                               .transport = row.transport});
  ASSERT_TRUE(connecting) << connecting.error();
  auto connected = Client::create({}, **connecting);
  ASSERT_TRUE(connected) << connected.error();
  ASSERT_TRUE(world.until([&] {
    connected->update(world.local_s());
    return dialing.is_over() && connected->status() == ClientStatus::disconnected;
  }));
  EXPECT_EQ(dialing.status(), ClientStatus::disconnected);
  const std::string why = "the server does not answer; the server uses the transport \"" +
                          std::string(GetParam().server.transport) + "\"";
  EXPECT_EQ(dialing.client->refusal(), why);
  EXPECT_EQ(connected->refusal(), why);
  EXPECT_GE(world.transport().stats().refusals[Refusal::other_transport], 2u);
  EXPECT_EQ(world.server().client_count(), 0u);
  EXPECT_TRUE(world.events().empty());
}

}  // namespace
}  // namespace reckoner::test
