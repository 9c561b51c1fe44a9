// SPDX-License-Identifier: MIT
// Step 5: the server's game. The steps after this one use it unchanged.
#pragma once

#include "game.hpp"
#include "things.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <glm/geometric.hpp>

#include <reckoner/server/server.hpp>

struct ServerGame {
  struct Player {
    reckoner::EntityId body;
    reckoner::State state;
    std::int64_t pokes = 0;
  };
  reckoner::Server& server;
  std::map<reckoner::ClientId, Player> players;

  void tick() {
    while (const auto event = server.poll_event()) {
      using Kind = reckoner::ServerEvent::Kind;
      if (event->kind == Kind::client_joined) {
        const auto body = server.spawn(kPlayer, "player", {});
        if (!body) continue;
        (void)server.let_predict(*body, event->client);
        players[event->client] = {.body = *body, .state = {}};
      } else if (event->kind == Kind::client_left && players.contains(event->client)) {
        (void)server.despawn(players[event->client].body);
        players.erase(event->client);
      }
    }
    // snip: messages
    while (const auto message = server.poll_message()) {
      if (message->payload[0] == kPoke) poke(message->sender);  // from the network: trust nothing else in it
    }
    // snip: end
    for (auto& [client, player] : players) {
      step(player.state, server.input(client).bytes);
      (void)server.move(player.body, player.state);
    }
  }

  // snip: poke
  void poke(reckoner::ClientId sender) {
    if (!players.contains(sender)) return;
    for (auto& [client, other] : players) {
      const double away_m = glm::distance(other.state.position, players[sender].state.position);
      if (client == sender || away_m > 3.0) continue;
      other.pokes = std::min<std::int64_t>(other.pokes + 1, 9);
      (void)server.set_field(other.body, kPokes, other.pokes);  // everybody sees the number
      (void)server.send(client, std::array{kPoked},
                        reckoner::Delivery::reliable);  // only one player hears of it
    }
  }
  // snip: end
};
