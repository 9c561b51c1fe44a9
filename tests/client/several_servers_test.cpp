// SPDX-License-Identifier: MIT
// A client with several servers, or with several addresses of one server.
#include "near_network.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using Kind = ClientEvent::Kind;

// The client tries the servers of a token in turn before it reports a failure to the player.
TEST(SeveralServers, TriesTheNextServerIfOneDoesNotAnswer) {
  World world(near_network());
  world.add_body(Circle{});
  world.add_dialing_client();
  world.dialer(0).dead_addresses = {true, true, false};
  world.run_to(4.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::connecting);
  world.run_to(16.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.dialer(0).dialed_addresses, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(world.count(0, Kind::joined), 1u);
  EXPECT_EQ(world.count(0, Kind::disconnected), 0u);
  EXPECT_EQ(world.count(0, Kind::lost), 0u) << "there was no connection to lose yet";
}

TEST(SeveralServers, ReportsOnceIfNoServerAnswers) {
  World world(near_network());
  world.add_dialing_client();
  world.dialer(0).dead_addresses = {true, true};
  world.run_to(4.0);
  EXPECT_EQ(world.count(0, Kind::disconnected), 0u);
  world.run_to(60.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::disconnected);
  EXPECT_EQ(world.client(0).refusal(), "the server does not answer");
  EXPECT_EQ(world.count(0, Kind::disconnected), 1u);
  EXPECT_EQ(world.dialer(0).dialed_addresses, (std::vector<std::size_t>{0, 1}));
}

// A dialer may know a possible reason, such as a token that looks expired. Each attempt without an answer
// reports it. It does not prevent any attempt.
TEST(SeveralServers, ReportsAPossibleReasonForNoAnswer) {
  const std::string why = "the server does not answer; a clock may be wrong";
  World stranger(near_network());
  stranger.add_dialing_client();
  stranger.dialer(0).dead_addresses = {true};
  stranger.dialer(0).failure_hint_text = "a clock may be wrong";
  stranger.run_to(10.0);
  EXPECT_EQ(stranger.client(0).status(), ClientStatus::disconnected);
  EXPECT_EQ(stranger.client(0).refusal(), why);

  World world(near_network());
  world.add_dialing_client();
  world.dialer(0).failure_hint_text = "a clock may be wrong";
  world.run_to(4.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.client(0).refusal(), "");
  world.kill_server();
  world.run_to(25.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::reconnecting);
  EXPECT_EQ(world.client(0).refusal(), why);
  world.start_server();
  world.run_to(45.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
}

// The route to the server fails. Through another relay in the same token, the client resumes its session.
TEST(SeveralServers, ResumesTheSessionOverAnotherRelay) {
  World world(near_network("6 loss=100\n20 loss=0\n"));
  world.add_body(Circle{});
  world.add_dialing_client();
  world.dialer(0).dead_addresses = {false, false};
  world.run_to(6.0);
  world.dialer(0).dead_addresses = {true, false};
  world.run_to(45.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.count(0, Kind::resumed), 1u);
  const auto& dialed_addresses = world.dialer(0).dialed_addresses;
  ASSERT_GE(dialed_addresses.size(), 3u);
  for (std::size_t i = 1; i < dialed_addresses.size(); ++i)
    EXPECT_EQ(dialed_addresses[i], (i + 1) % 2) << "attempt " << i << ": the same first, then in turn";
}

// A server dies, and so has the next one. The waits between different servers do not grow, so the client is
// at the third one after three waits of at most half a second, and two attempts in vain.
TEST(SeveralServers, IsAtTheThirdServerSoon) {
  World world(near_network());
  world.add_body(Circle{});
  ClientConfig config;
  config.reconnect.silence_s = config.reconnect.attempt_s = 1.0;
  config.reconnect.first_wait_s = 0.5;
  config.reconnect.growth = 8.0;
  world.add_dialing_client(config);
  world.dialer(0).dead_addresses = {false, true, false};
  world.run_to(6.0);
  ASSERT_EQ(world.client(0).status(), ClientStatus::joined);
  world.kill_server();
  world.dialer(0).dead_addresses = {true, true, false};
  world.start_server();
  world.run_to(6.0 + 3.0 * 1.0 + 3.0 * 0.5 + 0.5);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.dialer(0).dialed_addresses, (std::vector<std::size_t>{0, 0, 1, 2}));
}

// A client that leaves between two attempts does not try the next server.
TEST(SeveralServers, ClientThatLeavesTriesNoOtherServer) {
  World world(near_network());
  world.add_dialing_client();
  world.dialer(0).dead_addresses = {true, false};
  world.run_to(3.0);
  world.client(0).leave();
  world.run_to(30.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::disconnected);
  EXPECT_EQ(world.dialer(0).dialed_addresses, std::vector<std::size_t>{0});
}

}  // namespace
}  // namespace reckoner::test
