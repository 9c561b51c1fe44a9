// SPDX-License-Identifier: MIT
// The reliable messages of a session whose connection was lost.
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "server/src/session/session.hpp"
#include "tests/support/forged_stream.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr std::size_t kMostRetained = 1024 * 1024;  // Session::kMostRetained

// A route that fills almost a whole message.
RouteDefinition long_route() {
  CatmullRomRoute route;
  for (int i = 0; i < 1300; ++i)
    route.points.push_back({static_cast<double>(i), 0.0, 0.0});
  return {.curve = route};
}

// A client that confirms nothing costs a bounded amount of memory. After its messages have arrived, its
// session can be resumed again.
TEST(SessionResume, KeepsABoundedAmountOfUnconfirmedMessages) {
  const ServerConfig config;
  Session session{{1}, {1}, config, SenderParts{}};
  EXPECT_FALSE(session.can_resume()) << "not enabled";
  session.enable_resume(SessionKey{1, 2});
  EXPECT_TRUE(session.can_resume());
  const RouteMessage route{{1}, long_route()};
  const std::size_t bytes = encoded_message(route).size() + 3;  // with its length
  std::size_t sent = 0;
  while (session.can_resume()) {
    ASSERT_LE((sent + 1) * bytes, kMostRetained + bytes);
    session.send_route(route);
    ++sent;
  }
  EXPECT_EQ(sent, kMostRetained / bytes + 1);
  EXPECT_TRUE(session.can_resume_from(0));
  EXPECT_TRUE(session.can_resume_from(static_cast<std::uint32_t>(sent)));
  EXPECT_FALSE(session.can_resume_from(static_cast<std::uint32_t>(sent) + 1)) << "never sent";
  session.resume_from(1, config, 1.0, 60);
  EXPECT_TRUE(session.can_resume());
  EXPECT_FALSE(session.can_resume_from(0)) << "the client has received it";
  EXPECT_FALSE(session.send_reliable(Bytes(300'000))) << "game messages have a lower limit";
  session.set_peer({});
  EXPECT_TRUE(session.send_reliable(Bytes(100))) << "waits for the resume";
}

// A session with at most 1 MiB of messages waits for its client; one with more ends with its connection.
TEST(SessionResume, SessionWithTooManyMessagesEndsWithItsConnection) {
  const std::size_t bytes = encoded_message(RouteMessage{{1}, long_route()}).size() + 3;
  const std::size_t most = kMostRetained / bytes;
  for (const std::size_t routes : {most, most + 1}) {
    WorldConfig config;
    config.links = both_ways({.latency_ms = 20.0});
    config.script = "3 down loss=100\n";
    config.silence_timeout_s = 5.0;
    World world(config);
    world.add_dialing_client();
    world.run_to(3.1);
    for (std::size_t i = 0; i < routes; ++i)
      ASSERT_TRUE(world.server().add_route(long_route()));
    world.run_to(3.5);
    world.kill_client(0);
    world.run_to(20.0);
    const bool keeps = routes == most;
    EXPECT_EQ(world.count(ServerEvent::Kind::client_lost), keeps ? 1u : 0u) << routes;
    EXPECT_EQ(world.count(ServerEvent::Kind::client_left), keeps ? 0u : 1u) << routes;
  }
}

// A link loses the acknowledgements of messages, then messages, then everything until the connection is lost.
// Afterwards the server sends those that the client lacks, no faster than its budget, and no others.
TEST(SessionResume, SendsTheMissingMessagesAgainAtThePaceOfTheBudget) {
  // The server sends little while it hears nothing, so those that arrive without its knowledge are small.
  constexpr std::size_t kSmall = 200, kBytes = 16'000;
  constexpr std::uint32_t kArrived = 5, kAll = 15;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    WorldConfig config;
    config.links = both_ways({.latency_ms = 40.0, .jitter_ms = 5.0});
    config.script = "4 up loss=100\n5 down loss=100\n25 loss=0\n";
    config.silence_timeout_s = 10.0;
    config.seed = seed;
    config.log_packets = true;
    World world(config);
    world.add_dialing_client();
    world.run_to(4.1);
    std::uint32_t sent = 0;
    const auto send = [&](std::uint32_t until) {
      for (; sent < until; ++sent) {
        Bytes text(sent < kArrived ? kSmall : kBytes);
        std::memcpy(text.data(), &sent, sizeof sent);
        ASSERT_TRUE(world.server().send(world.server().clients().front(), text, Delivery::reliable)) << sent;
      }
    };
    send(kArrived);
    std::uint32_t next = 0;
    world.on_frame = [&](std::size_t, double, std::span<const ShownEntity>) {
      while (const auto message = world.client(0).poll_message()) {
        std::uint32_t number = 0;
        std::memcpy(&number, message->payload.data(), sizeof number);
        EXPECT_EQ(number, next++) << "exactly once, and in order";
      }
    };
    world.run_to(5.1);
    ASSERT_EQ(next, kArrived) << "the client has them, and the server does not know";
    send(kAll);
    world.run_to(24.9);
    ASSERT_EQ(next, kArrived);
    ASSERT_EQ(world.count(ServerEvent::Kind::client_lost), 1u);
    const std::size_t first = world.network().packets().size();
    world.run_to(45.0);
    EXPECT_EQ(world.count(0, ClientEvent::Kind::resumed), 1u);
    EXPECT_EQ(world.count(0, ClientEvent::Kind::joined), 1u);
    EXPECT_EQ(next, kAll);

    // What the server sent since then. The budget allows 256 kB/s.
    std::size_t total = 0;
    constexpr double kWindowS = 0.1;
    std::vector<std::pair<double, std::size_t>> down;
    for (const auto& packet : world.network().packets().subspan(first)) {
      if (packet.down && packet.state && !packet.duplicate) down.emplace_back(packet.sent_s, packet.bytes);
    }
    std::size_t most = 0, within = 0;
    for (std::size_t i = 0, oldest = 0; i < down.size(); ++i) {
      total += down[i].second;
      within += down[i].second;
      for (; down[oldest].first < down[i].first - kWindowS; ++oldest)
        within -= down[oldest].second;
      most = std::max(most, within);
    }
    RecordProperty("most_in_100_ms", std::to_string(most));
    EXPECT_LT(most, static_cast<std::size_t>(1.2 * kWindowS * 256'000));
    EXPECT_GT(most, 5'000u) << "it uses its budget";
    EXPECT_GT(total, (kAll - kArrived) * kBytes);
    EXPECT_LT(total, (kAll - kArrived + 2) * kBytes) << "nothing is sent many times";
  }
}

}  // namespace
}  // namespace reckoner::test
