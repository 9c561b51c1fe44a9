// SPDX-License-Identifier: MIT
// The live view of a real server: the client library over a WebSocket, and hostile clients.
#include "watch_server.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <reckoner/server/traffic.hpp>

namespace reckoner::test {
namespace {

TEST_F(WatchServer, ShowsTheWorldToTheRealClientLibrary) {
  start({"--insecure", "--transport", "udp"});
  Watcher watcher(watch_);
  EXPECT_EQ(watcher.watch(2.0), 20u) << watcher.client().refusal();
  EXPECT_EQ(watcher.client().stats().malformed, 0u);
  EXPECT_EQ(watcher.transport().stats().refused, 0u);
  EXPECT_LT(watcher.client().stats().round_trip_s, 0.1);
  const auto status = nlohmann::json::parse(watcher.transport().status());
  EXPECT_EQ(status["entities"], 20);
  EXPECT_EQ(status["watchers"], 1);
  EXPECT_EQ(status["links"].size(), 1u);
  const auto& traffic = status["traffic"];
  EXPECT_EQ(traffic["contents"].size(), kContents);
  EXPECT_GT(traffic["contents"]["spawn"], 0);
  ASSERT_EQ(traffic["archetypes"].size(), 2u);
  EXPECT_EQ(traffic["archetypes"][0]["bytes"].size(), kEntityContents);
  ASSERT_EQ(traffic["entities"].size(), 10u) << "those that cost most";
  for (std::size_t i = 1; i < 10; ++i)
    EXPECT_GE(traffic["entities"][i - 1]["bytes"], traffic["entities"][i]["bytes"]);
  server_->send_signal(SIGTERM);
  watcher.watch(2.0);
  EXPECT_TRUE(watcher.has_ended());
  EXPECT_EQ(server_->wait(), 0);
}

TEST_F(WatchServer, RefusesOtherOriginsAndProtocols) {
  start({"--insecure", "--transport", "udp", "--watch-origin", "https://game.example"});
  EXPECT_FALSE(WebSocket(watch_).open("http://evil.example"));
  EXPECT_FALSE(WebSocket(watch_).open(""));
  EXPECT_FALSE(WebSocket(watch_).open("http://127.0.0.1.evil.example"));
  EXPECT_FALSE(WebSocket(watch_).open(page_origin(), ""));
  EXPECT_FALSE(WebSocket(watch_).open(page_origin(), "http"));
  EXPECT_FALSE(WebSocket(watch_).open(page_origin(), "chat"));
  WebSocket allowed(watch_);
  EXPECT_TRUE(allowed.open("https://game.example"));
  EXPECT_EQ(allowed.answer().find("deflate"), std::string::npos) << allowed.answer();
  EXPECT_EQ(refused("wrong_origin", 3), 3);
  expect_that_clients_can_join();
}

TEST_F(WatchServer, NeedsATokenThatIsValidOnceAndForThisServer) {
  const ScratchDir scratch;
  const std::string key = scratch.file("game.key");
  ASSERT_EQ(run("reckoner-token", {"key", key}).exit_code, 0);
  start({"--key", key, "--host", "127.0.0.1"});
  const auto issue = [&](const std::string& name, const std::string& server) {
    const std::string path = scratch.file(name);
    EXPECT_EQ(run("reckoner-token", {"issue", path, "--key", key, "--server", server, "--client-id", "7"})
                  .exit_code,
              0);
    return bytes_of(read_file(path));
  };
  const auto admits = [&](std::span<const std::byte> token) {
    Watcher watcher(watch_, token);
    return watcher.watch(1.5) == 20;
  };
  EXPECT_FALSE(admits({}));
  EXPECT_FALSE(admits(std::vector<std::byte>(ConnectToken::kBytes)));
  EXPECT_FALSE(admits(issue("other.token", "127.0.0.1:9")));
  EXPECT_EQ(refused("wrong_token", 3), 3);
  const auto token = issue("own.token", "127.0.0.1:" + std::to_string(port_));
  auto changed = token;
  changed[200] ^= std::byte{1};
  EXPECT_FALSE(admits(changed));
  EXPECT_TRUE(admits(token));
  EXPECT_FALSE(admits(token));
  EXPECT_EQ(refused("token_reused"), 1);
}

// A newer token ends the older view, as over UDP.
TEST_F(WatchServer, OneClientIdHasOneViewAtOnce) {
  const ScratchDir scratch;
  const std::string key = scratch.file("game.key");
  ASSERT_EQ(run("reckoner-token", {"key", key}).exit_code, 0);
  start({"--key", key, "--host", "127.0.0.1"});
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (std::size_t i = 0; i < 6; ++i) {
    const std::string path = scratch.file(std::to_string(i));
    ASSERT_EQ(run("reckoner-token", {"issue", path, "--key", key, "--server",
                                     "127.0.0.1:" + std::to_string(port_), "--client-id", "7"})
                  .exit_code,
              0);
    watchers.push_back(std::make_unique<Watcher>(watch_, bytes_of(read_file(path))));
    EXPECT_EQ(watchers.back()->watch(1.0), 20u) << i;
    if (i == 0) continue;
    watchers[i - 1]->watch(0.5);
    EXPECT_EQ(watchers[i - 1]->client().status(), ClientStatus::refused) << i;
  }
  watchers.back()->watch(1.0);
  EXPECT_EQ(nlohmann::json::parse(watchers.back()->transport().status())["watchers"], 1);
}

TEST_F(WatchServer, RefusesHugeFramesBeforeTheyArrive) {
  start({"--insecure", "--transport", "udp"});
  for (const std::uint64_t size :
       {std::uint64_t{40'000}, std::uint64_t{1} << 31, (std::uint64_t{1} << 63) - 1}) {
    WebSocket socket(watch_);
    ASSERT_TRUE(socket.open(page_origin()));
    ASSERT_TRUE(socket.send_raw(frame_header(size) + std::string(2000, 'x')));
    EXPECT_TRUE(socket.is_closed_within(3.0)) << size;
  }
  EXPECT_EQ(refused("too_large", 3), 3);
  // Many small fragments of one message.
  WebSocket socket(watch_);
  ASSERT_TRUE(socket.open(page_origin()));
  std::string fragment = frame_header(1000, 0) + std::string(1000, 'x');
  fragment[0] = 0;  // a continuation that is not the last
  std::string first = fragment;
  first[0] = 2;
  (void)socket.send_raw(first);
  for (int i = 0; i < 100; ++i)
    (void)socket.send_raw(fragment);
  EXPECT_TRUE(socket.is_closed_within(3.0));
  EXPECT_EQ(refused("too_large", 4), 4);
  WebSocket text(watch_);
  ASSERT_TRUE(text.open(page_origin()));
  ASSERT_TRUE(text.send_raw(frame_header(8193, 1)));
  EXPECT_TRUE(text.is_closed_within(3.0)) << "larger than an offer of a data channel may be";
  EXPECT_EQ(refused("too_large", 5), 5);
  expect_that_clients_can_join();
}

TEST_F(WatchServer, LimitsFloodsAndMalformedMessages) {
  start({"--insecure", "--transport", "udp"});
  WebSocket flood(watch_);
  ASSERT_TRUE(flood.open(page_origin()));
  ASSERT_TRUE(flood.send(message(Kind::hello, {}, kProtocolVersion)));
  const auto state = message(Kind::state, std::vector<std::byte>(100, std::byte{'x'}));
  for (int i = 0; i < 100'000 && flood.send(state); ++i) {
  }
  EXPECT_TRUE(flood.is_closed_within(3.0));
  EXPECT_GE(refused("peer_limit", 30), 30);
  WebSocket noise(watch_);
  ASSERT_TRUE(noise.open(page_origin()));
  for (int i = 0; i < 100 && noise.send(std::vector<std::byte>(9, std::byte{0xff})); ++i) {
  }
  EXPECT_TRUE(noise.is_closed_within(3.0));
  EXPECT_GE(refused("malformed", 30), 30);
  expect_that_clients_can_join();
}

// It waits for the time limits of a real server; pipe_transport_test.cpp tests those of sessions in virtual
// time.
TEST_F(WatchServer, ClosesHalfOpenAndSilentConnectionsAndSlowReaders) {
  start({"--insecure", "--transport", "udp"});
  WebSocket nothing(watch_);
  WebSocket half(watch_);
  ASSERT_TRUE(half.send_raw("GET / HTTP/1.1\r\nHost: x\r\n"));
  WebSocket no_hello(watch_);
  ASSERT_TRUE(no_hello.open(page_origin()));
  WebSocket half_frame(watch_);
  ASSERT_TRUE(half_frame.open(page_origin()));
  ASSERT_TRUE(half_frame.send_raw(frame_header(1000) + "xx"));
  WebSocket silent(watch_);  // and does not read
  ASSERT_TRUE(silent.open(page_origin()));
  ASSERT_TRUE(silent.send(message(Kind::hello, {}, kProtocolVersion)));
  expect_that_clients_can_join();
  const double began_s = now_s();
  for (WebSocket* socket : {&nothing, &half, &no_hello, &half_frame})
    EXPECT_TRUE(socket->is_closed_within(12.0 - (now_s() - began_s)));
  std::this_thread::sleep_for(std::chrono::duration<double>(std::max(0.0, 11.5 - (now_s() - began_s))));
  EXPECT_TRUE(silent.is_closed_within(3.0));
  expect_that_clients_can_join();
}

TEST_F(WatchServer, LimitsTheConnectionsOfOneAddress) {
  start({"--insecure", "--transport", "udp", "--watchers", "3"});
  std::vector<std::unique_ptr<WebSocket>> all;
  for (int i = 0; i < 80; ++i)
    all.push_back(std::make_unique<WebSocket>(watch_));
  EXPECT_GE(refused("address_limit", 30), 30);
  all.clear();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  for (int i = 0; i < 5; ++i) {
    all.push_back(std::make_unique<WebSocket>(watch_));
    EXPECT_TRUE(all.back()->open(page_origin()));
  }
  EXPECT_EQ(refused("peer_limit", 2), 2);
  all.clear();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  expect_that_clients_can_join();
}

TEST_F(WatchServer, ServesOnlyTheFolderOfThePage) {
  const ScratchDir scratch;
  std::filesystem::create_directory(scratch.path() / "page");
  std::ofstream(scratch.file("page/live.html")) << "the page";
  std::ofstream(scratch.file("secret")) << "the secret";
  start({"--insecure", "--transport", "udp", "--watch-page", scratch.file("page")});
  const HttpAnswer page = http_get(watch_, "/");
  EXPECT_EQ(page.code, 200);
  EXPECT_NE(page.body.find("the page"), std::string::npos);
  EXPECT_NE(page.head.find("content-security-policy: default-src 'self'"), std::string::npos) << page.head;
  for (const char* path :
       {"/../secret", "/%2e%2e/secret", "/..%2fsecret", "/page/../../secret", "//etc/passwd"})
    EXPECT_EQ(http_get(watch_, path).body.find("secret"), std::string::npos) << path;
}

TEST(WatchOptions, TokensNeedAnEncryptedConnection) {
  const ScratchDir scratch;
  const std::string key = scratch.file("game.key");
  ASSERT_EQ(run("reckoner-token", {"key", key}).exit_code, 0);
  const auto open = run("reckoner-server", {"--key", key, "--address", "any", "--port", "0", "--scenario",
                                            "orbit", "--watch-port", "0", "--watch-host", "0.0.0.0"});
  EXPECT_EQ(open.exit_code, 1);
  EXPECT_NE(open.errors.find("tokens would travel unencrypted"), std::string::npos) << open.errors;
  const auto certificate =
      run("reckoner-server", {"--insecure", "--transport", "udp", "--port", "0", "--scenario", "orbit",
                              "--watch-port", "0", "--watch-certificate", scratch.file("missing.pem")});
  EXPECT_EQ(certificate.exit_code, 1);
  EXPECT_NE(certificate.errors.find("certificate cannot be read"), std::string::npos) << certificate.errors;
}

TEST(WatchOptions, AreRefusedIfTheyCannotWork) {
  const auto start = [](const std::string& option, const std::string& value) {
    return run("reckoner-server", {"--insecure", "--transport", "udp", "--port", "0", "--scenario", "orbit",
                                   "--watch-port", "0", option, value});
  };
  for (const char* origin : {"https://game.example/", "game.example", "null"}) {
    const auto wrong = start("--watch-origin", origin);
    EXPECT_EQ(wrong.exit_code, 1) << origin;
    EXPECT_NE(wrong.errors.find(std::string(origin) + ": not an origin"), std::string::npos) << wrong.errors;
  }
  const auto channels = start("--watch-udp-address", "game.example");
  EXPECT_EQ(channels.exit_code, 1);
  EXPECT_NE(channels.errors.find("--watch-udp-address game.example: not one"), std::string::npos)
      << channels.errors;
  const auto elsewhere = start("--watch-host", "192.0.2.1");
  EXPECT_EQ(elsewhere.exit_code, 1);
  EXPECT_NE(elsewhere.errors.find("not of this machine"), std::string::npos) << elsewhere.errors;
}

}  // namespace
}  // namespace reckoner::test
