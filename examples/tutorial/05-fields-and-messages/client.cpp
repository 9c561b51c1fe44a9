// SPDX-License-Identifier: MIT
// Step 5: a window in which the space bar pokes everybody who is near.
#include "client_game.hpp"

#include <cstdio>
#include <cstdlib>

#include <reckoner/net/network_transport.hpp>

int main(int argc, char** argv) {
  const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 26001);
  auto transport = reckoner::NetworkTransport::connect(
      {.host = "127.0.0.1", .port = port, .security = reckoner::Insecure{}});
  if (!transport) return std::fprintf(stderr, "%s\n", transport.error().c_str()), 1;
  reckoner::ClientConfig config;
  config.archetypes = archetypes();  // equal to the server's
  auto client = reckoner::Client::create(config, **transport);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;

  ClientGame game{.client = *client};
  Window window("Step 5: arrow keys and space", argc, argv);
  while (window.next_picture()) {
    client->update(window.now_s());
    game.play(window);
    client->flush();  // what was sent need not wait for the next picture
  }
  std::printf("%d pokes heard\n", game.pokes_heard);
}
