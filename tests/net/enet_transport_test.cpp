// SPDX-License-Identifier: MIT
// The transport "enet" between two of its own ends.
#include "enet_world.hpp"
#include "net/src/transport/other_transport.hpp"
#include "raw_client.hpp"
#include "relay.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

namespace reckoner {
namespace {

using test::Bytes;
using test::EnetEnd;
using test::kEnetHost;
using test::kTimeoutS;
using test::now_s;
using test::pattern;

class EnetTransportTest : public test::EnetWorld {
 protected:
  void SetUp() override { listen(config()); }
  EnetEnd client_;
};

TEST_F(EnetTransportTest, TheVersionArrivesWithTheConnection) {
  join(client_, 0xBEEF);
  EXPECT_EQ(server.versions.front(), 0xBEEFu);
  EXPECT_TRUE(server.connected.front());
  EXPECT_TRUE(client_.connected.front());
  EXPECT_TRUE(has_logged("insecure"));
  EXPECT_TRUE(has_logged("peer connected peer=1 address=127.0.0.1:"));
  EXPECT_EQ(server.transport->login(server.connected[0]).host, test::kLoopback4);
  EXPECT_FALSE(server.transport->identity(server.connected[0]));
}

TEST_F(EnetTransportTest, DatagramsArriveInBothDirections) {
  join(client_);
  EXPECT_TRUE(server.transport->send(server.connected[0], pattern(500, 1)));
  EXPECT_TRUE(client_.transport->send(client_.connected[0], pattern(300, 2)));
  ASSERT_TRUE(until({&client_}, [&] { return !server.received.empty() && !client_.received.empty(); }));
  EXPECT_EQ(server.received[0].payload, pattern(300, 2));
  EXPECT_EQ(server.received[0].peer, server.connected[0]);
  EXPECT_EQ(client_.received[0].payload, pattern(500, 1));
  EXPECT_EQ(client_.received[0].peer, client_.connected[0]);
  EXPECT_EQ(client_.stats().payload_bytes_sent, 300u);
  EXPECT_EQ(server.stats().payload_bytes_received, 300u);
  EXPECT_EQ(server.stats().refused, 0u);
  EXPECT_EQ(client_.stats().refused, 0u);
}

TEST_F(EnetTransportTest, CountsHeadersOnTheWire) {
  join(client_);
  pass({&client_}, 0.2);  // until everything about the join is acknowledged
  const TransportStats before = client_.stats();
  ASSERT_TRUE(client_.transport->send(client_.connected[0], pattern(100)));
  client_.turn();
  // Sizes in bytes: headers of IPv4 and UDP 28, ENet's datagram header 2, ENet's command 8.
  EXPECT_EQ(client_.stats().datagrams_sent - before.datagrams_sent, 1u);
  EXPECT_EQ(client_.stats().wire_bytes_sent - before.wire_bytes_sent, 100u + 28u + 2u + 8u);
  ASSERT_TRUE(until({&client_}, [&] { return !server.received.empty(); }));
  EXPECT_EQ(server.stats().datagrams_received, client_.stats().datagrams_sent);
  EXPECT_EQ(server.stats().wire_bytes_received, client_.stats().wire_bytes_sent);
}

TEST_F(EnetTransportTest, LargestDatagramsArriveAndLargerOnesAreRefused) {
  join(client_);
  const PeerId to_client = server.connected[0];
  EXPECT_EQ(server.transport->max_datagram_bytes(to_client), kMaxDatagramBytes);
  EXPECT_EQ(server.transport->max_datagram_bytes(PeerId{99}), 0u);
  EXPECT_FALSE(server.transport->send(to_client, pattern(kMaxDatagramBytes + 1)));
  EXPECT_EQ(server.refused(Refusal::too_large), 1u);
  EXPECT_EQ(server.stats().payload_bytes_sent, 0u);
  pass({&client_}, 0.2);
  const std::uint64_t before = server.stats().datagrams_sent;
  EXPECT_TRUE(server.transport->send(to_client, pattern(kMaxDatagramBytes)));
  EXPECT_FALSE(server.transport->send(to_client, {}));
  ASSERT_TRUE(until({&client_}, [&] { return !client_.received.empty(); }));
  EXPECT_EQ(client_.received[0].payload, pattern(kMaxDatagramBytes));
  EXPECT_LE(server.stats().datagrams_sent - before, 2u) << "nothing is fragmented";
  EXPECT_EQ(client_.stats().refused, 0u);
}

TEST_F(EnetTransportTest, ServesSeveralClientsUnderDistinctIds) {
  EnetEnd other;
  join(client_);
  join(other);
  const PeerId first = server.connected[0], second = server.connected[1];
  ASSERT_NE(first, second);
  EXPECT_TRUE(server.transport->send(first, pattern(10, 1)));
  EXPECT_TRUE(server.transport->send(second, pattern(10, 2)));
  ASSERT_TRUE(
      until({&client_, &other}, [&] { return !client_.received.empty() && !other.received.empty(); }));
  EXPECT_EQ(client_.received[0].payload, pattern(10, 1));
  EXPECT_EQ(other.received[0].payload, pattern(10, 2));

  // Ids are not reused, although ENet reuses the slot.
  client_.transport.reset();
  ASSERT_TRUE(until({&other}, [&] { return server.disconnected.size() == 1; }));
  EXPECT_EQ(server.disconnected[0], first);
  EXPECT_FALSE(server.transport->send(first, pattern(10)));
  EnetEnd third;
  join(third);
  EXPECT_NE(server.connected.back(), first);
  EXPECT_NE(server.connected.back(), second);
}

TEST_F(EnetTransportTest, PayloadLivesUntilTheNextCall) {
  join(client_);
  ASSERT_TRUE(client_.transport->send(client_.connected[0], pattern(64, 5)));
  ASSERT_TRUE(client_.transport->send(client_.connected[0], pattern(64, 6)));
  std::optional<TransportEvent> event;
  for (const double end_s = now_s() + kTimeoutS; !event && now_s() < end_s;) {
    client_.turn();
    server.transport->service(0.0);
    event = server.transport->poll();
  }
  ASSERT_TRUE(event);
  EXPECT_TRUE(std::ranges::equal(event->payload, pattern(64, 5)));
  EXPECT_EQ(event->waited_s, 0.0);
}

TEST_F(EnetTransportTest, TheReasonOfADisconnectReachesTheOtherEnd) {
  for (const bool by_server : {true, false}) {
    listen(config());
    EnetEnd client;
    join(client);
    EnetEnd& caller = by_server ? server : client;
    EnetEnd& other = by_server ? client : server;
    caller.transport->disconnect(caller.connected[0], 42);
    caller.transport->disconnect(caller.connected[0], 43);  // has no effect
    EXPECT_FALSE(caller.transport->send(caller.connected[0], pattern(10)));
    ASSERT_TRUE(
        until({&client}, [&] { return !caller.disconnected.empty() && !other.disconnected.empty(); }));
    EXPECT_EQ(other.reasons, (std::vector<std::uint32_t>{42}));
    EXPECT_EQ(caller.reasons, (std::vector<std::uint32_t>{0}));
    EXPECT_EQ(caller.disconnected[0], caller.connected[0]);
    caller.transport->disconnect(caller.connected[0], 1);
    pass({&client}, 0.05);
    EXPECT_EQ(caller.disconnected.size(), 1u);
  }
}

TEST_F(EnetTransportTest, BothEndsMayDisconnectAtOnce) {
  join(client_);
  server.transport->disconnect(server.connected[0], 1);
  client_.transport->disconnect(client_.connected[0], 2);
  ASSERT_TRUE(
      until({&client_}, [&] { return !server.disconnected.empty() && !client_.disconnected.empty(); }));
  EXPECT_EQ(server.reasons[0], 0u);
  EXPECT_EQ(client_.reasons[0], 0u);
}

TEST_F(EnetTransportTest, AnEndThatIsDestroyedTellsTheOther) {
  join(client_);
  const double start_s = now_s();
  server.transport->disconnect(server.connected[0], 9);  // not sent before the end
  server.transport.reset();
  const auto turn = [&] { client_.turn(); };
  ASSERT_TRUE(test::turn_until(
      turn, [&] { return !client_.disconnected.empty(); }, kTimeoutS));
  EXPECT_LT(now_s() - start_s, 2.0);
  EXPECT_EQ(client_.reasons[0], 9u);
}

TEST_F(EnetTransportTest, GivingUpWhileConnectingRaisesTheEvent) {
  dial(client_, port());
  client_.transport->disconnect(PeerId{1}, 0);  // the id of a client's only peer
  client_.turn();
  ASSERT_EQ(client_.disconnected.size(), 1u);
  pass({&client_}, 0.1);
  EXPECT_TRUE(client_.connected.empty());
}

// A full server does not answer, and neither does a port without a server.
TEST_F(EnetTransportTest, WithoutAnAnswerAClientGivesUpAfterFiveSeconds) {
  auto small = config();
  small.max_peers = 1;
  listen(small);
  join(client_);
  std::uint16_t nobody = 0;
  {
    test::UdpSocket gone(test::kLoopback4);
    nobody = gone.port();
  }
  EnetEnd unwanted, lonely;
  const double start_s = now_s();
  dial(unwanted, port());
  dial(lonely, nobody);
  ASSERT_TRUE(until({&client_, &unwanted, &lonely},
                    [&] { return !unwanted.disconnected.empty() && !lonely.disconnected.empty(); }));
  EXPECT_NEAR(now_s() - start_s, 5.0, 1.0);
  EXPECT_TRUE(unwanted.connected.empty() && lonely.connected.empty());
  EXPECT_TRUE(server.disconnected.empty() && client_.disconnected.empty());
}

// Only the silent one is given up. A client that sends nothing of its own still answers pings.
TEST_F(EnetTransportTest, GivesUpASilentPeerAndKeepsAQuietOne) {
  auto impatient = config();
  impatient.limits.silence_s = 1.0;
  listen(impatient);
  EnetEnd silent;
  join(client_);
  join(silent);
  const double since_s = now_s();
  ASSERT_TRUE(until({&client_}, [&] { return !server.disconnected.empty(); }));
  EXPECT_NEAR(now_s() - since_s, 1.1, 0.5);
  EXPECT_EQ(server.disconnected[0], server.connected[1]);
  EXPECT_EQ(server.reasons[0], 0u);
  EXPECT_TRUE(has_logged("peer timed out"));
  pass({&client_}, 2.0);
  EXPECT_EQ(server.disconnected.size(), 1u);
  EXPECT_TRUE(client_.disconnected.empty());
}

TEST_F(EnetTransportTest, ADisconnectIsCutShort) {
  join(client_);
  server.transport->disconnect(server.connected[0], 5);
  const double since_s = now_s();
  ASSERT_TRUE(until({}, [&] { return !server.disconnected.empty(); }));  // the client is gone
  EXPECT_NEAR(now_s() - since_s, 10.0, 1.0);
  EXPECT_EQ(server.reasons[0], 0u);
}

// ENet's throttle would drop datagrams when acknowledgements come late. Here, they come after 0 to 100 ms.
TEST_F(EnetTransportTest, EnetDropsNothing) {
  test::Relay relay(port(), test::kLoopback4);
  dial(client_, relay.port());
  const auto turn = [&] {
    relay.turn();
    server.turn();
    client_.turn();
  };
  ASSERT_TRUE(test::turn_until(
      turn, [&] { return !client_.connected.empty() && !server.connected.empty(); }, kTimeoutS));
  constexpr std::size_t kCount = 400, kBytes = 700;
  std::mt19937 random(1);
  double relay_s = 0.0, ping_s = 0.0;
  std::uint16_t round_trips = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(client_.transport->send(client_.connected[0], pattern(kBytes, i)));
    ASSERT_TRUE(server.transport->send(server.connected[0], pattern(kBytes, i)));
    client_.turn();
    server.turn();
    if (now_s() >= relay_s) {
      relay.turn();
      relay_s = now_s() + 0.001 * static_cast<double>(random() % 100);
    }
    // A connection that another one joins or leaves gets commands of ENet, and so round trips.
    if (now_s() >= ping_s) {
      EnetEnd visitor;
      join(visitor);
      ping_s = now_s() + 0.3;
      ++round_trips;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_GT(round_trips, 3);
  EXPECT_TRUE(test::turn_until(
      turn, [&] { return client_.received.size() == kCount && server.received.size() == kCount; }, 5.0))
      << client_.received.size() << " and " << server.received.size();
}

TEST_F(EnetTransportTest, CarriesWhatALossyLinkLeaves) {
  test::Relay relay(port(), test::kLoopback4);
  std::mt19937 random(2);
  const auto lose = [&](const Bytes&) { return random() % 5 == 0; };
  relay.drop_up = lose;
  relay.drop_down = lose;
  dial(client_, relay.port());
  const auto turn = [&] {
    relay.turn();
    server.turn();
    client_.turn();
  };
  ASSERT_TRUE(test::turn_until(
      turn, [&] { return !client_.connected.empty() && !server.connected.empty(); }, kTimeoutS));
  constexpr std::size_t kCount = 500;
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(client_.transport->send(client_.connected[0], pattern(100, i)));
    ASSERT_TRUE(server.transport->send(server.connected[0], pattern(100, i)));
    turn();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  (void)test::turn_until(
      turn, [] { return false; }, 0.2);
  for (const EnetEnd* end : {&server, &client_}) {
    EXPECT_GT(end->received.size(), kCount * 7 / 10);
    EXPECT_LT(end->received.size(), kCount * 9 / 10) << "ENet repeats no datagram";
    EXPECT_TRUE(end->disconnected.empty());
  }
  server.transport->disconnect(server.connected[0], 77);
  ASSERT_TRUE(test::turn_until(
      turn, [&] { return !client_.disconnected.empty(); }, kTimeoutS));
  EXPECT_EQ(client_.reasons[0], 77u);
}

TEST_F(EnetTransportTest, WaitingEventsAreBounded) {
  auto tight = config();
  tight.limits.waiting_events = 16;
  listen(tight);
  join(client_);
  constexpr std::size_t kCount = 400;
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(client_.transport->send(client_.connected[0], pattern(50, i)));
    client_.turn();
  }
  for (int i = 0; i < 20; ++i)
    server.transport->service(0.0);
  server.poll();
  EXPECT_EQ(server.received.size(), 16u);
  EXPECT_TRUE(until({&client_}, [&] { return server.received.size() == kCount; }));
}

TEST_F(EnetTransportTest, LimitsEachPeerAndEachAddress) {
  auto limited = config();
  limited.limits.burst_s = 0.1;
  limited.limits.datagrams_per_second = 200.0;
  // Little more than one peer's, so that the second peer exceeds it however long the floods take.
  limited.limits.address_datagrams_per_second = 210.0;
  listen(limited);
  EnetEnd other;
  join(client_);
  join(other);
  pass({&client_, &other}, 0.3);
  const auto flood = [&](EnetEnd& end) {
    for (std::size_t i = 0; i < 100; ++i) {
      ASSERT_TRUE(end.transport->send(end.connected[0], pattern(50, i)));
      end.turn();
    }
  };
  flood(client_);
  server.turn();
  EXPECT_GE(server.refused(Refusal::peer_limit), 70u);
  EXPECT_LE(server.received.size(), 30u);
  flood(other);
  server.turn();
  EXPECT_GE(server.refused(Refusal::address_limit), 1u);
  EXPECT_TRUE(server.disconnected.empty());
}

TEST_F(EnetTransportTest, AnswersAClientOfUdpWithANotice) {
  test::RawClient stranger(port(), test::kLoopback4);
  Bytes request(128);
  request[0] = std::byte{0xA1};
  const std::uint64_t before = server.stats().datagrams_sent;
  stranger.send(request);
  stranger.send(request);
  ASSERT_TRUE(until({}, [&] { return server.refused(Refusal::other_transport) == 2; }));
  const auto answers = stranger.receive_all();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_TRUE(is_notice(answers[0], kServerUsesEnet));
  EXPECT_EQ(server.stats().datagrams_sent - before, 2u);
  EXPECT_EQ(std::ranges::count_if(
                log, [](const std::string& line) { return line.find("another transport") != line.npos; }),
            1)
      << "once a second";
}

TEST_F(EnetTransportTest, ClientsOfBothTransportsLearnTheirMistake) {
  auto connecting = NetworkTransport::connect(
      {.host = kEnetHost, .port = port(), .security = Insecure{}, .transport = "udp", .version = 7});
  ASSERT_TRUE(connecting) << connecting.error();
  client_.transport = std::move(*connecting);
  const double start_s = now_s();
  ASSERT_TRUE(until({&client_}, [&] { return !client_.disconnected.empty(); }));
  EXPECT_NE(client_.transport->problem().find("enet"), std::string::npos) << client_.transport->problem();

  auto other = config();
  other.transport = "udp";
  listen(other);
  EnetEnd mistaken;
  dial(mistaken, port());
  ASSERT_TRUE(until({&mistaken}, [&] { return !mistaken.disconnected.empty(); }));
  EXPECT_EQ(mistaken.transport->problem(), "the server uses the transport \"udp\"");
  EXPECT_EQ(mistaken.refused(Refusal::other_transport), 1u);
  EXPECT_LT(now_s() - start_s, 4.0) << "at once";
  pass({&mistaken}, 0.1);
  EXPECT_EQ(mistaken.disconnected.size(), 1u);
}

// A notice is not authenticated. An established connection ignores it, and so does an attempt at another
// address.
TEST_F(EnetTransportTest, IgnoresTheNoticeOfAStranger) {
  test::Relay relay(port(), test::kLoopback4);
  dial(client_, relay.port());
  const auto turn = [&] {
    relay.turn();
    server.turn();
    client_.turn();
  };
  ASSERT_TRUE(test::turn_until(
      turn, [&] { return !client_.connected.empty(); }, kTimeoutS));
  test::UdpSocket stranger(test::kLoopback4);
  const Bytes notice(kServerUsesUdp.begin(), kServerUsesUdp.end());
  ASSERT_TRUE(stranger.send(relay.client(), notice));
  relay.send_down(notice);
  ASSERT_TRUE(test::turn_until(
      turn, [&] { return client_.refused(Refusal::other_transport) == 2; }, kTimeoutS));
  (void)test::turn_until(
      turn, [] { return false; }, 0.1);
  EXPECT_TRUE(client_.disconnected.empty());
  EXPECT_EQ(client_.transport->problem(), "");
  EXPECT_TRUE(client_.transport->send(client_.connected[0], pattern(10)));
}

TEST_F(EnetTransportTest, TriesTheAddressesOfAName) {
  const auto names = [](const std::string& name) -> std::vector<SocketAddress> {
    if (name == "none.example") return {};
    if (name == "six.example") return {{test::kLoopback6, 0}};
    // Nobody answers at the first IPv4 address.
    return {{test::kLoopback6, 0}, {IpAddress(0x7F000002), 0}, {test::kLoopback4, 0}};
  };
  dial(client_, port(), "several.example", 7, names);
  EXPECT_TRUE(until({&client_}, [&] { return !client_.connected.empty(); }));
  EXPECT_TRUE(client_.transport->send(client_.connected[0], pattern(10)));
  EXPECT_TRUE(until({&client_}, [&] { return !server.received.empty(); }));
  EXPECT_EQ(server.connected.size(), 1u);

  for (const char* const name : {"none.example", "six.example", "::1"}) {
    EnetEnd lost;
    dial(lost, port(), name, 7, names);
    ASSERT_TRUE(until({&lost}, [&] { return !lost.disconnected.empty(); })) << name;
    const std::string problem = lost.transport->problem();
    EXPECT_NE(problem.find(name), std::string::npos) << problem;
    EXPECT_EQ(problem.find("udp") != std::string::npos, std::string_view(name) != "none.example") << problem;
    EXPECT_TRUE(lost.connected.empty());
  }
}

TEST(EnetTransportSettings, ErrorsNameTheOtherTransport) {
  const auto fault = [](const ListenConfig& config) {
    const auto listening = NetworkTransport::listen(config);
    return listening ? std::string("none") : listening.error();
  };
  ListenConfig config{.host = kEnetHost, .security = Insecure{}, .transport = "enet"};
  config.max_peers = 4095;
  EXPECT_EQ(fault(config), "none");
  config.max_peers = 4096;
  EXPECT_EQ(fault(config), "the transport \"enet\" has at most 4095 connections; use the transport \"udp\"");
  config.max_peers = 0;
  EXPECT_EQ(fault(config), "max_peers is 0; it must be from 1 to 250000 connections");
  config.max_peers = 8;
  for (const char* const host : {"::1", "::", "::ffff"}) {
    config.host = host;
    for (const char* const name : {"enet", ""}) {
      config.transport = name;
      EXPECT_EQ(fault(config), "the transport \"enet\" has no IPv6, which the address '" + std::string(host) +
                                   "' needs; use the transport \"udp\"");
    }
  }
  config = {.host = kEnetHost, .security = ServerSecurity{.key = SecretKey::make()}, .transport = "enet"};
  EXPECT_EQ(fault(config), "the transport \"enet\" has no security; use the transport \"udp\"");
  const auto connecting =
      NetworkTransport::connect({.host = kEnetHost,
                                 .port = 1,
                                 .security = ClientSecurity{.token = {.to_server = SecretKey::make()}},
                                 .transport = "enet",
                                 .version = 7});
  ASSERT_FALSE(connecting);
  EXPECT_EQ(connecting.error(), "the transport \"enet\" has no security; use the transport \"udp\"");
}

TEST(EnetTransportSettings, ReportsAPortInUse) {
  const ListenConfig config{.host = kEnetHost, .security = Insecure{}, .transport = "enet"};
  const auto first = NetworkTransport::listen(config);
  ASSERT_TRUE(first);
  ListenConfig taken = config;
  taken.port = (*first)->port();
  const auto second = NetworkTransport::listen(taken);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), "UDP port " + std::to_string(taken.port) + " is in use");
#ifdef _WIN32
  const std::vector<const char*> wrong{
      "no-such-host.invalid"};  // Wine listens on addresses that are not its own
#else
  const std::vector<const char*> wrong{"no-such-host.invalid",
                                       "192.0.2.1"};  // not an address of this machine
#endif
  for (const char* const host : wrong) {
    ListenConfig elsewhere = config;
    elsewhere.host = host;
    SCOPED_TRACE(host);
    const auto nowhere = NetworkTransport::listen(elsewhere);
    ASSERT_FALSE(nowhere);
    EXPECT_NE(nowhere.error().find(host), std::string::npos) << nowhere.error();
  }
}

TEST(EnetTransportSettings, ListensOnAllAddressesWithoutAHost) {
  const auto server = NetworkTransport::listen({.security = Insecure{}, .transport = "enet"});
  ASSERT_TRUE(server) << server.error();
  auto client = NetworkTransport::connect({.host = kEnetHost,
                                           .port = (*server)->port(),
                                           .security = Insecure{},
                                           .transport = "enet",
                                           .version = 7});
  ASSERT_TRUE(client);
  bool connected = false;
  const auto turn = [&] {
    (*server)->service(0.0);
    (*client)->service(0.0);
    while (const auto event = (*client)->poll())
      connected = connected || event->kind == TransportEvent::Kind::connected;
  };
  EXPECT_TRUE(test::turn_until(
      turn, [&] { return connected; }, kTimeoutS));
}

TEST(EnetTransportSettings, WaitsForTheRequestedTime) {
  const auto transport =
      NetworkTransport::listen({.host = kEnetHost, .security = Insecure{}, .transport = "enet"});
  ASSERT_TRUE(transport);
  for (const double seconds : {0.0, 0.0004, 0.0035, 0.07}) {
    const double start_s = now_s();
    (*transport)->wait(seconds);
    EXPECT_GE(now_s() - start_s, seconds);
    EXPECT_LT(now_s() - start_s, seconds + 0.5);
  }
}

TEST_F(EnetTransportTest, WaitSendsAndEndsWhenDataArrives) {
  join(client_);
  pass({&client_}, 0.2);
  ASSERT_TRUE(client_.transport->send(client_.connected[0], pattern(10)));
  client_.transport->wait(0.0);
  const double start_s = now_s();
  server.transport->wait(kTimeoutS);
  EXPECT_LT(now_s() - start_s, kTimeoutS / 2);
  server.turn();
  EXPECT_EQ(server.received.size(), 1u);
}

std::atomic<int> allocations{0};
void* counted_malloc(std::size_t bytes) {
  ++allocations;
  return std::malloc(bytes);
}

TEST(EnetTransportSettings, UsesTheAllocatorOfTheGame) {
  EXPECT_FALSE(set_network_allocator({nullptr, &std::free}));
  ASSERT_TRUE(set_network_allocator({&counted_malloc, &std::free}));
  {
    const auto server =
        NetworkTransport::listen({.host = kEnetHost, .security = Insecure{}, .transport = "enet"});
    ASSERT_TRUE(server);
    EXPECT_GT(allocations, 0);
    EXPECT_FALSE(set_network_allocator({&std::malloc, &std::free})) << "a transport exists";
  }
  EXPECT_TRUE(set_network_allocator({&std::malloc, &std::free}));
}

TEST(EnetTransportSettings, ThreadsMayUseSeparateTransports) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 20; ++k) {
        EXPECT_TRUE(
            NetworkTransport::listen({.host = kEnetHost, .security = Insecure{}, .transport = "enet"}));
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace
}  // namespace reckoner
