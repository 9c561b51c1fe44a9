// SPDX-License-Identifier: MIT
// Step 6: a window that joins with a token, and again by itself after a lost connection: client TOKENFILE.
#include "client_game.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>

#include <reckoner/net/network_dialer.hpp>

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: client TOKENFILE\n"), 2;
  // snip: token
  std::array<char, reckoner::ConnectToken::kBytes> bytes{};
  std::ifstream(argv[1], std::ios::binary).read(bytes.data(), bytes.size());
  const auto token = reckoner::read_token(std::as_bytes(std::span(bytes)));
  if (!token) return std::fprintf(stderr, "%s: no token\n", argv[1]), 1;
  reckoner::NetworkDialer dialer({.security = reckoner::ClientSecurity{.token = *token, .game = 1}});
  // snip: end
  reckoner::ClientConfig config;
  config.archetypes = archetypes();
  auto client = reckoner::Client::create(config, dialer);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;

  ClientGame game{.client = *client};
  Window window("Step 6: with a token", argc, argv);
  // snip: loop
  while (window.next_picture()) {
    const reckoner::ClientStatus status = client->update(window.now_s());
    if (status == reckoner::ClientStatus::refused || status == reckoner::ClientStatus::disconnected) {
      std::printf("not on the server: %s\n", client->refusal().c_str());
      break;
    }
    if (status == reckoner::ClientStatus::reconnecting) window.title("the connection is lost, trying again");
    game.play(window);
    client->flush();
  }
  // snip: end
  // snip: leave
  client->leave();
  for (const double until_s = window.now_s() + 2.0;
       client->status() != reckoner::ClientStatus::disconnected && window.now_s() < until_s;
       client->update(window.now_s()))
    dialer.wait(0.01);
  // snip: end
  std::printf("%d pokes heard\n", game.pokes_heard);
}
