// SPDX-License-Identifier: MIT
// The server's game ends the session of a client.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

WorldConfig over(const char* link) {
  WorldConfig config;
  config.links = network(link);
  return config;
}

// Without a kick, a client with a dialer is back half a second after a disconnect.
TEST(Kick, ClientLearnsTheReasonAndStaysAway) {
  for (const char* link : {"lan", "mobile"}) {
    SCOPED_TRACE(link);
    World world(over(link));
    world.add_dialing_client();
    world.add_client();
    world.add_body(Circle{});
    world.run_to(5.0);
    ASSERT_EQ(world.server().client_count(), 2u);
    EXPECT_FALSE(world.server().kick({99}, "nobody"));
    EXPECT_FALSE(world.server().kick({1}, std::string(kMaxKickReasonBytes + 1, 'x')));
    ASSERT_EQ(world.server().client_count(), 2u);

    EXPECT_TRUE(world.server().kick({1}, "cheating: \xf0\x9f\x9a\xab"));
    EXPECT_FALSE(world.server().kick({1}, "again"));
    EXPECT_TRUE(world.server().kick({2}, {}));
    EXPECT_EQ(world.server().client_count(), 0u);
    world.run_to(40.0);
    EXPECT_EQ(world.server().client_count(), 0u);
    for (const std::size_t client : {0u, 1u}) {
      EXPECT_EQ(world.client(client).status(), ClientStatus::refused);
      EXPECT_EQ(world.count(client, ClientEvent::Kind::disconnected), 1u);
      EXPECT_EQ(world.count(client, ClientEvent::Kind::lost), 0u);
    }
    EXPECT_EQ(world.client(0).refusal(), "kicked by the server: cheating: \xf0\x9f\x9a\xab");
    EXPECT_EQ(world.client(1).refusal(), "kicked by the server");
    const auto left =
        std::ranges::find(world.server_events(), ServerEvent::Kind::client_left, &ServerEvent::kind);
    ASSERT_NE(left, world.server_events().end());
    EXPECT_EQ(left->text, "kicked: cheating: \xf0\x9f\x9a\xab");
  }
}

// A client whose connection is lost has only its session, which ends.
TEST(Kick, EndsTheSessionOfALostClient) {
  WorldConfig config = over("lan");
  config.silence_timeout_s = 3.0;
  World world(config);
  world.add_dialing_client();
  world.run_to(5.0);
  world.kill_client(0);
  world.run_to(20.0);
  ASSERT_EQ(world.count(ServerEvent::Kind::client_lost), 1u);
  EXPECT_TRUE(world.server().kick({1}, "away for too long"));
  EXPECT_EQ(world.count(ServerEvent::Kind::client_left), 0u) << "reported with the next tick";
  world.run_to(21.0);
  EXPECT_EQ(world.count(ServerEvent::Kind::client_left), 1u);
}

}  // namespace
}  // namespace reckoner::test
