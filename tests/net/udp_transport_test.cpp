// SPDX-License-Identifier: MIT
// The transport "udp" over real sockets: what it adds to its handshake and its seals, which have tests of
// their own. Most tests run once with security and once without.
#include "net/src/messages/messages.hpp"
#include "net/src/secure/handshake.hpp"
#include "net/src/secure/seal.hpp"
#include "net/src/transport/other_transport.hpp"
#include "raw_client.hpp"
#include "token_server.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/log.hpp>
#include <reckoner/net/network_transport.hpp>

namespace reckoner {
namespace {

using secure::Kind;
using test::Bytes;
using test::End;
using test::now_s;

Bytes text_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

bool has_kind(const Bytes& datagram, Kind kind) {
  return !datagram.empty() && datagram[0] == static_cast<std::byte>(kind);
}

// True if `datagram` contains `text` anywhere.
bool shows(const Bytes& datagram, const Bytes& text) {
  // Not std::ranges::search: clang 14 does not compile the subrange that it returns.
  return std::search(datagram.begin(), datagram.end(), text.begin(), text.end()) != datagram.end();
}

class UdpTransportTest : public test::TokenServer<NetworkTransport> {
 protected:
  std::vector<std::string> warnings;

  void listen(bool is_sealed, double silence_s = 10.0, std::uint32_t max_peers = 8) {
    sealed = is_sealed;
    ListenConfig config{.host = test::loopback(), .max_peers = max_peers, .security = Insecure{}};
    if (is_sealed) config.security = ServerSecurity{.key = key, .game = kGame};
    config.limits.silence_s = silence_s;
    config.transport = "udp";
    config.log = [this](const LogRecord& record) {
      if (record.level >= LogLevel::warning) warnings.emplace_back(record.event);
    };
    server = {};
    clients.clear();
    ASSERT_NO_FATAL_FAILURE(serve(NetworkTransport::listen(config)));
    put_relay_in_front();
  }
  [[nodiscard]] OrInsecure<ClientSecurity> security() {
    return sealed ? OrInsecure<ClientSecurity>(ClientSecurity{token(++issued_), kGame}) : Insecure{};
  }
  End& dial(std::uint16_t to, std::uint16_t version = kProtocolVersion) {
    End& client = add_client();
    auto connecting = NetworkTransport::connect({.host = test::loopback(),
                                                 .port = to,
                                                 .security = security(),
                                                 .transport = "udp",
                                                 .version = version});
    EXPECT_TRUE(connecting) << (connecting ? "" : connecting.error());
    client.transport = std::move(*connecting);
    return client;
  }
  /// A client that is connected, through the relay unless the test says otherwise. The relay serves one.
  End& connected(bool through_relay = true) {
    const std::size_t before = server.connected.size();
    End& client = dial(through_relay ? relay->port() : port());
    EXPECT_TRUE(until([&] { return !client.connected.empty() && server.connected.size() > before; }));
    return client;
  }
  /// Both directions lose this share of all datagrams.
  void lose(double share) {
    const auto drops = [this, share](const Bytes&) {
      return std::uniform_real_distribution<double>()(random_) < share;
    };
    relay->drop_up = relay->drop_down = drops;
  }
  [[nodiscard]] std::uint64_t refusals(Refusal why) const {
    return server.transport->stats().refusals.counts[static_cast<std::size_t>(why)];
  }

  bool sealed = false;

 private:
  std::uint64_t issued_ = 0;
  std::mt19937 random_{7};
};

TEST_F(UdpTransportTest, DatagramsOfEverySizeArriveInBothDirections) {
  for (const bool is_sealed : {true, false}) {
    listen(is_sealed);
    End& client = connected();
    EXPECT_EQ(client.transport->max_datagram_bytes(client.connected[0]), kMaxDatagramBytes);
    EXPECT_EQ(server.transport->max_datagram_bytes(server.connected.back()), kMaxDatagramBytes);
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{600}, kMaxDatagramBytes}) {
      const Bytes payload(size, static_cast<std::byte>(size));
      ASSERT_TRUE(client.transport->send(client.connected[0], payload));
      ASSERT_TRUE(server.transport->send(server.connected.back(), payload));
      ASSERT_TRUE(until([&] { return !client.received.empty() && !server.received.empty(); }));
      EXPECT_EQ(client.received, std::vector<Bytes>{payload});
      EXPECT_EQ(server.received, std::vector<Bytes>{payload});
      client.received.clear();
      server.received.clear();
    }
    EXPECT_FALSE(client.transport->send(client.connected[0], {}));
    EXPECT_FALSE(client.transport->send(client.connected[0], Bytes(kMaxDatagramBytes + 1)));
    EXPECT_FALSE(client.transport->send(PeerId{9}, Bytes(3)));
    for (const auto* direction : {&relay->up, &relay->down}) {
      for (const Bytes& datagram : *direction)
        EXPECT_LE(datagram.size(), 1232u) << "every path that carries IPv6 passes these";
    }
  }
}

TEST_F(UdpTransportTest, TheVersionArrivesWithTheConnection) {
  for (const bool is_sealed : {true, false}) {
    listen(is_sealed);
    End& client = add_client();
    auto connecting = NetworkTransport::connect({.host = test::loopback(),
                                                 .port = relay->port(),
                                                 .security = security(),
                                                 .transport = "udp",
                                                 .version = 4711});
    ASSERT_TRUE(connecting);
    client.transport = std::move(*connecting);
    std::uint32_t version = 0;
    ASSERT_TRUE(test::turn_until(
        [&] {
          relay->turn();
          client.turn();
          server.transport->service(0.0);
          while (const auto event = server.transport->poll()) {
            if (event->kind == TransportEvent::Kind::connected) version = event->reason;
          }
        },
        [&] { return version != 0; }, test::kTimeoutS));
    EXPECT_EQ(version, 4711u);
  }
  EXPECT_FALSE(NetworkTransport::connect(
      {.host = test::loopback(), .port = 1, .security = Insecure{}, .transport = "udp", .version = 0}));
}

// Answers are lost, and the client asks again. It gets one connection.
TEST_F(UdpTransportTest, ConnectsOverALossyLinkOnce) {
  for (const bool is_sealed : {true, false}) {
    for (int i = 0; i < 4; ++i) {
      listen(is_sealed);
      lose(0.3);
      connected();
      EXPECT_FALSE(until([&] { return server.connected.size() > 1 || !server.disconnected.empty(); }, 0.3));
    }
  }
}

TEST_F(UdpTransportTest, TheReasonOfADisconnectArrivesOverALossyLink) {
  for (const bool is_sealed : {true, false}) {
    for (const bool by_server : {true, false}) {
      listen(is_sealed);
      End& client = connected();
      lose(0.4);
      if (by_server) {
        server.transport->disconnect(server.connected[0], 77);
      } else {
        client.transport->disconnect(client.connected[0], 77);
      }
      ASSERT_TRUE(until([&] { return !server.disconnected.empty() && !client.disconnected.empty(); }));
      EXPECT_EQ(client.reasons[0], by_server ? 77u : 0u);
      EXPECT_EQ(server.reasons[0], by_server ? 0u : 77u);
      EXPECT_FALSE(server.transport->send(server.connected[0], Bytes(3)));
      EXPECT_FALSE(client.transport->send(client.connected[0], Bytes(3)));
      // The ends stop talking to each other.
      lose(0.0);
      (void)until([] { return false; }, 0.3);
      const std::size_t passed = relay->up.size() + relay->down.size();
      (void)until([] { return false; }, 0.8);
      EXPECT_EQ(relay->up.size() + relay->down.size(), passed);
    }
  }
}

TEST_F(UdpTransportTest, BothEndsMayDisconnectAtOnce) {
  for (const bool is_sealed : {true, false}) {
    listen(is_sealed);
    End& client = connected();
    server.transport->disconnect(server.connected[0], 1);
    client.transport->disconnect(client.connected[0], 2);
    ASSERT_TRUE(until([&] { return !server.disconnected.empty() && !client.disconnected.empty(); }));
    EXPECT_FALSE(
        until([&] { return server.disconnected.size() > 1 || client.disconnected.size() > 1; }, 0.3));
  }
}

TEST_F(UdpTransportTest, AnEndThatIsDestroyedTellsTheOther) {
  for (const bool is_sealed : {true, false}) {
    listen(is_sealed);
    const End& stays = connected(false);
    connected(false);
    clients[1]->transport.reset();
    ASSERT_TRUE(until([&] { return server.disconnected.size() == 1; }, 3.0));
    server.transport.reset();
    ASSERT_TRUE(until([&] { return !stays.disconnected.empty(); }, 3.0));
  }
}

TEST_F(UdpTransportTest, AQuietConnectionStaysAndASilentOneEnds) {
  for (const bool is_sealed : {true, false}) {
    listen(is_sealed, 1.0);
    const End& client = connected();
    EXPECT_FALSE(until([&] { return !server.disconnected.empty() || !client.disconnected.empty(); }, 3.0));
    relay->drop_up = [](const Bytes&) { return true; };
    const double begin_s = now_s();
    ASSERT_TRUE(until([&] { return !server.disconnected.empty(); }));
    EXPECT_GT(now_s() - begin_s, 0.6);
    EXPECT_EQ(server.reasons[0], 0u);
    ASSERT_TRUE(until([&] { return !client.disconnected.empty(); }));
  }
}

TEST_F(UdpTransportTest, AFullServerTurnsAClientAway) {
  for (const bool is_sealed : {true, false}) {
    listen(is_sealed, 10.0, 2);
    connected(false);
    connected(false);
    const End& third = dial(port());
    ASSERT_TRUE(until([&] { return !third.disconnected.empty(); }));
    EXPECT_EQ(server.connected.size(), 2u);
    EXPECT_EQ(unpack_end_code(third.reasons[0]).reason, EndReason::full);
    clients[0]->transport.reset();
    ASSERT_TRUE(until([&] { return server.disconnected.size() == 1; }));
    connected(false);
  }
}

// A session without security belongs to one address. Its number alone is worth nothing.
TEST_F(UdpTransportTest, AnOpenSessionBelongsToItsAddress) {
  listen(false);
  End& client = connected();
  ASSERT_TRUE(client.transport->send(client.connected[0], Bytes(5)));
  ASSERT_TRUE(until([&] { return server.received.size() == 1; }));
  const auto sent =
      std::ranges::find_if(relay->up, [](const Bytes& b) { return has_kind(b, Kind::datagram); });
  ASSERT_NE(sent, relay->up.end());
  test::RawClient somebody(port());
  somebody.send(*sent);
  Bytes close(*secure::open_session(*sent) != 0 ? 9 : 0);
  close[0] = static_cast<std::byte>(Kind::close);
  std::copy_n(sent->begin() + 1, 4, close.begin() + 1);
  somebody.send(close);
  ASSERT_TRUE(until([&] { return refusals(Refusal::no_session) == 2; }));
  EXPECT_EQ(server.received.size(), 1u);
  EXPECT_TRUE(server.disconnected.empty());
  EXPECT_TRUE(somebody.receive_all().empty());
  // Without security, everybody on the path can end the session.
  relay->send_up(close);
  EXPECT_TRUE(until([&] { return !server.disconnected.empty(); }));
}

TEST_F(UdpTransportTest, MalformedDatagramsOfASessionAreRefused) {
  listen(false);
  End& client = connected();
  const auto any = std::ranges::find_if(relay->up, [](const Bytes& b) { return has_kind(b, Kind::alive); });
  ASSERT_NE(any, relay->up.end());
  const auto forged = [&](int kind, std::size_t content) {
    Bytes datagram = *any;
    datagram[0] = static_cast<std::byte>(kind);
    datagram.resize(5 + content, std::byte{1});
    return datagram;
  };
  const std::vector<Bytes> all{forged(0xA5, 20),         forged(0xA6, 0), forged(0xA6, kMaxDatagramBytes + 1),
                               forged(0xA7, 600),        forged(0xA8, 8), forged(0xA9, 8),
                               forged(0xAA, 17),         forged(0xAB, 1), forged(0xAC, 3),
                               forged(0xAC, 5),          forged(0xAD, 1), forged(0xB3, 8),
                               Bytes(4, std::byte{0xA6})};
  const std::uint64_t before = server.transport->stats().refused;
  for (const Bytes& datagram : all)
    relay->send_up(datagram);
  ASSERT_TRUE(until([&] { return server.transport->stats().refused >= before + all.size(); }));
  EXPECT_EQ(refusals(Refusal::malformed), all.size());
  EXPECT_TRUE(server.received.empty() && server.disconnected.empty());
  ASSERT_TRUE(client.transport->send(client.connected[0], Bytes(5)));
  EXPECT_TRUE(until([&] { return server.received.size() == 1; }));
}

// Neither the handshake nor a request from a forged address makes the server remember or send more than it
// got.
TEST_F(UdpTransportTest, RequestsTakeNoPlaceAndAreNotAmplified) {
  for (const bool is_sealed : {true, false}) {
    listen(is_sealed, 10.0, 2);
    test::RawClient flood(port());
    for (int i = 0; i < 500; ++i) {
      secure::ClientHandshake handshake(kProtocolVersion);
      const auto request = handshake.to_send(now_s());
      flood.send(*request);
      if (i % 50 == 0) server.turn();
      (void)flood.receive_all();
    }
    (void)until([&] { return flood.receive_all().empty() && false; }, 0.2);
    EXPECT_GT(flood.received, 0u);
    EXPECT_LE(flood.received, flood.sent);
    connected(false);
    connected(false);
  }
}

// Clients before version 13 request a session with zeros where the version is now.
TEST_F(UdpTransportTest, AnOldClientIsLoggedAndKeepsItsToken) {
  listen(true);
  const ConnectToken shown = token(500);
  secure::ClientHandshake handshake(shown, kGame);
  const auto request = handshake.to_send(now_s());
  Bytes old(request->begin(), request->end());
  old[1 + 8 + secure::kPublicKeyBytes] = old[2 + 8 + secure::kPublicKeyBytes] = std::byte{0};
  test::RawClient somebody(port());
  somebody.send(old);
  ASSERT_TRUE(until([&] { return refusals(Refusal::old_version) == 1; }));
  EXPECT_TRUE(somebody.receive_all().empty());
  EXPECT_EQ(std::ranges::count(warnings, "client refused: its program is older than this server"), 1);
  const End& client = join(shown, port());
  EXPECT_TRUE(until([&] { return !client.connected.empty(); })) << "the token is unused";
}

TEST_F(UdpTransportTest, AClientOfAnotherVersionGetsItsTokenBack) {
  listen(true);
  const ConnectToken shown = token(501);
  const SecretKey secret = SecretKey::make();
  for (const std::uint16_t version : {std::uint16_t{kProtocolVersion + 1}, kProtocolVersion}) {
    End& client = add_client();
    auto connecting = NetworkTransport::connect({.host = test::loopback(),
                                                 .port = port(),
                                                 .security = ClientSecurity{shown, kGame, secret},
                                                 .transport = "udp",
                                                 .version = version});
    ASSERT_TRUE(connecting);
    client.transport = std::move(*connecting);
    ASSERT_TRUE(until([&] { return !client.connected.empty() && !server.connected.empty(); }));
    if (version == kProtocolVersion) break;
    server.transport->disconnect(server.connected[0], pack({EndReason::version, kProtocolVersion}));
    ASSERT_TRUE(until([&] { return !client.disconnected.empty() && !server.disconnected.empty(); }));
    EXPECT_EQ(unpack_end_code(client.reasons[0]).reason, EndReason::version);
    server.connected.clear();
  }
}

// A client of "enet" knocks.
TEST_F(UdpTransportTest, AnswersAClientOfEnetWithANotice) {
  for (const bool is_sealed : {true, false}) {
    listen(is_sealed);
    Bytes request(52);
    request[0] = std::byte{0x8F};
    request[1] = std::byte{0xFF};
    request[4] = std::byte{0x82};
    test::RawClient somebody(port());
    somebody.send(request);
    ASSERT_TRUE(until([&] { return refusals(Refusal::other_transport) == 1; }));
    const auto answer = somebody.heard();
    ASSERT_TRUE(answer);
    EXPECT_TRUE(is_notice(*answer, kServerUsesUdp));
    EXPECT_EQ(std::ranges::count(warnings, "client refused: it uses another transport"), 1);
    warnings.clear();
  }
}

// Anybody can send a notice. A client with a token goes on; one without gives up at once.
TEST_F(UdpTransportTest, AClientLearnsThatItsServerUsesEnet) {
  for (const bool is_sealed : {true, false}) {
    listen(is_sealed);
    relay->drop_up = [&](const Bytes& bytes) {
      if (has_kind(bytes, Kind::request)) relay->send_down({kServerUsesEnet.begin(), kServerUsesEnet.end()});
      return true;
    };
    const End& client = dial(relay->port());
    const double begin_s = now_s();
    ASSERT_TRUE(until([&] { return !client.disconnected.empty(); }));
    EXPECT_EQ(client.transport->problem(), "the server uses the transport \"enet\"");
    if (is_sealed) {
      EXPECT_GT(now_s() - begin_s, 4.0);
    } else {
      EXPECT_LT(now_s() - begin_s, 4.0);
    }
  }
}

TEST_F(UdpTransportTest, AClientWithoutATokenLearnsThatItNeedsOne) {
  listen(true);
  End& client = add_client();
  ASSERT_NO_FATAL_FAILURE(connect(client, port(), Insecure{}));
  ASSERT_TRUE(until([&] { return !client.disconnected.empty(); }));
  EXPECT_NE(client.transport->problem().find("token"), std::string::npos) << client.transport->problem();
  EXPECT_GT(refusals(Refusal::wrong_token), 0u);
  EXPECT_TRUE(server.connected.empty());
}

// What an observer of a sealed session sees is the kind, the number of the session and the number of the
// datagram.
TEST_F(UdpTransportTest, ASealedSessionShowsNothingButItsHead) {
  listen(true);
  End& client = connected();
  const Bytes up = text_bytes("what the client says"), down = text_bytes("what the server says");
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(client.transport->send(client.connected[0], up));
    ASSERT_TRUE(server.transport->send(server.connected[0], down));
  }
  ASSERT_TRUE(until([&] { return client.received.size() == 5 && server.received.size() == 5; }));
  constexpr std::uint32_t kReason = 0x7A7B7C7D;
  const Bytes reason{std::byte{0x7A}, std::byte{0x7B}, std::byte{0x7C}, std::byte{0x7D}};
  const Bytes turned(reason.rbegin(), reason.rend());
  client.transport->disconnect(client.connected[0], kReason);
  ASSERT_TRUE(until([&] { return !server.disconnected.empty() && !client.disconnected.empty(); }));
  EXPECT_EQ(server.reasons[0], kReason);
  std::size_t in_session = 0;
  for (const auto* direction : {&relay->up, &relay->down}) {
    std::vector<Bytes> contents;
    for (const Bytes& datagram : *direction) {
      const auto kind = static_cast<Kind>(datagram[0]);
      EXPECT_FALSE(shows(datagram, up) || shows(datagram, down) || shows(datagram, reason) ||
                   shows(datagram, turned));
      if (!secure::is_in_session(kind)) {
        EXPECT_TRUE(kind == Kind::request || kind == Kind::challenge || kind == Kind::response ||
                    kind == Kind::accepted);
        continue;
      }
      ++in_session;
      EXPECT_EQ(secure::sealed_session(datagram), secure::sealed_session(relay->up.back()));
      // Equal contents never look alike.
      contents.emplace_back(datagram.begin() + secure::kSealHead, datagram.end());
      EXPECT_EQ(std::ranges::count(contents, contents.back()), 1);
    }
  }
  EXPECT_GE(in_session, 12u);
}

// With security, the answer of the server counts wherever it comes from: a copy may be faster than the
// original.
TEST_F(UdpTransportTest, ACopyOfTheAnswerFromElsewhereDoesNotLockTheClientOut) {
  listen(true);
  test::UdpSocket elsewhere;
  relay->drop_down = [&](const Bytes& bytes) {
    if (!has_kind(bytes, Kind::accepted)) return false;
    EXPECT_TRUE(elsewhere.send(relay->client(), bytes));
    return false;  // the original follows
  };
  End& client = add_client();
  auto connecting = NetworkTransport::connect(
      {.host = test::loopback(), .port = relay->port(), .security = security(), .transport = "udp"});
  ASSERT_TRUE(connecting);
  client.transport = std::move(*connecting);
  ASSERT_TRUE(until([&] { return !client.connected.empty() && !server.connected.empty(); }, 4.0));
  ASSERT_TRUE(client.transport->send(client.connected[0], Bytes(5)));
  EXPECT_TRUE(until([&] { return server.received.size() == 1; }));
}

// Signs of life after the end of a session do not keep its place.
TEST_F(UdpTransportTest, AnEndedSessionTakesNoPlace) {
  listen(false, 10.0, 1);
  End& client = connected();
  const auto any = std::ranges::find_if(relay->up, [](const Bytes& b) { return has_kind(b, Kind::alive); });
  ASSERT_NE(any, relay->up.end());
  const Bytes alive = *any;
  client.transport->disconnect(client.connected[0], 0);
  ASSERT_TRUE(until([&] { return !server.disconnected.empty(); }));
  const std::uint64_t before = refusals(Refusal::no_session);
  const double begin_s = now_s();
  (void)until(
      [&] {
        relay->send_up(alive);
        return now_s() - begin_s > 4.0;
      },
      5.0);
  EXPECT_GT(refusals(Refusal::no_session), before);
  EXPECT_EQ(server.connected.size(), 1u);
  // The session is forgotten by now: its end is not answered any more.
  Bytes close = alive;
  close[0] = static_cast<std::byte>(Kind::close);
  close.resize(9);
  const std::size_t answers = relay->down.size();
  relay->send_up(close);
  (void)until([] { return false; }, 0.3);
  EXPECT_EQ(relay->down.size(), answers);
}

// The game destroys its client right after it was admitted. The server forgets the session.
TEST_F(UdpTransportTest, ACloseBeforeAnythingElseEndsTheSession) {
  listen(false);
  std::vector<Bytes> recorded;
  relay->drop_up = [&](const Bytes& bytes) {
    const bool in_session = secure::open_session(bytes).has_value();
    if (in_session) recorded.push_back(bytes);
    return in_session;
  };
  End& client = dial(relay->port());
  ASSERT_TRUE(until([&] { return !client.connected.empty() && !recorded.empty(); }));
  client.transport->disconnect(client.connected[0], 3);
  ASSERT_TRUE(until([&] {
    return std::ranges::any_of(recorded, [](const Bytes& b) { return has_kind(b, Kind::close); });
  }));
  relay->drop_up = {};
  relay->send_up(*std::ranges::find_if(recorded, [](const Bytes& b) { return has_kind(b, Kind::close); }));
  ASSERT_TRUE(until([&] { return !client.disconnected.empty(); }));
  relay->send_up(*std::ranges::find_if(recorded, [](const Bytes& b) { return has_kind(b, Kind::alive); }));
  EXPECT_FALSE(until([&] { return !server.connected.empty(); }, 0.3)) << "a late sign of life";
}

#ifdef __linux__
TEST_F(UdpTransportTest, DatagramsCarryHowLongTheyWaitedInTheSocket) {
  constexpr double kWaitS = 0.05;
  listen(false);
  End& client = connected();
  for (const bool earlier_pass : {false, true}) {
    (void)until([] { return false; }, 0.05);
    ASSERT_TRUE(server.transport->send(server.connected[0], Bytes(100)));
    server.transport->service(0.0);
    for (const double end_s = now_s() + 1.0; relay->down.empty() || now_s() < end_s - 0.99;)
      relay->turn();
    if (earlier_pass) client.transport->service(0.0);  // reads the datagram, which is not polled yet
    const double begin_s = now_s();
    while (now_s() - begin_s < kWaitS) {
    }
    client.transport->service(0.0);
    const auto event = client.transport->poll();
    ASSERT_TRUE(event && event->kind == TransportEvent::Kind::received);
    EXPECT_GT(event->waited_s, kWaitS - 0.005);
    EXPECT_LT(event->waited_s, kWaitS + 1.0);
  }
}
#endif

}  // namespace
}  // namespace reckoner
