// SPDX-License-Identifier: MIT
// Step 8: the window of step 6, which writes a line whenever the place of another player was corrected by
// more than 0.3 m, with what is known about the cause: client TOKENFILE.
#include "client_game.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <span>
#include <utility>

#include <reckoner/net/network_dialer.hpp>

// snip: reasons
// Looks at every other player after each picture.
struct Reasons {
  struct Seen {
    double motion_time_s = 0.0, usual_age_s = 0.0, said_s = -1.0;
  };
  std::map<std::size_t, Seen> seen;  // by EntityId::slot()
  std::uint64_t lost = 0;
  double last_s = 0.0;
  int lines = 0;

  void look(const reckoner::Client& client, const ClientGame& game, double now_s,
            std::span<const reckoner::ShownEntity> shown) {
    const double gap_s = now_s - std::exchange(last_s, now_s);
    const std::uint64_t lost_now = client.stats().datagrams_lost - lost;
    for (const reckoner::ShownEntity& entity : shown) {
      const auto debug = client.debug(entity.id);
      if (entity.id == game.mine || !debug) continue;
      Seen& before = seen[entity.id.slot()];
      if (debug->motion_time_s == before.motion_time_s) continue;  // no update in this picture
      before.motion_time_s = debug->motion_time_s;
      const bool late = debug->age_s > before.usual_age_s + 0.04;
      before.usual_age_s += 0.05 * (debug->age_s - before.usual_age_s);
      if (debug->blend_m < 0.3 || now_s < before.said_s + 0.3) continue;  // nobody sees that, or one turn
      before.said_s = now_s;
      ++lines;
      std::printf("%.2f s: corrected by %.2f m, with an update of %.0f ms ago: %s\n", now_s, debug->blend_m,
                  1000.0 * debug->age_s,
                  gap_s > 0.1    ? "this window did not draw for a moment"
                  : lost_now > 0 ? "a datagram was lost"
                  : late         ? "the update came late"
                                 : "the player turned");
      lost = client.stats().datagrams_lost;
    }
  }
};
// snip: end

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: client TOKENFILE\n"), 2;
  std::array<char, reckoner::ConnectToken::kBytes> bytes{};
  std::ifstream(argv[1], std::ios::binary).read(bytes.data(), bytes.size());
  const auto token = reckoner::read_token(std::as_bytes(std::span(bytes)));
  if (!token) return std::fprintf(stderr, "%s: no token\n", argv[1]), 1;
  reckoner::NetworkDialer dialer({.security = reckoner::ClientSecurity{.token = *token, .game = 1}});
  reckoner::ClientConfig config;
  config.archetypes = archetypes();
  auto client = reckoner::Client::create(config, dialer);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;

  ClientGame game{.client = *client};
  Reasons reasons;
  Window window("Step 8: why did it jump", argc, argv);
  while (window.next_picture()) {
    client->update(window.now_s());
    game.play(window);
    client->flush();
    reasons.look(*client, game, window.now_s(), client->shown());
  }
  client->leave();
  for (const double until_s = window.now_s() + 2.0;
       client->status() != reckoner::ClientStatus::disconnected && window.now_s() < until_s;
       client->update(window.now_s()))
    dialer.wait(0.01);
  std::printf("%d corrections were large enough to see\n", reasons.lines);
}
