// SPDX-License-Identifier: MIT
// A game's own server for native players and browsers: the real listener, real sockets, the client library at
// both, and hostile WebSockets. tests/programs/watch_*_test.cpp attack the same listener in reckoner-server.
#include "tests/programs/http.hpp"
#include "tests/programs/process.hpp"
#include "tests/programs/tls.hpp"
#include "web_world.hpp"

#include <array>
#include <cstdio>
#include <fstream>

#include <sys/resource.h>

#include <reckoner/net/pipe_server.hpp>

namespace reckoner::test {
namespace {

std::string own_origin() {
  return "http://" + url_host();
}

// The descriptors that the test may have open, of which it needs two for each connection.
std::size_t raise_descriptor_limit() {
  rlimit limit{};
  (void)getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<std::size_t>(limit.rlim_cur);
}

class WebListenerTest : public WebWorld {};

TEST_F(WebListenerTest, NativePlayersAndBrowsersSeeEachOther) {
  start(Insecure{});
  Browser& browser = join_from_browser();
  NativePlayer& native = join_natively(Insecure{});
  EXPECT_TRUE(run_until([&] { return shows(browser.client(), 2) && shows(native.client, 2); }))
      << browser.client().refusal() << native.client.refusal();
  std::size_t in_browsers = 0;
  for (const auto& [client, entity] : entities_)
    in_browsers += JoinedTransport::is_of_second(server_->peer(client)) ? 1 : 0;
  EXPECT_EQ(entities_.size(), 2u);
  EXPECT_EQ(in_browsers, 1u);
  EXPECT_EQ(web_->web_stats().peers, 1u);
  EXPECT_EQ(web_->stats().refusals.total(), 0u);

  // The browser's entity goes with it.
  browsers_.clear();
  EXPECT_TRUE(run_until([&] { return web_->web_stats().connections == 0; }));
}

TEST_F(WebListenerTest, TokensAdmitAsForNativeClients) {
  const SecretKey key = SecretKey::make();
  start(ServerSecurity{.key = key});
  const auto token_for = [&](std::uint64_t id) {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    const auto unix_s =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(since_1970).count());
    ConnectGrant grant{.client_id = id, .expires_s = unix_s + 60};
    grant.servers = {{.host = loopback_ip(), .port = udp_->port()}};
    return *issue_token(grant, key, 0);
  };
  const auto ended = [](Browser& browser) {
    return [&browser] { return browser.client().status() == ClientStatus::disconnected; };
  };
  const auto bytes = [](const ConnectToken& token) { return *write_token(token); };

  Browser& nobody = join_from_browser();
  EXPECT_TRUE(run_until(ended(nobody)));
  auto forged = bytes(token_for(1));
  forged[200] ^= std::byte{1};
  Browser& forger = join_from_browser(forged);
  EXPECT_TRUE(run_until(ended(forger)));
  EXPECT_EQ(refused(Refusal::wrong_token, 2), 2u);

  const ConnectToken first = token_for(1);
  Browser& browser = join_from_browser(bytes(first));
  EXPECT_TRUE(run_until([&] { return shows(browser.client(), 1); })) << browser.client().refusal();
  ASSERT_EQ(entities_.size(), 1u);
  const PeerId peer = server_->peer(entities_.begin()->first);
  ASSERT_TRUE(JoinedTransport::is_of_second(peer));
  EXPECT_EQ(web_->identity(JoinedTransport::own_id(peer))->client_id, 1u);

  // The token is used up for both ways into the server, and one used natively is used up here.
  NativePlayer& thief = join_natively(ClientSecurity{.token = first});
  Browser& again = join_from_browser(bytes(first));
  EXPECT_TRUE(run_until(ended(again)));
  EXPECT_EQ(refused(Refusal::token_reused, 1), 1u);
  const ConnectToken second = token_for(2);
  NativePlayer& native = join_natively(ClientSecurity{.token = second});
  EXPECT_TRUE(run_until([&] { return shows(native.client, 2); })) << native.client.refusal();
  Browser& late = join_from_browser(bytes(second));
  EXPECT_TRUE(run_until(ended(late)));
  EXPECT_EQ(refused(Refusal::token_reused, 2), 2u);
  EXPECT_NE(thief.client.status(), ClientStatus::joined);

  // A client id has one session in all: a newer token takes the place of the native player.
  const ConnectToken third = token_for(2);
  Browser& moved = join_from_browser(bytes(third));
  EXPECT_TRUE(run_until([&] { return native.client.status() == ClientStatus::refused; }));
  EXPECT_TRUE(run_until([&] { return shows(moved.client(), 2); })) << moved.client().refusal();

  // A kick ends the session, and refuses tokens that were issued before.
  const ConnectToken older = token_for(2);
  run_for(0.01);  // a token of the same millisecond counts as issued after the kick
  EXPECT_EQ(server_->kick_player(2, "cheating"), 1u);
  EXPECT_TRUE(run_until([&] { return moved.client().status() == ClientStatus::refused; }));
  Browser& kicked = join_from_browser(bytes(older));
  EXPECT_TRUE(run_until(ended(kicked)));
  EXPECT_EQ(refused(Refusal::token_reused, 3), 3u);
  EXPECT_EQ(browser.client().status(), ClientStatus::joined) << "nobody else is affected";
}

// Thousands of WebSockets that open and then say nothing, from many addresses.
TEST_F(WebListenerTest, SilentWebSocketsKeepNobodyOut) {
  const std::size_t descriptors = raise_descriptor_limit();
  const std::size_t silent = std::min<std::size_t>(3000, (descriptors - 200) * 2 / 3);
  constexpr std::size_t kMost = 256;
  start(Insecure{}, [](WebConfig& config) {
    config.max_connections = kMost;
    config.join_s = 2.0;
  });
  Browser& early = join_from_browser();
  NativePlayer& native = join_natively(Insecure{});
  ASSERT_TRUE(run_until([&] { return shows(early.client(), 2) && shows(native.client, 2); }));

  std::vector<std::unique_ptr<WebSocket>> sockets;
  std::size_t opened = 0, most = 0;
  double longest_tick_s = 0.0;
  for (std::size_t i = 0; i < silent; ++i) {
    const auto from = other_loopback(2 + static_cast<std::uint32_t>(i / 20 % 200));
    sockets.push_back(std::make_unique<WebSocket>(web_->port(), WebSocket::Security::none, from));
    opened += sockets.back()->open(own_origin()) ? 1 : 0;
    if (i % 20 != 0) continue;
    const double before_s = machine_s();
    run_for(0.001);
    longest_tick_s = std::max(longest_tick_s, machine_s() - before_s);
    most = std::max(most, web_->web_stats().connections);
  }
  EXPECT_GT(opened, silent / 2) << "they were WebSockets";
  EXPECT_LE(most, kMost);
  EXPECT_GT(web_->stats().refusals.total(), 0u) << "they were counted";
  EXPECT_LT(longest_tick_s, 0.5);
  EXPECT_EQ(web_->web_stats().peers, 1u) << "none of them is a client";

  // Those who had joined play on, and others join while the silent ones still come.
  EXPECT_EQ(early.client().status(), ClientStatus::joined);
  EXPECT_EQ(native.client.status(), ClientStatus::joined);
  Browser& late = join_from_browser({}, other_loopback(2));
  EXPECT_TRUE(run_until([&] { return shows(late.client(), 3) && shows(native.client, 3); }))
      << late.client().refusal();
  // Nothing is left of the silent ones, although they keep their ends open.
  EXPECT_TRUE(run_until([&] { return web_->web_stats().connections == 2; })) << web_->web_stats().connections;
  EXPECT_EQ(early.client().status(), ClientStatus::joined);
}

TEST_F(WebListenerTest, FramesOfOtherKindsAndSizesAreRefusedAndCounted) {
  start(Insecure{}, [](WebConfig& config) { config.data_channels = false; });
  const auto opened = [&] {
    auto socket = std::make_unique<WebSocket>(web_->port());
    EXPECT_TRUE(socket->open(own_origin()));
    return socket;
  };
  const auto text = opened();
  ASSERT_TRUE(text->send_raw(frame_header(5, 1) + "hello"));
  EXPECT_TRUE(text->is_closed_within(3.0));
  EXPECT_EQ(refused(Refusal::malformed, 1), 1u);

  const auto huge = opened();
  ASSERT_TRUE(huge->send_raw(frame_header(PipeServer::kMaxMessageBytes + 1)));
  EXPECT_TRUE(huge->is_closed_within(3.0)) << "before its payload";
  EXPECT_EQ(refused(Refusal::too_large, 1), 1u);

  // Empty messages count one by one, and end the connection when it goes on.
  const auto empty = opened();
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(empty->send_raw(frame_header(0)));
  EXPECT_EQ(refused(Refusal::malformed, 11), 11u);
  for (int i = 0; i < 30; ++i)
    (void)empty->send_raw(frame_header(0));
  EXPECT_TRUE(empty->is_closed_within(3.0));
  EXPECT_EQ(web_->web_stats().peers, 0u);

  Browser& honest = join_from_browser();
  EXPECT_TRUE(run_until([&] { return shows(honest.client(), 1); }));
}

TEST_F(WebListenerTest, PagesOfOtherOriginsAreRefusedAndCounted) {
  start(Insecure{}, [](WebConfig& config) { config.origins = {"https://game.example"}; });
  EXPECT_FALSE(WebSocket(web_->port()).open("https://evil.example"));
  EXPECT_FALSE(WebSocket(web_->port()).open(own_origin(), "reckoner", "evil.example"));
  EXPECT_FALSE(WebSocket(web_->port()).open("null"));
  EXPECT_FALSE(WebSocket(web_->port()).open("")) << "without an origin";
  EXPECT_TRUE(WebSocket(web_->port()).open("https://game.example"));
  EXPECT_TRUE(WebSocket(web_->port()).open("https://game.example", "reckoner", "game.example"));
  EXPECT_TRUE(WebSocket(web_->port()).open(own_origin()));
  EXPECT_EQ(refused(Refusal::wrong_origin, 4), 4u);
}

TEST_F(WebListenerTest, ClientsWithoutAnOriginConnectIfTheGameAllowsThem) {
  start(Insecure{}, [](WebConfig& config) { config.without_origin = true; });
  EXPECT_TRUE(WebSocket(web_->port()).open(""));
  EXPECT_FALSE(WebSocket(web_->port()).open("https://evil.example"));
  EXPECT_FALSE(WebSocket(web_->port()).open("", "reckoner", "evil.example")) << "the host counts in any case";
}

TEST_F(WebListenerTest, LimitsClientsInAllAndOfOneAddress) {
  start(Insecure{}, [](WebConfig& config) {
    config.max_peers = 3;
    config.max_peers_per_host = 2;
  });
  std::array<Browser*, 2> joined{&join_from_browser(), &join_from_browser()};
  ASSERT_TRUE(run_until([&] { return shows(joined[0]->client(), 2) && shows(joined[1]->client(), 2); }));
  Browser& crowded = join_from_browser();
  EXPECT_TRUE(run_until([&] { return crowded.client().status() == ClientStatus::disconnected; }));
  EXPECT_EQ(refused(Refusal::peer_limit, 1), 1u);
  EXPECT_EQ(web_->web_stats().peers, 2u);
  EXPECT_EQ(joined[0]->client().status(), ClientStatus::joined);
}

TEST_F(WebListenerTest, ServesTheFilesOfItsFolder) {
  const ScratchDir scratch;
  std::ofstream(scratch.file("play.html")) << "<p>play</p>";
  std::ofstream(scratch.file("index.html")) << "<p>index</p>";
  start(Insecure{}, [&](WebConfig& config) {
    config.folder = scratch.path().string();
    config.content_policy = "default-src https:";
  });
  const std::string host = "\r\nHost: " + url_host() + "\r\n\r\n";
  const HttpAnswer front = http_exchange(web_->port(), "GET / HTTP/1.1" + host);
  EXPECT_EQ(front.code, 200);
  EXPECT_EQ(front.body, "<p>index</p>");
  EXPECT_NE(front.head.find("content-security-policy: default-src https:"), std::string::npos);
  EXPECT_EQ(http_exchange(web_->port(), "GET /play.html HTTP/1.1" + host).body, "<p>play</p>");
  EXPECT_EQ(http_exchange(web_->port(), "GET /../play.html HTTP/1.1" + host).code, 404);
  // Without a folder, there are no files.
  const auto bare = WebListener::open({.host = loopback(), .security = Insecure{}});
  ASSERT_TRUE(bare) << bare.error();
  EXPECT_EQ(http_exchange((*bare)->port(), "GET / HTTP/1.1" + host).code, 404);
}

TEST_F(WebListenerTest, TlsHasACertificateAndItsKeyInTwoFiles) {
  const ScratchDir scratch;
  const std::string both = scratch.file("both.pem");
  ASSERT_TRUE(write_certificate(both));
  const std::string pem = read_file(both);
  const std::size_t key_at = pem.find("-----BEGIN PRIVATE KEY");
  const std::size_t certificate_at = pem.find("-----BEGIN CERTIFICATE");
  ASSERT_NE(key_at, std::string::npos);
  ASSERT_NE(certificate_at, std::string::npos);
  const bool key_first = key_at < certificate_at;
  const std::size_t cut = key_first ? certificate_at : key_at;
  std::ofstream(scratch.file("key.pem")) << (key_first ? pem.substr(0, cut) : pem.substr(cut));
  std::ofstream(scratch.file("chain.pem")) << (key_first ? pem.substr(cut) : pem.substr(0, cut));
  start(Insecure{}, [&](WebConfig& config) {
    config.certificate = scratch.file("chain.pem");
    config.key = scratch.file("key.pem");
  });
  EXPECT_EQ(web_->url("game.example"), "wss://game.example:" + std::to_string(web_->port()) + '/');
  Browser browser(web_->port(), {}, {}, WebSocket::Security::tls);
  EXPECT_TRUE(browser.opened());
  const auto wrong = WebListener::open({.host = loopback(),
                                        .security = Insecure{},
                                        .certificate = scratch.file("chain.pem"),
                                        .key = scratch.file("chain.pem")});
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().find("the certificate cannot be read"), std::string::npos) << wrong.error();
}

// Without native players, the game waits for browsers alone.
TEST_F(WebListenerTest, AloneItWaitsAndSendsItsStatus) {
  auto web = WebListener::open({.host = loopback(), .security = Insecure{}});
  ASSERT_TRUE(web) << web.error();
  auto server = Server::create({.epoch_s = machine_s()}, **web);
  ASSERT_TRUE(server);
  const double before_s = machine_s();
  (*web)->wait(0.05);
  EXPECT_GE(machine_s() - before_s, 0.04);
  Browser browser((*web)->port());
  browser.update(machine_s());  // says hello
  const double said_s = machine_s();
  (*web)->wait(5.0);
  EXPECT_LT(machine_s() - said_s, 4.0) << "the hello ended the wait";
  (*web)->send_status("round 3");
  for (const double until_s = machine_s() + 3.0;
       machine_s() < until_s && browser.client().status() != ClientStatus::joined;) {
    (*web)->wait(0.005);
    server->run_due_ticks(machine_s(), [](double) {});
    browser.update(machine_s());
  }
  EXPECT_EQ(browser.client().status(), ClientStatus::joined);
  EXPECT_EQ(browser.transport().status(), "round 3");
}

TEST_F(WebListenerTest, TheAddressMustBeFreeAndOfThisMachine) {
  start(Insecure{});
  const auto taken = WebListener::open({.host = loopback(), .port = web_->port(), .security = Insecure{}});
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().find("in use or not of this machine"), std::string::npos) << taken.error();
  EXPECT_FALSE(WebListener::open({.host = "192.0.2.1", .security = Insecure{}}));
}

}  // namespace
}  // namespace reckoner::test
