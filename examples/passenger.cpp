// SPDX-License-Identifier: MIT
// A passenger walks on a ship that turns. The passenger lives in the ship's frame, so the server sends only
// the motion relative to the ship. Then the passenger goes ashore. Exits with 0 if the client always showed
// the passenger within 0.25 m of the true position, on deck and ashore.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

#include <glm/geometric.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace {

constexpr double kAshoreS = 3.0;  // when the passenger leaves the ship, s

reckoner::State sailing(double time_s) {  // the ship sails on a circle of radius 200 m, at 8 m/s
  const double angle = 0.04 * time_s;
  reckoner::State ship;
  ship.position = {200.0 * std::cos(angle), 200.0 * std::sin(angle), 0.0};
  ship.velocity = {-8.0 * std::sin(angle), 8.0 * std::cos(angle), 0.0};
  ship.orientation = glm::angleAxis(static_cast<float>(angle), glm::vec3{0.0f, 0.0f, 1.0f});
  ship.angular_velocity = {0.0f, 0.0f, 0.04f};
  return ship;
}

reckoner::State walking(double time_s) {  // walks back and forth on deck, 5 m in each direction
  reckoner::State man;
  man.position = {0.0, 5.0 * std::sin(0.3 * time_s), 4.0};
  man.velocity = {0.0, 1.5 * std::cos(0.3 * time_s), 0.0};
  return man;
}

struct Crew {
  reckoner::EntityId ship, man;
  bool ashore = false;
};

// snip: server
void play(reckoner::Server& server, Crew& crew, double time_s) {
  (void)server.move(crew.ship, sailing(time_s));
  if (time_s < kAshoreS) {
    (void)server.move(crew.man, walking(time_s));  // in the ship's frame
  } else if (!crew.ashore) {
    // enter_frame() does not move the passenger. From now on, move() takes the state in the world.
    crew.ashore = static_cast<bool>(server.enter_frame(crew.man, {}));
    reckoner::State standing = *server.state(crew.man);
    standing.velocity = {};
    standing.acceleration = {};
    standing.angular_velocity = {};
    (void)server.move(crew.man, standing);
  }
}
// snip: end

}  // namespace

int main() {
  auto listening =
      reckoner::NetworkTransport::listen({.host = "127.0.0.1", .security = reckoner::Insecure{}});
  if (!listening) return 1;
  auto connecting = reckoner::NetworkTransport::connect(
      {.host = "127.0.0.1", .port = (*listening)->port(), .security = reckoner::Insecure{}});
  if (!connecting) return 1;
  auto server = reckoner::Server::create({}, **listening);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  Crew crew;
  crew.ship = *server->spawn(0, "ship", sailing(0.0));
  crew.man = *server->spawn(0, "man", walking(0.0), crew.ship);
  auto client = reckoner::Client::create({}, **connecting);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;

  double worst_on_deck_m = 0.0, worst_ashore_m = 0.0, step_m = 0.0;
  int on_deck = 0, ashore = 0;
  glm::dvec3 before{0.0};
  const auto start = std::chrono::steady_clock::now();
  for (double now_s = 0.0; now_s < 5.0;) {
    now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    server->run_due_ticks(now_s, [&](double time_s) { play(*server, crew, time_s); });
    client->update(now_s);
    while (client->poll_event()) {
    }
    // snip: client
    for (const reckoner::ShownEntity& shown : client->shown()) {
      if (shown.id != crew.man) continue;
      if (shown.frame == crew.ship && now_s > 1.0) {  // `local`: pose on deck; `shown`: pose in the world
        worst_on_deck_m =
            std::max(worst_on_deck_m, glm::distance(shown.local.position, walking(now_s).position));
        ++on_deck;
      }
      // snip: end
      if (!shown.frame && now_s > kAshoreS + 1.0) {
        worst_ashore_m = std::max(worst_ashore_m,
                                  glm::distance(shown.shown.position, server->in_world(crew.man)->position));
        ++ashore;
      }
      if (on_deck + ashore > 1) step_m = std::max(step_m, glm::distance(before, shown.shown.position));
      before = shown.shown.position;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
  }
  std::printf("on deck at most %.3f m off, ashore %.3f m; largest step between pictures %.3f m\n",
              worst_on_deck_m, worst_ashore_m, step_m);
  return on_deck > 50 && ashore > 50 && worst_on_deck_m < 0.25 && worst_ashore_m < 0.25 ? 0 : 1;
}
