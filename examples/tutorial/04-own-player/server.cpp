// SPDX-License-Identifier: MIT
// Step 4: a server that decides where each player is, from the keys of the players.
#include "game.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/server/server.hpp>

// snip: player
struct Player {
  reckoner::EntityId body;
  reckoner::State state;
};
std::map<reckoner::ClientId, Player> players;
// snip: end

int main(int argc, char** argv) {
  const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 26000);
  auto transport = reckoner::NetworkTransport::listen(
      {.host = "127.0.0.1", .port = port, .security = reckoner::Insecure{}});
  if (!transport) return std::fprintf(stderr, "%s\n", transport.error().c_str()), 1;
  auto server = reckoner::Server::create({}, **transport);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  std::fprintf(stderr, "listening on port %d\n", (*transport)->port());

  // snip: tick
  const auto tick = [&](double) {
    while (const auto event = server->poll_event()) {
      using Kind = reckoner::ServerEvent::Kind;
      if (event->kind == Kind::client_joined) {
        const auto body = server->spawn(0, "player", {});
        if (!body) continue;
        (void)server->let_predict(*body, event->client);
        players[event->client] = {.body = *body, .state = {}};
      } else if (event->kind == Kind::client_left && players.contains(event->client)) {
        (void)server->despawn(players[event->client].body);
        players.erase(event->client);
      }
    }
    for (auto& [client, player] : players) {
      step(player.state, server->input(client).bytes);
      (void)server->move(player.body, player.state);
    }
  };
  // snip: end

  const auto start = std::chrono::steady_clock::now();
  while (true) {
    (*transport)->wait(0.002);
    const double now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    server->run_due_ticks(now_s, tick);
  }
}
