// SPDX-License-Identifier: MIT
// An admitted client cannot harm another client. The attacker seals datagrams by hand for its own session and
// sends them from the other client's address, as if both were behind one router. So their addresses are
// equal.
#include "enet_datagram.hpp"
#include "net/src/secure/guard.hpp"
#include "raw_client.hpp"
#include "token_server.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/enet_transport.hpp>

namespace reckoner {
namespace {

using secure::Kind;
using test::Bytes;
using test::End;
using test::EnetDatagram;
using test::now_s;
using test::RawClient;
using test::unix_s;

constexpr unsigned kPeers = 8;

class HostileClient : public test::TokenServer<EnetTransport> {
 protected:
  End& honest = add_client();
  std::optional<secure::Guard> insider;
  std::uint32_t honest_session = 0, his = 0;  // sessions of the honest client and of the insider
  Bytes seen;                                 // a sealed datagram of the honest client

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(serve(
        EnetTransport::listen({.host = test::loopback(),
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
    EXPECT_TRUE(server.state.empty());
    EXPECT_TRUE(server.control.empty());
    const Bytes state(3, std::byte{1}), control(4, std::byte{2});
    (void)honest.transport->send(honest.connected[0], Channel::state, state);
    (void)honest.transport->send(honest.connected[0], Channel::control, control);
    EXPECT_TRUE(until([&] { return !server.state.empty() && !server.control.empty(); }));
    EXPECT_EQ(server.state, std::vector<Bytes>{state});
    EXPECT_EQ(server.control, std::vector<Bytes>{control});
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
  for (const Kind kind : {Kind::enet, Kind::state, Kind::echo}) {
    const Bytes plain = kind == Kind::enet ? EnetDatagram(0).command(0x04, 0xFF).put32(0).bytes : Bytes(8);
    forged.push_back(renamed(insider->seal(*insider->sealer_of(0), kind, plain), honest_session));
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

// The datagrams are correctly sealed for the insider's own session, but the ENet header names the other
// client's peer. ENet identifies peers by number and address, and both match.
TEST_F(HostileClient, CannotNameAnotherConnection) {
  const auto speaks = [this](const Bytes& plain) {
    const auto sealed = insider->seal(*insider->sealer_of(0), Kind::enet, plain);
    relay->send_up({sealed.begin(), sealed.end()});
  };
  const auto in_every_name = [&](const std::function<void(EnetDatagram&)>& say) {
    std::size_t times = 0;
    for (const unsigned peer : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, kPeers, 0xFFEu}) {
      for (unsigned session = 0; session < 4; ++session, ++times) {
        EnetDatagram datagram(peer | session << 12);
        say(datagram);
        speaks(datagram.bytes);
      }
    }
    return times;
  };
  RefusalCounts before = server.transport->stats().refusals;
  speaks(EnetDatagram::connect(2, honest_session).bytes);
  expect_refused(Refusal::no_session, 1, before);
  const std::function<void(EnetDatagram&)> commands[] = {
      [](EnetDatagram& state) { state.command(0x49, 1, 0).put16(1).put16(3).data(3); },
      [](EnetDatagram& control) { control.command(0x86, 0).put16(3).data(3); },
      [](EnetDatagram& disconnect) { disconnect.command(0x04, 0xFF).put32(0); }};
  for (const auto& command : commands) {
    before = server.transport->stats().refusals;
    const std::size_t times = in_every_name(command);
    expect_refused(Refusal::no_session, times, before);
  }
  expect_undisturbed();
}

}  // namespace
}  // namespace reckoner
