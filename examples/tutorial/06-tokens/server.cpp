// SPDX-License-Identifier: MIT
// Step 6: the server of step 5, which admits only players with a token: server KEYFILE [PORT].
#include "server_game.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include <reckoner/net/network_transport.hpp>

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: server KEYFILE [PORT]\n"), 2;
  const auto port = static_cast<std::uint16_t>(argc > 2 ? std::atoi(argv[2]) : 26000);
  // snip: key
  std::string text;
  std::getline(std::ifstream(argv[1]), text);
  const auto key = reckoner::SecretKey::from_text(text);
  if (!key) return std::fprintf(stderr, "%s: no key\n", argv[1]), 1;
  auto transport = reckoner::NetworkTransport::listen(
      {.host = "127.0.0.1", .port = port, .security = reckoner::ServerSecurity{.key = *key, .game = 1}});
  // snip: end
  if (!transport) return std::fprintf(stderr, "%s\n", transport.error().c_str()), 1;
  reckoner::ServerConfig config;
  config.archetypes = archetypes();
  auto server = reckoner::Server::create(config, **transport);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  std::fprintf(stderr, "listening on port %d\n", (*transport)->port());

  ServerGame game{.server = *server, .players = {}};
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    (*transport)->wait(0.002);
    const double now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    server->run_due_ticks(now_s, [&](double) { game.tick(); });
  }
}
