// SPDX-License-Identifier: MIT
// Step 1: a window that shows everything on the server. The argument is the port, 26000 by default.
#include "window.hpp"

#include <cstdio>
#include <cstdlib>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_transport.hpp>

int main(int argc, char** argv) {
  const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 26000);
  auto transport = reckoner::NetworkTransport::connect(
      {.host = "127.0.0.1", .port = port, .security = reckoner::Insecure{}});
  if (!transport) return std::fprintf(stderr, "%s\n", transport.error().c_str()), 1;
  auto client = reckoner::Client::create({}, **transport);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;

  Window window("Step 1", argc, argv);
  while (window.next_picture()) {
    client->update(window.now_s());
    for (const reckoner::ShownEntity& entity : client->shown())
      window.disc(entity.shown.position, 0.8, kOrange);
  }
}
