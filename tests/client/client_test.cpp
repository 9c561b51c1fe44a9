// SPDX-License-Identifier: MIT
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

TEST(Client, ShowsNothingAndKnowsNoTimeBeforeItHasJoined) {
  World world({.links = network("intercity")});
  const std::size_t client = world.add_client();
  EXPECT_TRUE(world.client(client).shown().empty());
  EXPECT_FALSE(world.client(client).server_time_s());
  EXPECT_EQ(world.client(client).info({1, 1}), nullptr);
  EXPECT_FALSE(world.client(client).correct({1, 1}, State{}));
}

TEST(Client, CorrectedPoseIsShownAndBlendedFrom) {
  World world({.links = network("broadband")});
  const std::size_t client = world.add_client();
  const EntityId id = world.add_body(Circle{});
  world.run_to(2.0);
  State pushed = world.shown(client, id)->shown;
  pushed.position.z += 0.4;
  ASSERT_TRUE(world.updated(client).correct(id, pushed));
  const auto shown = world.client(client).shown();
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_LT(glm::distance(shown[0].shown.position, pushed.position), 1e-9);
  EXPECT_LT(glm::distance(shown[0].shown.velocity, pushed.velocity), 1e-4f);
  world.run_to(2.2);
  EXPECT_LT(std::abs(world.shown(client, id)->shown.position.z), 0.05);
  State broken;
  broken.position.x = std::nan("");
  EXPECT_FALSE(world.client(client).correct(id, broken));
  EXPECT_FALSE(world.client(client).correct({9, 9}, pushed));
}

TEST(Client, BufferedEntitiesAppearAndDisappearAtTheirShownTime) {
  World world({.links = network("lan")});
  ClientConfig config;
  config.playout = {.mode = PlayoutMode::delayed, .delay_s = 1.0};
  const std::size_t client = world.add_client(config);
  world.run_to(2.0);
  const EntityId id = world.add_body(Circle{});
  world.run_to(2.9);
  EXPECT_EQ(world.shown(client, id), nullptr);
  world.run_to(3.1);
  EXPECT_NE(world.shown(client, id), nullptr);
  world.remove_body(id);
  world.run_to(4.0);
  EXPECT_NE(world.shown(client, id), nullptr);
  world.run_to(4.2);
  EXPECT_EQ(world.shown(client, id), nullptr);
  EXPECT_EQ(world.client(client).info(id), nullptr);
}

TEST(Client, DatagramsFromFarAheadAreRefusedAndHarmless) {
  // Moves the tick in the header five minutes ahead, as a faulty machine on the route could.
  World world({.links = network("lan")});
  const std::size_t client = world.add_client();
  const EntityId id = world.add_body(Circle{});
  Bytes kept;
  world.tap(client).filter = [&](const TransportEvent& event) {
    if (event.kind == TransportEvent::Kind::received) {
      kept.assign(event.payload.begin(), event.payload.end());
    }
    return true;
  };
  world.run_to(2.0);
  ASSERT_GT(kept.size(), 4u);
  const std::uint64_t malformed = world.client(client).stats().malformed;
  // Bytes 2 and 3: the tick (docs/WIRE.md).
  const auto tick = static_cast<std::uint16_t>(std::to_integer<unsigned>(kept[2]) |
                                               (std::to_integer<unsigned>(kept[3]) << 8u));
  const auto moved = static_cast<std::uint16_t>(tick + 18'000);
  kept[2] = static_cast<std::byte>(moved & 0xffu);
  kept[3] = static_cast<std::byte>(moved >> 8u);
  world.tap(client).inject_payload({1}, kept);
  world.run_to(4.0);
  EXPECT_EQ(world.client(client).stats().malformed, malformed + 1);
  const ShownEntity* shown = world.shown(client, id);
  ASSERT_NE(shown, nullptr);
  EXPECT_NEAR(shown->shown_time_s, 4.0, 0.02);
}

}  // namespace
}  // namespace reckoner::test
