// SPDX-License-Identifier: MIT
#include "tests/web/channel_world.hpp"

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using Kind = web::ChannelEvent::Kind;

TEST(ChannelHub, BrowserJoinsAndMessagesTravelBothWays) {
  ChannelWorld world;
  auto& browser = world.add(1);
  ASSERT_TRUE(world.run_until([&] { return browser.client->is_open(); }));
  EXPECT_LT(world.now_s, 100.5);
  EXPECT_EQ(world.count(Kind::opened), 1u);
  EXPECT_TRUE(world.hub->is_open(1));
  EXPECT_EQ(world.hub->half_open(), 0u);

  EXPECT_TRUE(browser.client->send(bytes_of("to the server")));
  EXPECT_TRUE(world.hub->send(1, bytes_of("to the browser")));
  world.run(0.1);
  const auto up = world.take_messages(1);
  ASSERT_EQ(up.size(), 1u);
  EXPECT_EQ(up[0], bytes_of("to the server"));
  const auto down = browser.client->take_messages();
  ASSERT_EQ(down.size(), 1u);
  EXPECT_EQ(down[0].protocol, web::kBinaryProtocol);
  EXPECT_EQ(down[0].payload, bytes_of("to the browser"));
  EXPECT_EQ(world.hub->stats().refused, 0u);
}

}  // namespace
}  // namespace reckoner::test
