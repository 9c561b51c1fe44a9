// SPDX-License-Identifier: MIT
// The game on the server when the world is full: players wait for their avatars, and get them when there is
// room.
#include "examples/arena/server_game.hpp"

#include "examples/arena/player.hpp"
#include "harness/sim/sim_network.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace arena {
namespace {

constexpr double kTickS = 1.0 / 60.0;

// A server whose world has room for `max_entities`, and one player.
struct Match {
  explicit Match(std::uint32_t max_entities)
      : network({.links = {{}, {}}, .seed = 1, .arrival_times = true}),
        server(std::move(*reckoner::Server::create(config(max_entities), network.server()))),
        game(server),
        transport(network.add_client(reckoner::kProtocolVersion)),
        client(std::move(*reckoner::Client::create(Player::config(), transport))),
        player(client, "visitor") {}

  static reckoner::ServerConfig config(std::uint32_t max_entities) {
    reckoner::ServerConfig config = ServerGame::config();
    config.max_entities = max_entities;
    return config;
  }

  void run(double seconds) {
    for (const double end_s = now_s + seconds; now_s < end_s; now_s += kTickS) {
      network.advance(now_s);
      game.receive(now_s);
      game.tick(now_s);
      player.frame(now_s, {});
    }
  }

  reckoner::harness::SimNetwork network;
  reckoner::Server server;
  ServerGame game;
  reckoner::Transport& transport;
  reckoner::Client client;
  Player player;
  double now_s = 0.0;
};

// The number of entities that the game creates at the start.
std::size_t entities_of_the_game() {
  return Match(1000).server.entity_count();
}

TEST(ArenaServerGame, PlayerGetsAnAvatarInAWorldWithRoom) {
  Match match(static_cast<std::uint32_t>(entities_of_the_game()) + 1);
  match.run(2.0);
  EXPECT_TRUE(match.player.has_joined());
  EXPECT_TRUE(match.player.avatar());
}

TEST(ArenaServerGame, PlayerWaitsWhileTheWorldIsFull) {
  const std::size_t count = entities_of_the_game();
  Match match(static_cast<std::uint32_t>(count));
  match.run(2.0);
  ASSERT_TRUE(match.player.has_joined());
  EXPECT_FALSE(match.player.avatar());
  EXPECT_EQ(match.server.entity_count(), count);

  const auto shown = match.player.shown();
  const auto door = std::ranges::find_if(
      shown, [&](const reckoner::ShownEntity& entity) { return match.player.kind(entity.id) == kDoor; });
  ASSERT_NE(door, shown.end());
  ASSERT_TRUE(match.server.despawn(door->id));
  match.run(2.0);
  EXPECT_TRUE(match.player.avatar()) << "there is room now";
}

TEST(ArenaServerGame, StartsInAWorldWithoutRoomForIt) {
  for (const std::uint32_t room : {1u, 3u, 20u}) {
    Match match(room);
    match.run(1.0);
    EXPECT_EQ(match.server.entity_count(), room);
    EXPECT_TRUE(match.player.has_joined());
    EXPECT_FALSE(match.player.avatar());
  }
}

}  // namespace
}  // namespace arena
