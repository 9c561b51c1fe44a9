// SPDX-License-Identifier: MIT
// Attacks on the live view of a real server, without a token: over IPv4 and IPv6, with and without TLS. The
// server is a separate process, so that its processor time can be measured.
#include "tests/support/sanitizer.hpp"
#include "watch_attackers.hpp"
#include "watch_server.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using Security = WebSocket::Security;

void wait_s(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

std::string get(const std::string& host, const std::string& more = {}) {
  return "GET / HTTP/1.1\r\n" + (host.empty() ? std::string() : "Host: " + host + "\r\n") + more + "\r\n";
}

class WatchAttack : public WatchServer {
 protected:
  // The time until the server closes each connection, s; `most` if it does not.
  static std::vector<double> times_until_closed(const std::vector<WebSocket*>& sockets, double most,
                                                const std::function<void()>& meanwhile) {
    const double began_s = now_s();
    std::vector<double> times(sockets.size(), most);
    while (now_s() - began_s < most) {
      meanwhile();
      bool all = true;
      for (std::size_t i = 0; i < sockets.size(); ++i) {
        if (times[i] == most && sockets[i]->is_closed_within(0.01)) times[i] = now_s() - began_s;
        all = all && times[i] < most;
      }
      if (all) break;
    }
    return times;
  }

  // Newcomers join one after the other, each within two seconds. Over ::1, the attackers have the newcomers'
  // address, so on a busy machine one may be evicted before its hello arrives (docs/SECURITY.md). There, it
  // tries again, like a visitor.
  void expect_that_newcomers_join(Security security = Security::none) {
    const int attempts = loopback_ip().is_ipv4() ? 1 : 3;
    for (int i = 0; i < 5; ++i) {
      std::size_t seen = 0;
      for (int attempt = 0; attempt < attempts && seen < 20; ++attempt) {
        Watcher newcomer(watch_, {}, security);
        seen = newcomer.watch(2.0, 20);
      }
      EXPECT_EQ(seen, 20u) << "newcomer " << i << ", the server's errors: " << server_->errors();
    }
  }

  // The server's processor time in a second, as a part of one processor.
  double load_over(double seconds) const {
    const double before = server_->processor_s();
    const double began_s = now_s();
    wait_s(seconds);
    return (server_->processor_s() - before) / (now_s() - began_s);
  }

  // Floods with frames. Returns the part of a processor that the server uses in the two seconds.
  double load_under(const std::string& frames, bool says_hello, Security security) {
    WebSocket socket(watch_, security);
    EXPECT_TRUE(socket.open(page_origin(security)));
    if (says_hello) {
      EXPECT_TRUE(socket.send(message(Kind::hello, {}, kProtocolVersion)));
      wait_s(0.2);
    }
    const double before = server_->processor_s();
    const double began_s = now_s();
    (void)send_again_and_again(socket, frames, 2.0);
    EXPECT_LT(now_s() - began_s, 1.9) << "the server must close the connection";
    wait_s(std::max(0.0, 2.0 - (now_s() - began_s)));
    return (server_->processor_s() - before) / (now_s() - began_s);
  }
};

TEST_F(WatchAttack, ANameOfAnotherSiteDoesNotLeadToTheServer) {
  start({"--insecure", "--transport", "udp", "--watch-origin", "https://game.example"});
  const std::string port = std::to_string(watch_);
  for (const std::string& evil :
       std::vector<std::string>{"evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                                "localhost.", "game.example.evil.example"}) {
    EXPECT_FALSE(WebSocket(watch_).open("http://" + evil + ':' + port, "reckoner", evil + ':' + port))
        << evil;
    EXPECT_FALSE(WebSocket(watch_).open("http://" + evil, "reckoner", evil)) << evil;
    EXPECT_FALSE(WebSocket(watch_).open("https://game.example", "reckoner", evil)) << evil;
    WebSocket page(watch_);
    ASSERT_TRUE(page.send_raw(get(evil)));
    EXPECT_EQ(page.read_until_closed(2.0).substr(0, 12), "HTTP/1.1 421") << evil;
  }
  EXPECT_EQ(refused("wrong_origin", 20), 20);
  for (const std::string& host :
       {url_host(), url_host() + ':' + port, "localhost:" + port, "LOCALHOST:" + port})
    EXPECT_TRUE(WebSocket(watch_).open("http://" + host, "reckoner", host)) << host;
  EXPECT_TRUE(WebSocket(watch_).open("https://game.example", "reckoner", "game.example"));
  // Requests from which the host does not become clear.
  const std::string good = "Host: " + url_host() + "\r\n";
  for (const std::string& request : std::vector<std::string>{
           get(""), "GET / HTTP/1.0\r\n\r\n", get(url_host(), good), get("evil.example", good),
           get(url_host(), "Host: evil.example\r\n"),
           "GET http://" + url_host() + "/ HTTP/1.1\r\n" + good + "\r\n", get(url_host(), " folded: x\r\n"),
           get(url_host(), "Host : evil.example\r\n"), "GET / HTTP/1.1\nHost: " + url_host() + "\r\n\r\n"}) {
    WebSocket socket(watch_);
    ASSERT_TRUE(socket.send_raw(request));
    EXPECT_EQ(socket.read_until_closed(2.0).substr(0, 12), "HTTP/1.1 400") << request;
  }
  expect_that_newcomers_join();
}

TEST_F(WatchAttack, ARequestWithABodyOrAnotherMethodIsRefusedAtOnce) {
  start({"--insecure", "--transport", "udp"});
  const std::string host = "Host: " + url_host() + "\r\n";
  for (const std::string& request :
       {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1000000\r\n\r\nx", std::string("POST /"),
        std::string("P"), "PUT /live.html HTTP/1.1\r\n" + host + "\r\n",
        "OPTIONS * HTTP/1.1\r\n" + host + "\r\n",
        "CONNECT " + url_host() + ":80 HTTP/1.1\r\n" + host + "\r\n", "get / HTTP/1.1\r\n" + host + "\r\n",
        get(url_host(), "Content-Length: 10\r\n"),
        get(url_host(), "Content-Length: 0\r\nContent-Length: 10\r\n"),
        get(url_host(), "Transfer-Encoding: chunked\r\n"), std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        tls_record_header(), std::string(1, '\0'), "GET / HTTP/2.0\r\n" + host + "\r\n",
        "GET / HTTP/1.1\r\n" + host + "x: " + std::string(9000, 'x')}) {
    WebSocket socket(watch_);
    ASSERT_TRUE(socket.send_raw(request));
    EXPECT_TRUE(socket.is_closed_within(1.0)) << request.substr(0, 80);
  }
  EXPECT_GE(refused("unexpected", 7), 7);
  EXPECT_GE(refused("malformed", 4), 4);
  WebSocket page(watch_);  // no page is configured
  ASSERT_TRUE(page.send_raw("HEAD / HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\n"));
  const std::string answer = page.read_until_closed(2.0);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 404")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

// Connections that dribble are closed after 5 s, like silent ones. Each kind begins at the same time.
void expect_one_deadline(const std::vector<double>& times) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_GT(times[i], 3.5) << "connection " << i;
    EXPECT_LT(times[i], 6.5) << "connection " << i;
  }
}

TEST_F(WatchAttack, NothingExtendsTheTimeUntilTheHello) {
  start({"--insecure", "--transport", "udp"});
  WebSocket silent(watch_);
  WebSocket half(watch_);
  ASSERT_TRUE(half.send_raw("GET / HTTP/1.1\r\n"));
  WebSocket dribbled_line(watch_);
  WebSocket dribbled_fields(watch_);
  ASSERT_TRUE(dribbled_fields.send_raw("GET / HTTP/1.1\r\nx: "));
  WebSocket no_hello(watch_);
  ASSERT_TRUE(no_hello.open(page_origin()));
  WebSocket pings(watch_);
  ASSERT_TRUE(pings.open(page_origin()));
  WebSocket parts(watch_);
  ASSERT_TRUE(parts.open(page_origin()));
  ASSERT_TRUE(parts.send_raw(many_frames(1, 0x02)));
  WebSocket late(watch_);  // opens the WebSocket after most of its time
  const std::string line =
      "GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
  const double began_s = now_s();
  double next_s = 0.0;
  std::size_t sent = 0;
  bool opened = false;
  expect_one_deadline(times_until_closed(
      {&silent, &half, &dribbled_line, &dribbled_fields, &no_hello, &pings, &parts, &late}, 12.0, [&] {
        if (!opened && now_s() - began_s > 3.0) opened = late.open(page_origin());
        if (now_s() < next_s) return;
        next_s = now_s() + 0.1;
        (void)dribbled_line.send_raw(line.substr(sent++ % line.size(), 1));
        (void)dribbled_fields.send_raw("x");
        (void)pings.send_raw(many_frames(1, 0x89));
        (void)parts.send_raw(many_frames(1, 0x00));
        if (opened) (void)late.send_raw(many_frames(1, 0x8a));
      }));
  EXPECT_TRUE(opened);
  expect_that_newcomers_join();
}

TEST_F(WatchAttack, NothingExtendsTheTimeUntilTheHelloOverTls) {
  start_with_tls({"--insecure", "--transport", "udp"});
  WebSocket silent(watch_);
  WebSocket handshake(watch_);
  ASSERT_TRUE(handshake.send_raw(tls_record_header()));
  WebSocket no_request(watch_, Security::tls);
  WebSocket dribbled_fields(watch_, Security::tls);
  ASSERT_TRUE(dribbled_fields.send_raw("GET / HTTP/1.1\r\nx: "));
  WebSocket no_hello(watch_, Security::tls);
  ASSERT_TRUE(no_hello.open(page_origin(Security::tls)));
  WebSocket pings(watch_, Security::tls);
  ASSERT_TRUE(pings.open(page_origin(Security::tls)));
  double next_s = 0.0;
  expect_one_deadline(
      times_until_closed({&silent, &handshake, &no_request, &dribbled_fields, &no_hello, &pings}, 12.0, [&] {
        if (now_s() < next_s) return;
        next_s = now_s() + 0.1;
        (void)handshake.send_raw(std::string_view("\0", 1));
        (void)dribbled_fields.send_raw("x");
        (void)pings.send_raw(many_frames(1, 0x89));
      }));
  expect_that_newcomers_join(Security::tls);
}

struct Dribble {
  const char* name;
  std::string opening;
  std::string drip;
  bool tls = false;
};

class WatchDribblers : public WatchAttack, public testing::WithParamInterface<Dribble> {};

TEST_P(WatchDribblers, KeepNobodyOut) {
  const Dribble& kind = GetParam();
  const Security security = kind.tls ? Security::tls : Security::none;
  kind.tls ? start_with_tls({"--insecure", "--transport", "udp"})
           : start({"--insecure", "--transport", "udp"});
  std::string opening = kind.opening;
  if (opening == "a WebSocket") opening = open_request(page_origin(), "reckoner", url_host());
  if (const std::size_t at = opening.find("HOST"); at != std::string::npos)
    opening.replace(at, 4, url_host());
  const Dribblers attackers(watch_, 552, opening, kind.drip);
  for (int i = 0; i < 200 && !attackers.are_connected(); ++i)
    wait_s(0.05);
  ASSERT_TRUE(attackers.are_connected());
  wait_s(1.0);
  expect_that_newcomers_join(security);
  EXPECT_GT(attackers.closed(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    , WatchDribblers,
    testing::Values(
        Dribble{"Bodies", "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1000000\r\n\r\n", "x"},
        Dribble{"Fields", "GET / HTTP/1.1\r\nHost: HOST\r\nx: ", "x"}, Dribble{"Requests", "", "GET /"},
        Dribble{"Frames", "a WebSocket", std::string("\x82\xfe\x10\x00\x00\x00\x00\x00xxxxxxxxx", 17)},
        Dribble{"Handshakes", tls_record_header(), "x", true}),
    [](const auto& each) { return std::string(each.param.name); });

// No client of the live view sends control frames, and no frame is free.
TEST_F(WatchAttack, EveryFrameCountsInTheLimits) {
  start({"--insecure", "--transport", "udp"});
  const std::string ping = many_frames(500, 0x89);
  const std::string full_ping = many_frames(100, 0x89, std::string(125, 'x'));
  const std::string pong = many_frames(500, 0x8a);
  const std::string parts = many_frames(1, 0x02) + many_frames(500, 0x00);
  const std::string endless = many_frames(500, 0x00);
  for (const bool says_hello : {false, true}) {
    EXPECT_LT(load_under(ping, says_hello, Security::none), 0.3);
    EXPECT_LT(load_under(full_ping, says_hello, Security::none), 0.3);
    EXPECT_LT(load_under(pong, says_hello, Security::none), 0.3);
  }
  EXPECT_GE(refused("peer_limit", 100), 100);
  WebSocket socket(watch_);
  ASSERT_TRUE(socket.open(page_origin()));
  ASSERT_TRUE(socket.send_raw(parts));
  (void)send_again_and_again(socket, endless, 2.0);
  EXPECT_TRUE(socket.is_closed_within(1.0));
  // Messages of one byte, and frames in parts of one byte.
  WebSocket tiny(watch_);
  ASSERT_TRUE(tiny.open(page_origin()));
  (void)send_again_and_again(tiny, many_frames(500, 0x82), 2.0);
  EXPECT_TRUE(tiny.is_closed_within(1.0));
  expect_that_newcomers_join();
}

TEST_F(WatchAttack, EveryFrameCountsInTheLimitsOverTls) {
  start_with_tls({"--insecure", "--transport", "udp"});
  for (const bool says_hello : {false, true})
    EXPECT_LT(load_under(many_frames(500, 0x89), says_hello, Security::tls), 0.4);
  EXPECT_GE(refused("peer_limit", 30), 30);
  // A record for each byte costs the server a look at the socket and a decryption.
  WebSocket records(watch_, Security::tls);
  ASSERT_TRUE(records.open(page_origin(Security::tls)));
  ASSERT_TRUE(records.send_raw(frame_header(30'000)));
  (void)send_again_and_again(records, "x", 4.0);
  EXPECT_TRUE(records.is_closed_within(0.5));
  expect_that_newcomers_join(Security::tls);
}

TEST_F(WatchAttack, AnHonestClientMaySendPings) {
  start({"--insecure", "--transport", "udp"});
  WebSocket socket(watch_);
  ASSERT_TRUE(socket.open(page_origin()));
  ASSERT_TRUE(socket.send_raw(many_frames(1, 0x89, "are you there?")));
  ASSERT_TRUE(socket.send(message(Kind::hello, {}, kProtocolVersion)));
  for (int i = 0; i < 40 && socket.pong().empty(); ++i) {
    wait_s(0.05);
    (void)socket.next();
  }
  EXPECT_EQ(socket.pong(), "are you there?");
  ASSERT_TRUE(socket.send_raw(many_frames(1, 0x88)));
  EXPECT_TRUE(socket.is_closed_within(1.0));
}

// One that writes but does not read would otherwise occupy the thread of the sockets.
TEST_F(WatchAttack, AClientThatDoesNotReadCostsNothing) {
  start({"--insecure", "--transport", "udp"});
  WebSocket socket(watch_);
  ASSERT_TRUE(socket.open(page_origin()));
  ASSERT_TRUE(socket.send(message(Kind::hello, {}, kProtocolVersion)));
  socket.limit_receive_buffer(4096);
  const double before = server_->processor_s();
  const double began_s = now_s();
  const auto state = message(Kind::state, std::vector<std::byte>(10, std::byte{1}));
  while (now_s() - began_s < 4.0) {
    (void)socket.send_raw(many_frames(10, 0x89, std::string(125, 'x')));
    (void)socket.send(state);
    wait_s(0.02);
  }
  EXPECT_LT((server_->processor_s() - before) / (now_s() - began_s), 0.3);
}

TEST_F(WatchAttack, ConnectionsWithoutDescriptorsCostNothing) {
  // To check the type of an object, the sanitizer opens a pipe, and takes a failure for a wrong type.
  if (kSanitized) GTEST_SKIP() << "without a descriptor, the sanitizer cannot look at memory";
  start_with_descriptors(32, {"--insecure", "--transport", "udp"});
  std::vector<std::unique_ptr<WebSocket>> idle;
  for (int i = 0; i < 60; ++i)
    idle.push_back(std::make_unique<WebSocket>(watch_));
  EXPECT_LT(load_over(2.0), 0.2);
  expect_that_newcomers_join();
}

// All descriptors are in use, and by nothing that could be closed.
TEST_F(WatchAttack, ConnectionsWaitForADescriptor) {
  if (kSanitized) GTEST_SKIP() << "without a descriptor, the sanitizer cannot look at memory";
  start({"--insecure", "--transport", "udp"});
  server_->limit_descriptors(server_->descriptors() + 3);
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (int i = 0; i < 3; ++i) {
    watchers.push_back(std::make_unique<Watcher>(watch_));
    ASSERT_EQ(watchers.back()->watch(2.0, 20), 20u);
  }
  std::vector<std::unique_ptr<WebSocket>> idle;
  for (int i = 0; i < 30; ++i)
    idle.push_back(std::make_unique<WebSocket>(watch_));
  EXPECT_LT(load_over(2.0), 0.2);
  for (const auto& watcher : watchers)
    EXPECT_EQ(watcher->watch(0.3), 20u) << "those who joined go on";
  watchers.clear();
  wait_s(0.5);
  expect_that_newcomers_join();
}

}  // namespace
}  // namespace reckoner::test
