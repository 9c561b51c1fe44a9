// SPDX-License-Identifier: MIT
#include "harness/conditioner/conditioner.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <reckoner/net/network_transport.hpp>

namespace reckoner::harness {
namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// A UDP socket on loopback that sends and receives 32-bit numbers.
class Endpoint {
 public:
  Endpoint() : socket_(socket(AF_INET, SOCK_DGRAM, 0)) {
    const sockaddr_in any = loopback(0);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
  }
  ~Endpoint() { close(socket_); }
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  [[nodiscard]] std::uint16_t port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }

  void send(std::uint16_t port, std::uint32_t number) {
    const sockaddr_in to = loopback(port);
    ASSERT_EQ(sendto(socket_, &number, sizeof number, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to),
              static_cast<ssize_t>(sizeof number));
  }

  /// The next number and the port it came from; nullopt after `timeout_ms`.
  std::optional<std::pair<std::uint32_t, std::uint16_t>> receive(int timeout_ms) {
    pollfd entry{socket_, POLLIN, 0};
    if (poll(&entry, 1, timeout_ms) <= 0) return std::nullopt;
    std::uint32_t number = 0;
    sockaddr_in from{};
    socklen_t size = sizeof from;
    recvfrom(socket_, &number, sizeof number, 0, reinterpret_cast<sockaddr*>(&from), &size);
    return std::pair{number, ntohs(from.sin_port)};
  }

 private:
  int socket_;
};

/// An echo server and a conditioner in front of it, each on its own thread.
class Echo {
 public:
  explicit Echo(const LinkPair& links, LinkScript script = {})
      : conditioner_(make(links, std::move(script))) {
    relay_thread_ = std::thread([this] { conditioner_->run([this] { return stop_.load(); }); });
    echo_thread_ = std::thread([this] {
      while (!stop_) {
        if (const auto got = server_.receive(20)) {
          ports_.insert(got->second);
          server_.send(got->second, got->first);
        }
      }
    });
  }
  ~Echo() { finish(); }

  void finish() {
    stop_ = true;
    if (relay_thread_.joinable()) relay_thread_.join();
    if (echo_thread_.joinable()) echo_thread_.join();
  }

  [[nodiscard]] std::uint16_t port() const { return conditioner_->port(); }
  /// Valid after finish().
  [[nodiscard]] const ConditionerStats& stats() const { return conditioner_->stats(); }
  [[nodiscard]] std::size_t clients_seen() const { return ports_.size(); }

 private:
  Result<Conditioner> make(const LinkPair& links, LinkScript script) {
    ConditionerOptions options;
    options.listen_host = "127.0.0.1";
    options.to_port = server_.port();
    options.links = links;
    options.script = std::move(script);
    return Conditioner::open(std::move(options));
  }

  Endpoint server_;
  Result<Conditioner> conditioner_;
  std::atomic<bool> stop_ = false;
  std::set<std::uint16_t> ports_;
  std::thread relay_thread_;
  std::thread echo_thread_;
};

TEST(Conditioner, DelaysBothDirections) {
  Echo echo({.up = {.latency_ms = 30}, .down = {.latency_ms = 15}});
  Endpoint client;
  double least = 1e9;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const double sent_s = now_s();
    client.send(echo.port(), i);
    const auto got = client.receive(5000);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->first, i);
    EXPECT_EQ(got->second, echo.port());
    const double round_trip_s = now_s() - sent_s;
    EXPECT_GE(round_trip_s, 0.045);
    least = std::min(least, round_trip_s);
  }
  // The best of twenty results shows the precision of the timer. The margin allows for a busy machine.
  EXPECT_LT(least, 0.055);
  echo.finish();
  EXPECT_EQ(echo.stats().up.forwarded, 20u);
  EXPECT_EQ(echo.stats().down.forwarded, 20u);
  EXPECT_EQ(echo.stats().clients, 1u);
}

TEST(Conditioner, ServerCanDistinguishClients) {
  Echo echo({.up = {.latency_ms = 2}, .down = {.latency_ms = 2}});
  Endpoint first;
  Endpoint second;
  for (std::uint32_t i = 0; i < 10; ++i) {
    first.send(echo.port(), 100 + i);
    second.send(echo.port(), 200 + i);
    const auto to_first = first.receive(5000);
    const auto to_second = second.receive(5000);
    ASSERT_TRUE(to_first && to_second);
    EXPECT_EQ(to_first->first, 100 + i);
    EXPECT_EQ(to_second->first, 200 + i);
  }
  echo.finish();
  EXPECT_EQ(echo.clients_seen(), 2u);
  EXPECT_EQ(echo.stats().clients, 2u);
}

TEST(Conditioner, LinksCanBeChanged) {
  ConditionerOptions options;
  options.listen_host = "127.0.0.1";
  options.to_port = 9;  // nobody need listen there
  auto conditioner = Conditioner::open(options);
  ASSERT_TRUE(conditioner) << conditioner.error();
  Endpoint client;
  client.send(conditioner->port(), 1);
  conditioner->step(5.0);
  EXPECT_EQ(conditioner->stats().up.received, 1u);
  EXPECT_EQ(conditioner->stats().up.lost, 0u);

  // Also for a client that is known already, and only in the direction that was changed.
  EXPECT_FALSE(conditioner->set_links({.up = {.loss_percent = 100.0}}));
  EXPECT_EQ(conditioner->links().up.loss_percent, 100.0);
  client.send(conditioner->port(), 2);
  for (int i = 0; i < 50 && conditioner->stats().up.received < 2; ++i)
    conditioner->step(0.1);
  EXPECT_EQ(conditioner->stats().up.lost, 1u);

  const auto wrong = conditioner->set_links({.up = {.loss_percent = 101.0}});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(conditioner->links().up.loss_percent, 100.0);
}

TEST(Conditioner, CountsMatchDuplicatesAndLosses) {
  Echo echo({.up = {.loss_percent = 30}, .down = {.duplicate_percent = 100}});
  Endpoint client;
  constexpr std::uint32_t kSent = 300;
  std::map<std::uint32_t, int> copies;
  for (std::uint32_t i = 0; i < kSent; ++i) {
    client.send(echo.port(), i);
    while (const auto got = client.receive(1))
      ++copies[got->first];
  }
  while (const auto got = client.receive(300))
    ++copies[got->first];
  echo.finish();

  const ConditionerStats& stats = echo.stats();
  EXPECT_EQ(stats.up.received, kSent);
  EXPECT_EQ(stats.up.forwarded + stats.up.lost, kSent);
  EXPECT_NEAR(static_cast<double>(stats.up.lost), 90.0, 35.0);
  EXPECT_EQ(stats.down.duplicated, stats.up.forwarded);
  EXPECT_EQ(stats.down.forwarded, 2 * stats.up.forwarded);
  EXPECT_EQ(copies.size(), stats.up.forwarded);
  for (const auto& [number, count] : copies)
    EXPECT_EQ(count, 2) << number;
}

TEST(Conditioner, FollowsAScript) {
  auto script = LinkScript::parse("0.6 up loss=100");
  ASSERT_TRUE(script);
  Echo echo({}, *script);
  Endpoint client;
  client.send(echo.port(), 1);
  EXPECT_TRUE(client.receive(500));
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  client.send(echo.port(), 2);
  EXPECT_FALSE(client.receive(200));
}

TEST(Conditioner, HandlesAMissingServer) {
  ConditionerOptions options;
  options.listen_host = "127.0.0.1";
  {
    Endpoint gone;
    options.to_port = gone.port();
  }
  auto conditioner = Conditioner::open(options);
  ASSERT_TRUE(conditioner) << conditioner.error();
  Endpoint client;
  for (std::uint32_t i = 0; i < 5; ++i) {
    client.send(conditioner->port(), i);
    conditioner->run([] { return false; }, 0.02);
  }
  EXPECT_EQ(conditioner->stats().up.received, 5u);
}

TEST(Conditioner, ReportsInvalidOptions) {
  Endpoint taken;
  ConditionerOptions options;
  options.listen_host = "127.0.0.1";
  options.listen_port = taken.port();
  options.to_port = 9;
  const auto in_use = Conditioner::open(options);
  ASSERT_FALSE(in_use);
  EXPECT_EQ(in_use.error(), "UDP port " + std::to_string(taken.port()) + " is in use");

  options.listen_port = 0;
  options.links.up.loss_percent = 120;
  EXPECT_FALSE(Conditioner::open(options));
  options.links.up.loss_percent = 0;
  options.to_host = "no-such-host.invalid";
  EXPECT_FALSE(Conditioner::open(options));
  options.to_host = "127.0.0.1";
  options.to_port = 0;
  EXPECT_FALSE(Conditioner::open(options));
}

}  // namespace
}  // namespace reckoner::harness
