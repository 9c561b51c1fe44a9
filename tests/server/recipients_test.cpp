// SPDX-License-Identifier: MIT
// Messages to several clients.
#include "interest_world.hpp"
#include "tests/support/world.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using Clients = std::vector<ClientId>;

// Four clients: three with an eye at 0, 50 and 1000 m on the x axis, and one without an eye.
class BroadcastTo : public testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < 4; ++i)
      ids.push_back(join(world));
    for (std::size_t i = 0; i < 3; ++i)
      ASSERT_TRUE(world.server().set_view(ids[i], {kEyes[i], 0.0, 0.0}));
    world.on_frame = [this](std::size_t client, double, std::span<const ShownEntity>) {
      while (const auto message = world.client(client).poll_message())
        got[client] += static_cast<char>(message->payload[0]);
    };
  }
  // Sends one letter, and returns the result.
  Result<std::size_t, CallError> send(const Recipients& to, Delivery delivery = Delivery::reliable) {
    const std::array letter{static_cast<std::byte>('a' + sent++)};
    return world.server().broadcast(to, letter, delivery);
  }
  void pass() { world.run_to(world.now_s() + 1.0); }

  static constexpr double kEyes[] = {0.0, 50.0, 1000.0};
  World world{near_world()};
  Clients ids;
  std::array<std::string, 4> got;
  int sent = 0;
};

TEST_F(BroadcastTo, AllOrAllButOne) {
  for (const Delivery how : {Delivery::reliable, Delivery::reliable_unordered, Delivery::unreliable}) {
    EXPECT_EQ(*send(Recipients::all(), how), 4u);
    EXPECT_EQ(*send(Recipients::all().except(ids[1]), how), 3u);
    EXPECT_EQ(*send(Recipients::all().except({77}), how), 4u) << "nobody has this id";
    pass();
  }
  EXPECT_EQ(got[0], "abcdefghi");
  EXPECT_EQ(got[1], "acdfgi");
  EXPECT_EQ(got[0], got[2]);
  EXPECT_EQ(got[0], got[3]);
  EXPECT_EQ(world.server().stats().messages_sent, 33u);
}

TEST_F(BroadcastTo, AListOfClients) {
  const Clients team{ids[2], ids[0], ids[2], {77}, {}};
  EXPECT_EQ(*send(Recipients::listed(team)), 2u) << "each once, and no unknown ones";
  EXPECT_EQ(*send(Recipients::listed(team).except(ids[0])), 1u);
  EXPECT_EQ(*send(Recipients::listed({})), 0u);
  pass();
  EXPECT_EQ(got, (std::array<std::string, 4>{"a", "", "ab", ""}));
}

TEST_F(BroadcastTo, ClientsNearAPoint) {
  EXPECT_EQ(*send(Recipients::within({0.0, 0.0, 0.0}, 50.0)), 2u) << "at most this far";
  EXPECT_EQ(*send(Recipients::within({0.0, 0.0, 0.0}, 49.0)), 1u);
  EXPECT_EQ(*send(Recipients::within({0.0, 0.0, 0.0}, 50.0).except(ids[0])), 1u);
  EXPECT_EQ(*send(Recipients::within({0.0, 0.0, 0.0}, 1e9)), 3u) << "one has no eye";
  // The game's coordinates have another origin from now on; the eyes stay where they are.
  ASSERT_TRUE(world.server().set_origin({1000.0, 0.0, 0.0}));
  EXPECT_EQ(*send(Recipients::within({0.0, 0.0, 0.0}, 1.0)), 1u);
  pass();
  EXPECT_EQ(got, (std::array<std::string, 4>{"abd", "acd", "de", ""}));
}

TEST_F(BroadcastTo, ClientsThatSeeAnEntity) {
  const EntityId body = *world.server().spawn(0, "body", State{});
  EXPECT_EQ(*send(Recipients::seeing(body)), 0u) << "its spawn was not sent yet";
  pass();
  ASSERT_TRUE(sees(world, 0, body) && sees(world, 1, body));
  EXPECT_EQ(*send(Recipients::seeing(body)), 2u) << "those within the radius of interest";
  EXPECT_EQ(*send(Recipients::seeing(body).except(ids[0])), 1u);
  ASSERT_TRUE(world.server().give(body, ids[1]));
  ASSERT_TRUE(world.server().set_relevance(ids[0], body, Relevance::never));
  ASSERT_TRUE(world.server().set_relevance(ids[3], body, Relevance::always));
  pass();
  EXPECT_EQ(*send(Recipients::seeing(body)), 2u) << "the owner and the one that sees it now";
  pass();
  EXPECT_EQ(got, (std::array<std::string, 4>{"b", "bcd", "", "d"}));
  ASSERT_TRUE(world.server().despawn(body));
  EXPECT_EQ(send(Recipients::seeing(body)).error(), CallError::unknown_entity);
}

TEST_F(BroadcastTo, WhatIsNotValidIsNotSent) {
  Server& server = world.server();
  const Bytes bytes(kMaxReliableBytes + 1);
  const auto one = std::span(bytes).first(1);
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(server.broadcast(Recipients::all(), {}, Delivery::reliable).error(), CallError::message_empty);
  EXPECT_EQ(server.broadcast(Recipients::all(), bytes, Delivery::reliable_unordered).error(),
            CallError::message_too_long);
  EXPECT_EQ(server.broadcast(Recipients::all(), one, Delivery::reliable, nan).error(),
            CallError::invalid_time);
  EXPECT_EQ(send(Recipients::within({nan, 0.0, 0.0}, 1.0)).error(), CallError::not_finite);
  EXPECT_EQ(send(Recipients::within({}, infinite)).error(), CallError::not_finite);
  EXPECT_EQ(send(Recipients::within({}, -1.0)).error(), CallError::out_of_range);
  EXPECT_EQ(send(Recipients::seeing({})).error(), CallError::unknown_entity);
  EXPECT_EQ(server.stats().messages_sent + server.stats().messages_dropped, 0u);
}

TEST_F(BroadcastTo, CountsOnlyClientsForWhichThereIsRoom) {
  Server& server = world.server();
  const Bytes large(kMaxReliableBytes);
  while (server.send(ids[0], large, Delivery::reliable_unordered)) {
  }
  EXPECT_EQ(server.send(ids[0], large, Delivery::reliable_unordered).error(), CallError::queue_full);
  EXPECT_EQ(*server.broadcast(Recipients::all(), large, Delivery::reliable_unordered), 3u);
}

}  // namespace
}  // namespace reckoner::test
