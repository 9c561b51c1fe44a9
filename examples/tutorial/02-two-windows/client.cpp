// SPDX-License-Identifier: MIT
// Step 2: a window whose player moves with the arrow keys and sees the others.
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

  // snip: loop
  reckoner::EntityId mine;  // null until the server gives this player a body
  reckoner::State me;
  double last_s = 0.0;
  Window window("Step 2: arrow keys", argc, argv);
  while (window.next_picture()) {
    const double now_s = window.now_s();
    client->update(now_s);
    while (const auto event = client->poll_event()) {
      using Kind = reckoner::ClientEvent::Kind;
      if (event->kind != Kind::given && event->kind != Kind::corrected) continue;
      mine = event->entity;
      if (const auto state = client->owned(mine)) me = *state;  // go on from here
    }
    if (mine) {
      const glm::vec3 wanted = 8.0f * glm::vec3(window.arrows(), 0.0f);  // m/s
      me.velocity += 0.1f * (wanted - me.velocity);
      me.position += glm::dvec3(me.velocity) * (now_s - last_s);
      (void)client->move(mine, me);
    }
    last_s = now_s;
    for (const reckoner::ShownEntity& entity : client->shown())
      window.disc(entity.shown.position, 0.8, entity.id == mine ? kGreen : kOrange);
  }
  // snip: end
  std::printf("%zu entities were shown at the end\n", client->shown().size());
}
