// SPDX-License-Identifier: MIT
// Step 3: the window of step 2, and beside each other player a grey trail: where a game would draw the player
// that shows each update as it arrives. Key 1: show the present. Key 2: show a moment in the past.
#include "window.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include <glm/geometric.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_transport.hpp>

int main(int argc, char** argv) {
  const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 26001);
  auto transport = reckoner::NetworkTransport::connect(
      {.host = "127.0.0.1", .port = port, .security = reckoner::Insecure{}});
  if (!transport) return std::fprintf(stderr, "%s\n", transport.error().c_str()), 1;
  auto client = reckoner::Client::create({}, **transport);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;

  reckoner::EntityId mine;
  reckoner::State me;
  double last_s = 0.0, jump_m = 0.0;
  struct Trail {
    glm::dvec3 drawn, arrived;
  };
  std::deque<Trail> trail;
  Window window("Step 3: arrow keys, 1 and 2", argc, argv);
  while (window.next_picture()) {
    const double now_s = window.now_s();
    client->update(now_s);
    while (const auto event = client->poll_event()) {
      using Kind = reckoner::ClientEvent::Kind;
      if (event->kind != Kind::given && event->kind != Kind::corrected) continue;
      mine = event->entity;
      if (const auto state = client->owned(mine)) me = *state;
    }
    if (mine) {
      const glm::vec3 wanted = 8.0f * glm::vec3(window.arrows(), 0.0f);
      me.velocity += 0.1f * (wanted - me.velocity);
      me.position += glm::dvec3(me.velocity) * (now_s - last_s);
      (void)client->move(mine, me);
    }
    last_s = now_s;

    // snip: mode
    reckoner::PlayoutConfig playout = client->playout();
    if (window.tapped('1')) playout.mode = reckoner::PlayoutMode::present;
    if (window.tapped('2')) playout.mode = reckoner::PlayoutMode::adaptive;
    if (playout.mode != client->playout().mode) (void)client->set_playout(playout);
    // snip: end

    // snip: trail
    for (const reckoner::ShownEntity& entity : client->shown()) {
      window.disc(entity.shown.position, 0.8, entity.id == mine ? kGreen : kOrange);
      const auto debug = client->debug(entity.id);
      if (entity.id == mine || !debug) continue;
      trail.push_front({debug->shown.position, debug->motion.position});  // with the blend, and without it
      if (trail.size() > 1) jump_m = std::max(jump_m, glm::distance(trail[0].arrived, trail[1].arrived));
    }
    // snip: end
    if (trail.size() > 180) trail.resize(180);  // three seconds
    for (const Trail& at : trail) {
      window.disc(at.arrived, 0.12, kGrey);
      window.disc(at.drawn, 0.12, kOrange);
    }
    // snip: title
    const reckoner::ClientStats& stats = client->stats();
    window.title("round trip " + std::to_string(static_cast<int>(1000.0 * stats.round_trip_s)) +
                 " ms, shown " + std::to_string(static_cast<int>(1000.0 * stats.delay_s)) + " ms late, " +
                 std::to_string(stats.datagrams_lost) + " datagrams lost");
    // snip: end
  }
  std::printf("%zu entities were shown at the end; without a blend, the largest step was %.2f m\n",
              client->shown().size(), jump_m);
}
