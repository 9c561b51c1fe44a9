// SPDX-License-Identifier: MIT
// The log entries of a server and its clients (ServerConfig::log, ClientConfig::log).
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

/// Keeps the log entries, one line each.
class LogCapture {
 public:
  LogSink sink() {
    return [this](const LogRecord& record) {
      if (record.level != LogLevel::debug)
        lines_.push_back(std::string(name_of(record.level)) + ": " + text_of(record));
    };
  }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] bool heard(const std::string& part) const { return place(part) < lines_.size(); }
  [[nodiscard]] std::size_t place(const std::string& part) const {
    const auto found = std::ranges::find_if(
        lines_, [&](const std::string& line) { return line.find(part) != std::string::npos; });
    return static_cast<std::size_t>(found - lines_.begin());
  }

 private:
  std::vector<std::string> lines_;
};

TEST(ServerLog, NamesClientsThatJoinAndLeave) {
  LogCapture server, client;
  WorldConfig config{.links = network("lan")};
  config.server.log = server.sink();
  World world(config);
  ClientConfig listening;
  listening.log = client.sink();
  const std::size_t guest = world.add_client(listening);
  world.run_to(1.0);
  world.client(guest).leave();
  world.run_to(2.0);
  EXPECT_EQ(server.lines(), (std::vector<std::string>{"info: client joined client=1 peer=1",
                                                      "info: client left client=1 peer=1"}));
  EXPECT_EQ(client.lines(), (std::vector<std::string>{"info: joined client=1", "info: left reason=left"}));
}

TEST(ServerLog, RefusedJoinIsLoggedWithTheReasonAtBothEnds) {
  LogCapture server, client;
  WorldConfig config;
  config.server.log = server.sink();
  World world(config);
  ClientConfig other;
  other.archetypes[0].name = "something else";
  other.log = client.sink();
  world.add_client(other);
  Transport& old = world.network().add_client(kProtocolVersion);
  world.run_to(0.5);
  while (old.poll()) {
  }
  JoinRequest request;
  request.version = kProtocolVersion + 1;
  old.send({1}, request_datagram(request));
  world.run_to(1.0);
  EXPECT_TRUE(server.heard("warning: client refused reason=\"the server declares other archetypes"));
  EXPECT_TRUE(server.heard("the client speaks version " + std::to_string(kProtocolVersion + 1) +
                           ", this server version " + std::to_string(kProtocolVersion)));
  EXPECT_TRUE(client.heard("warning: refused reason=\"the server declares other archetypes"));
}

TEST(ServerLog, SlowClientIsLoggedOnceAndAgainWhenItHasCaughtUp) {
  LogCapture server;
  WorldConfig config;
  config.server.log = server.sink();
  config.links = both_ways({.latency_ms = 40, .rate_kbps = 48, .queue_ms = 1000});
  World world(config);
  std::vector<EntityId> crowd;
  for (int i = 0; i < 400; ++i)
    crowd.push_back(world.add_body(Circle{.turn_rps = 1.0 + 0.01 * i, .centre = {20.0 * i, 0.0, 0.0}}));
  world.add_client();
  world.run_to(30.0);
  ASSERT_TRUE(server.heard("warning: client has fallen behind client=1 behind_s="));
  EXPECT_FALSE(server.heard("caught up"));
  for (const EntityId id : crowd)
    world.remove_body(id);
  world.run_to(60.0);
  EXPECT_TRUE(server.heard("info: client has caught up client=1"));
  EXPECT_LE(server.lines().size(), 8u);
}

TEST(ServerLog, RefusalsOfAClientAreSummed) {
  LogCapture server;
  WorldConfig config{.links = network("lan")};
  config.server.log = server.sink();
  World world(config);
  world.add_client();
  world.run_to(1.0);
  const std::array<std::byte, 3> nonsense{std::byte{0xff}, std::byte{0xff}, std::byte{0xff}};
  for (int i = 0; i < 300; ++i) {
    world.client_transport(0).send({1}, nonsense);
    world.run_to(world.now_s() + 0.01);
  }
  world.run_to(6.0);
  std::size_t lines = 0;
  for (const std::string& line : server.lines())
    lines += line.find("client payloads refused reason=") != std::string::npos ? 1 : 0;
  EXPECT_GE(lines, 1u);
  EXPECT_LE(lines, 5u);
}

TEST(ClientLog, ClockStepIsLogged) {
  LogCapture client;
  World world({.links = network("lan")});
  world.add_body(Circle{});
  ClientConfig listening;
  listening.log = client.sink();
  world.add_client(listening);
  world.run_to(2.0);
  world.set_local_clock(0, {.offset_s = 1003.0});
  world.run_to(14.0);  // until the old clock bounds are forgotten
  EXPECT_TRUE(client.heard("warning: the clock was set by_s=3.00"));
  EXPECT_FALSE(client.heard("warning: clock stepped"));  // what is shown went on
}

}  // namespace
}  // namespace reckoner::test
