// SPDX-License-Identifier: MIT
// Step 4: a window whose player answers at once, although the server decides.
#include "game.hpp"
#include "window.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_transport.hpp>

int main(int argc, char** argv) {
  const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 26001);
  auto transport = reckoner::NetworkTransport::connect(
      {.host = "127.0.0.1", .port = port, .security = reckoner::Insecure{}});
  if (!transport) return std::fprintf(stderr, "%s\n", transport.error().c_str()), 1;
  auto client = reckoner::Client::create({}, **transport);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;

  // snip: loop
  reckoner::EntityId mine;
  reckoner::State me;
  bool begun = false;  // the server has said where this player is
  const auto predict = [&](const reckoner::PredictionStep& tick) {
    step(me, tick.input);
    (void)client->predict(mine, tick.tick, me);
  };
  Window window("Step 4: arrow keys", argc, argv);
  while (window.next_picture()) {
    client->update(window.now_s());
    while (const auto event = client->poll_event()) {
      if (event->kind == reckoner::ClientEvent::Kind::prediction_began) mine = event->entity;
    }
    if (const auto correction = client->poll_correction()) {  // the server had another result
      for (const reckoner::CorrectedEntity& entity : correction->entities)
        me = entity.state;
      for (const reckoner::PredictionStep& tick : correction->steps)
        predict(tick);
      begun = true;
    }
    const std::array input{keys_of(window.arrows())};
    while (const auto tick = client->next_step(input)) {  // the ticks that are due
      if (begun) predict(*tick);
    }
    for (const reckoner::ShownEntity& entity : client->shown())
      window.disc(entity.shown.position, 0.8, entity.id == mine ? kGreen : kOrange);
  }
  // snip: end
  const reckoner::ClientStats& stats = client->stats();
  std::printf("%zu entities were shown at the end; %d corrections; inputs %.0f ms ahead\n",
              client->shown().size(), static_cast<int>(stats.mispredictions), 1000.0 * stats.input_lead_s);
}
