// SPDX-License-Identifier: MIT
// Step 2: a server that gives each player a body, which the player's own program moves.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/server/server.hpp>

int main(int argc, char** argv) {
  const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 26000);
  auto transport = reckoner::NetworkTransport::listen(
      {.host = "127.0.0.1", .port = port, .security = reckoner::Insecure{}});
  if (!transport) return std::fprintf(stderr, "%s\n", transport.error().c_str()), 1;
  auto server = reckoner::Server::create({}, **transport);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  std::fprintf(stderr, "listening on port %d\n", (*transport)->port());

  const auto start = std::chrono::steady_clock::now();
  while (true) {
    (*transport)->wait(0.002);
    const double now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    server->run_due_ticks(now_s, [](double) {});  // the players move everything
    // snip: joined
    while (const auto event = server->poll_event()) {
      if (event->kind != reckoner::ServerEvent::Kind::client_joined) continue;
      const reckoner::ClientId client = event->client;  // who has joined: keep it, other calls need it
      const auto body = server->spawn(0, "player", {});
      if (!body) continue;  // the server is full
      (void)server->give(*body, client, {.gone = reckoner::OwnerGone::despawn});
    }
    // snip: end
  }
}
