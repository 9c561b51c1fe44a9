// SPDX-License-Identifier: MIT
// ShownEntity::info stays valid while the game polls its events and messages, also when entities end.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

class ShownInfoByMode : public testing::TestWithParam<PlayoutMode> {};

TEST_P(ShownInfoByMode, StaysValidWhileTheGamePolls) {
  World world({.links = network("intercity")});
  ClientConfig config;
  config.playout.mode = GetParam();
  const EntityId stays = world.add_body(Swing{}, {}, "stays");
  const EntityId ends = world.add_body(Swing{}, {}, "ends");
  world.add_client(config);
  std::size_t pictures = 0, despawns = 0;
  bool removed = false;
  for (double time_s = 1.0; time_s < 4.0; time_s += 0.05) {
    world.run_to(time_s);
    Client& client = world.updated(0);
    const auto span = client.shown();
    const std::vector<ShownEntity> shown(span.begin(), span.end());
    while (const auto event = client.poll_event())
      despawns += event->kind == ClientEvent::Kind::despawned ? 1 : 0;
    while (client.poll_message()) {
    }
    for (const ShownEntity& entity : shown) {
      EXPECT_EQ(entity.info, client.info(entity.id));
      EXPECT_EQ(entity.info->name, entity.id == stays ? "stays" : "ends");
      ++pictures;
    }
    if (pictures > 40 && !removed) world.remove_body(ends), removed = true;
  }
  EXPECT_GT(pictures, 50u);
  EXPECT_EQ(despawns + world.count(0, ClientEvent::Kind::despawned), 1u);
}

INSTANTIATE_TEST_SUITE_P(Modes, ShownInfoByMode,
                         testing::Values(PlayoutMode::present, PlayoutMode::adaptive, PlayoutMode::delayed));

}  // namespace
}  // namespace reckoner::test
