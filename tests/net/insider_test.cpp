// SPDX-License-Identifier: MIT
// An admitted client cannot harm another client. The attacker seals datagrams by hand for its own session and
// sends them from the other client's address, as if both were behind one router. So their addresses are
// equal.
#include "net/src/secure/guard.hpp"
#include "raw_client.hpp"
#include "token_server.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/network_transport.hpp>

namespace reckoner {
namespace {

using secure::Kind;
using test::Bytes;
using test::End;
using test::now_s;
using test::RawClient;
using test::unix_s;

constexpr unsigned kPeers = 8;

class HostileClient : public test::TokenServer<NetworkTransport> {
 protected:
  End& honest = add_client();
  std::optional<secure::Guard> insider;
  std::uint32_t honest_session = 0, his = 0;  // sessions of the honest client and of the insider
  Bytes seen;                                 // a sealed datagram of the honest client

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(serve(NetworkTransport::listen(
        {.host = test::loopback(),
         .max_peers = kPeers,
         .security = ServerSecurity{.key = key, .game = kGame, .half_open_s = 60.0}})));
    put_relay_in_front();
    ASSERT_NO_FATAL_FAILURE(connect(honest, relay->port(), ClientSecurity{token(1), kGame}));
    ASSERT_TRUE(until([&] { return !honest.connected.empty() && !server.connected.empty(); }));
    seen = relay->up.back();
    ASSERT_TRUE(secure::sealed_session(seen));
    honest_session = *secure::sealed_session(seen);
    insider.emplace(token(2), kGame);
    relay->drop_down = [this](const Bytes& bytes) {
      if (secure::sealed_session(bytes) == honest_session) return false;
      (void)insider->arrive({}, bytes, now_s(), unix_s());
      return true;
    };
    ASSERT_TRUE(until([&] {
      if (const auto message = insider->to_send(now_s())) relay->send_up({message->begin(), message->end()});
      return insider->joined() != nullptr;
    }));
    his = insider->joined()->number;
    ASSERT_NE(his, honest_session);
  }
  /// Waits until the server has counted `times` more refusals for this reason, and none for another one.
  void expect_refused(Refusal why, std::size_t times, const RefusalCounts& before) {
    const auto& now = server.transport->stats().refusals;
    EXPECT_TRUE(until([&] { return now.total() >= before.total() + times; }));
    EXPECT_EQ(now[why], before[why] + times);
    EXPECT_EQ(now.total(), before.total() + times);
  }
  /// The server has received only the honest client's payloads, and that client is still connected.
  void expect_undisturbed() {
    EXPECT_FALSE(until([&] { return !server.disconnected.empty() || !honest.disconnected.empty(); }, 0.3));
    EXPECT_TRUE(server.received.empty());
    const Bytes datagram(3, std::byte{1});
    (void)honest.transport->send(honest.connected[0], datagram);
    EXPECT_TRUE(until([&] { return !server.received.empty(); }));
    EXPECT_EQ(server.received, std::vector<Bytes>{datagram});
    EXPECT_EQ(server.connected.size(), 1u);
    EXPECT_EQ(server.transport->stats().address_changes, 0u);
  }
};

Bytes renamed(std::span<const std::byte> sealed, std::uint32_t session) {
  Bytes bytes(sealed.begin(), sealed.end());
  for (std::size_t i = 0; i < 4; ++i)
    bytes[1 + i] = static_cast<std::byte>(session >> (8 * i));
  return bytes;
}

// The key decides, whatever session number the header names and wherever the datagram comes from.
TEST_F(HostileClient, CannotSealForAnotherSession) {
  ASSERT_EQ(renamed(seen, honest_session), seen) << "that is where the number stands";
  secure::Sealer sealer(insider->joined()->keys.to_server, honest_session, 1'000'000);
  std::vector<Bytes> forged{renamed(seen, his)};
  for (const Kind kind : {Kind::datagram, Kind::echo, Kind::alive, Kind::close, Kind::closed}) {
    const Bytes plain(kind == Kind::echo ? 8 : kind == Kind::datagram || kind == Kind::close ? 4 : 0);
    forged.push_back(renamed(insider->write(kind, plain), honest_session));
    Bytes out(100);
    const auto sealed = sealer.seal(kind, plain, out);
    forged.emplace_back(sealed.begin(), sealed.end());
  }
  const RefusalCounts before = server.transport->stats().refusals;
  RawClient elsewhere(server.transport->port(), test::other_loopback(0x50));
  for (const Bytes& datagram : forged) {
    relay->send_up(datagram);
    elsewhere.send(datagram);
  }
  expect_refused(Refusal::not_genuine, 2 * forged.size(), before);
  EXPECT_FALSE(elsewhere.heard()) << "no probe was sent";
  expect_undisturbed();
}

}  // namespace
}  // namespace reckoner
