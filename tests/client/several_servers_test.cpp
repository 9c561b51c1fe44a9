// SPDX-License-Identifier: MIT
// A client that may go to several servers, or to one by several ways.
#include "near_network.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using Kind = ClientEvent::Kind;

// The servers that a token names are tried in turn before the player is told that there is none.
TEST(SeveralServers, TheFirstOfSeveralServersNeedNotBeThere) {
  World world(near_network());
  world.add_body(Circle{});
  world.add_dialing_client();
  world.dialer(0).dead = {true, true, false};
  world.run_to(4.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::connecting);
  world.run_to(16.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.dialer(0).went, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(world.count(0, Kind::joined), 1u);
  EXPECT_EQ(world.count(0, Kind::disconnected), 0u);
  EXPECT_EQ(world.count(0, Kind::lost), 0u) << "it had nothing to lose yet";
}

TEST(SeveralServers, WhoFindsNobodyAtAnyServerIsToldOnce) {
  World world(near_network());
  world.add_dialing_client();
  world.dialer(0).dead = {true, true};
  world.run_to(4.0);
  EXPECT_EQ(world.count(0, Kind::disconnected), 0u);
  world.run_to(60.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::disconnected);
  EXPECT_EQ(world.client(0).refusal(), "the server does not answer");
  EXPECT_EQ(world.count(0, Kind::disconnected), 1u);
  EXPECT_EQ(world.dialer(0).went, (std::vector<std::size_t>{0, 1}));
}

// A dialer may know what is wrong, a token that looks expired, say: it is named with every attempt that
// brings no answer, and stands in no attempt's way.
TEST(SeveralServers, WhatMayBeWhyNobodyAnswersIsSaid) {
  const std::string why = "the server does not answer; a clock may be wrong";
  World stranger(near_network());
  stranger.add_dialing_client();
  stranger.dialer(0).dead = {true};
  stranger.dialer(0).doubts = "a clock may be wrong";
  stranger.run_to(10.0);
  EXPECT_EQ(stranger.client(0).status(), ClientStatus::disconnected);
  EXPECT_EQ(stranger.client(0).refusal(), why);

  World world(near_network());
  world.add_dialing_client();
  world.dialer(0).doubts = "a clock may be wrong";
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

// Its way to the server is lost; another relay of the same token leads back into the session.
TEST(SeveralServers, AnotherRelayLeadsBackIntoTheSession) {
  World world(near_network("6 loss=100\n20 loss=0\n"));
  world.add_body(Circle{});
  world.add_dialing_client();
  world.dialer(0).dead = {false, false};
  world.run_to(6.0);
  world.dialer(0).dead = {true, false};
  world.run_to(45.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::joined);
  EXPECT_EQ(world.count(0, Kind::resumed), 1u);
  const auto& went = world.dialer(0).went;
  ASSERT_GE(went.size(), 3u);
  for (std::size_t i = 1; i < went.size(); ++i)
    EXPECT_EQ(went[i], (i + 1) % 2) << "attempt " << i << ": the same first, then in turn";
}

// Who leaves between two attempts does not go on to the next server.
TEST(SeveralServers, WhoLeavesTriesNoOtherServer) {
  World world(near_network());
  world.add_dialing_client();
  world.dialer(0).dead = {true, false};
  world.run_to(3.0);
  world.client(0).leave();
  world.run_to(30.0);
  EXPECT_EQ(world.client(0).status(), ClientStatus::disconnected);
  EXPECT_EQ(world.dialer(0).went, std::vector<std::size_t>{0});
}

}  // namespace
}  // namespace reckoner::test
