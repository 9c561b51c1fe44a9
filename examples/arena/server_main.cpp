// SPDX-License-Identifier: MIT
// The arena's server: example_arena_server [PORT]. It listens on this machine only and admits everybody.
// A server for other machines listens without `host` and asks for tokens: docs/SECURITY.md.
#include "server_game.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <reckoner/net/network_transport.hpp>

static volatile std::sig_atomic_t stop = 0;

int main(int argc, char** argv) {
  const int port = argc > 1 ? std::atoi(argv[1]) : 26000;
  if (port < 0 || port > 65535) return std::fprintf(stderr, "the port must be 0 to 65535\n"), 2;
  auto transport = reckoner::NetworkTransport::listen(
      {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port), .security = reckoner::Insecure{}});
  if (!transport) return std::fprintf(stderr, "%s\n", transport.error().c_str()), 1;
  auto server = reckoner::Server::create(arena::ServerGame::config(), **transport);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  arena::ServerGame game(*server);
  std::printf("listening on port %d\n", (*transport)->port());
  std::fflush(stdout);

  for (const int signal : {SIGINT, SIGTERM})
    std::signal(signal, [](int) { stop = 1; });
  const auto start = std::chrono::steady_clock::now();
  const auto now_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  while (stop == 0) {
    (*transport)->wait(0.002);  // until data arrives, at most 2 ms
    const double time_s = now_s();
    game.receive(time_s);
    while (server->tick_time_s(server->next_tick()) <= time_s)
      game.tick(time_s);
  }
  // Clients get the last messages and learn that the server stops. One that has crashed does not answer.
  const double stopped_s = now_s();
  server->shutdown();
  for (server->receive(now_s()); server->closing_count() > 0 && now_s() - stopped_s < 5.0;
       server->receive(now_s()))
    (*transport)->wait(0.01);
}
