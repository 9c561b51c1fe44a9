// SPDX-License-Identifier: MIT
// Every reason for which a transport refuses a datagram, over real sockets: each datagram is counted by its
// reason and by no other.
#include "net/src/secure/handshake.hpp"
#include "net/src/secure/seal.hpp"
#include "raw_client.hpp"
#include "token_server.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <reckoner/net/network_transport.hpp>

namespace reckoner {
namespace {

using test::Bytes;
using test::End;
using test::RawClient;

class TransportRefusal : public test::TokenServer<NetworkTransport> {
 protected:
  ListenConfig config{.host = test::loopback(), .max_peers = 8, .security = Insecure{}};
  std::unique_ptr<RawClient> somebody;
  std::uint64_t issued = 0;

  void SetUp() override {
    config.security = ServerSecurity{.key = key, .game = kGame, .handshakes_per_second = 2.0};
    listen();
  }
  void listen() {
    ASSERT_NO_FATAL_FAILURE(serve(NetworkTransport::listen(config)));
    somebody = std::make_unique<RawClient>(port());
  }
  [[nodiscard]] ConnectToken token(const SecretKey& with) {
    return *issue_token(grant(++issued), with, kGame);
  }
  End& join() {
    End& client = TokenServer::join(token(key), port());
    EXPECT_TRUE(until([&] { return !client.connected.empty(); }));
    return client;
  }
  /// Waits for the server's next message of the handshake. Late answers to an earlier one may come before.
  [[nodiscard]] bool answered(secure::ClientHandshake& handshake, RawClient& from) {
    return until([&] {
      const auto heard = from.heard();
      return heard && handshake.receive(*heard);
    });
  }
  /// The client's next handshake message after the server's answer to the previous one.
  Bytes ask(secure::ClientHandshake& handshake, RawClient& from) {
    from.send(*handshake.to_send(0.0));
    if (!answered(handshake, from)) {
      ADD_FAILURE() << "the server does not answer";
      return {};
    }
    const auto second = handshake.to_send(0.0);
    return Bytes(second->begin(), second->end());
  }
  /// A session without ENet, created by hand.
  std::unique_ptr<secure::ClientHandshake> handshake(RawClient& from) {
    auto made = std::make_unique<secure::ClientHandshake>(token(key), kGame);
    from.send(ask(*made, from));
    EXPECT_TRUE(answered(*made, from));
    return made;
  }
  /// The datagrams sent by `send` cause `times` refusals for this reason, and none for another one.
  void expect_refused(Refusal why, std::uint64_t times, const std::function<void()>& send) {
    SCOPED_TRACE(std::string(name_of(why)));
    const RefusalCounts before = server.transport->stats().refusals;
    send();
    EXPECT_TRUE(until([&] { return server.transport->stats().refusals.total() >= before.total() + times; }));
    for (std::size_t i = 0; i < RefusalCounts::kReasons; ++i) {
      const std::uint64_t expected = before.counts[i] + (static_cast<Refusal>(i) == why ? times : 0);
      EXPECT_EQ(server.transport->stats().refusals.counts[i], expected) << name_of(static_cast<Refusal>(i));
    }
    EXPECT_EQ(server.transport->stats().refused, server.transport->stats().refusals.total());
  }
};

TEST_F(TransportRefusal, CountsMalformedDatagrams) {
  expect_refused(Refusal::malformed, 3, [&] {
    somebody->send(Bytes(50, std::byte{0xFF}));
    somebody->send(Bytes(1));
    somebody->send(Bytes(847, static_cast<std::byte>(secure::Kind::response)));
  });
  expect_refused(Refusal::wrong_cookie, 1,
                 [&] { somebody->send(Bytes(848, static_cast<std::byte>(secure::Kind::response))); });
  expect_refused(Refusal::too_large, 1,
                 [&] { somebody->send(Bytes(1600, static_cast<std::byte>(secure::Kind::datagram))); });
  // Correctly sealed by an admitted client, but with malformed contents.
  const auto let_in = handshake(*somebody);
  secure::Sealer sealer(let_in->session()->keys.to_server, let_in->session()->number);
  expect_refused(Refusal::malformed, 2, [&] {
    Bytes out(300);
    somebody->send(sealer.seal(secure::Kind::close, Bytes(20, std::byte{0xEE}), out));
    somebody->send(sealer.seal(secure::Kind::ticket, Bytes(20), out));
  });
}

TEST_F(TransportRefusal, CountsForgedAndRepeatedSeals) {
  const auto let_in = handshake(*somebody);
  secure::Sealer sealer(let_in->session()->keys.to_server, let_in->session()->number);
  Bytes out(200), again;
  expect_refused(Refusal::no_session, 1, [&] {
    const auto sealed = sealer.seal(secure::Kind::datagram, Bytes(20), out);
    again.assign(sealed.begin(), sealed.end());
    somebody->send(sealed);
    secure::Sealer stranger(SecretKey::make(), let_in->session()->number + 1);
    Bytes other(200);
    somebody->send(stranger.seal(secure::Kind::datagram, Bytes(20), other));
  });
  expect_refused(Refusal::not_genuine, 3, [&] {
    somebody->send(again);
    Bytes forged(again);
    forged[5] ^= std::byte{16};  // another sequence number
    somebody->send(forged);
    secure::Sealer stranger(SecretKey::make(), let_in->session()->number);
    somebody->send(stranger.seal(secure::Kind::alive, {}, out));
  });
}

TEST_F(TransportRefusal, CountsRefusedHandshakes) {
  const ConnectToken good = token(key);
  secure::ClientHandshake honest(good, kGame);
  Bytes response = ask(honest, *somebody);
  expect_refused(Refusal::wrong_cookie, 1, [&] {
    Bytes guessed = response;
    guessed[1 + 8 + secure::kPublicKeyBytes] ^= std::byte{1};
    somebody->send(guessed);
  });
  expect_refused(Refusal::wrong_token, 1, [&] {
    secure::ClientHandshake forger(token(SecretKey::make()), kGame);
    somebody->send(ask(forger, *somebody));
  });
  somebody->send(response);
  ASSERT_TRUE(until([&] { return somebody->heard().has_value(); }));
  expect_refused(Refusal::token_reused, 1, [&] {
    // The same token and keys, but another client.
    RawClient thief(server.transport->port());
    secure::ClientHandshake own(good, kGame);
    thief.send(ask(own, thief));
  });
  // The limit is 20 handshakes at once and two a second. One client with one session sends here. Messages
  // that start no handshake are not counted.
  const auto over_limit = [&] { return server.transport->stats().refusals[Refusal::handshake_limit]; };
  for (int i = 0; i < 60; ++i) {
    somebody->send(response);  // answered like before
    (void)until([] { return false; }, 0.002);
  }
  EXPECT_EQ(over_limit(), 0u);
  for (int i = 0; i < 60; ++i) {
    (void)somebody->receive_all();
    issued = 100;
    secure::ClientHandshake next(token(key), kGame);
    somebody->send(ask(next, *somebody));
    (void)until([] { return false; }, 0.002);
  }
  EXPECT_GT(over_limit(), 20u);
  EXPECT_LT(over_limit(), 45u);
}

TEST_F(TransportRefusal, CountsTrafficBeyondPeerAndAddressLimits) {
  config.limits.datagrams_per_second = 100.0;
  config.limits.burst_s = 0.5;
  for (const bool together : {false, true}) {
    SCOPED_TRACE(together);
    if (together) config.limits.datagrams_per_second = 1e6;
    config.limits.address_datagrams_per_second = together ? 100.0 : 0.0;
    clients.clear();
    listen();
    End& one = join();
    End& other = join();
    const auto& refusals = server.transport->stats().refusals;
    const auto flood = [&](End& client) {
      for (int i = 0; i < 400; ++i)
        (void)client.transport->send(client.connected[0], Bytes(20));
    };
    flood(one);
    if (together) flood(other);
    EXPECT_TRUE(
        until([&] { return refusals[together ? Refusal::address_limit : Refusal::peer_limit] > 200; }));
    EXPECT_EQ(refusals[together ? Refusal::peer_limit : Refusal::address_limit], 0u);
    EXPECT_TRUE(server.disconnected.empty());
  }
}

}  // namespace
}  // namespace reckoner
