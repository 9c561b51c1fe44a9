// SPDX-License-Identifier: MIT
// Step 5: the server of step 4, with fields and messages.
#include "server_game.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <reckoner/net/network_transport.hpp>

int main(int argc, char** argv) {
  const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 26000);
  auto transport = reckoner::NetworkTransport::listen(
      {.host = "127.0.0.1", .port = port, .security = reckoner::Insecure{}});
  if (!transport) return std::fprintf(stderr, "%s\n", transport.error().c_str()), 1;
  // snip: create
  reckoner::ServerConfig config;
  config.archetypes = archetypes();
  auto server = reckoner::Server::create(config, **transport);
  // snip: end
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
