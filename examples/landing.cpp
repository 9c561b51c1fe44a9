// SPDX-License-Identifier: MIT
// A ball is thrown over hills. It lands, slides and stops at a wall. A client on this machine shows it 80 ms
// ahead of what has arrived, as over the internet, but never below the ground and never behind the wall.
// docs/INTEGRATION.md quotes the parts between the "snip" lines. Exits with 0 if that is so.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/server/server.hpp>

namespace {

constexpr double kWallM = 12.0;

double ground_height(const glm::dvec3& position) {
  return 0.5 * std::sin(0.5 * position.x);
}

// snip: floor
std::vector<reckoner::Archetype> archetypes() {
  reckoner::Archetype ball;
  ball.name = "ball";
  ball.has_orientation = false;
  ball.floor = std::make_shared<const reckoner::Floor>(reckoner::Floor{.height = ground_height});
  const reckoner::WallBox wall{.centre = {kWallM + 1.0, 0.0, 0.0}, .half_size = {1.0, 50.0, 50.0}};
  ball.walls = std::make_shared<const reckoner::Walls>(reckoner::Walls{.boxes = {wall}});
  return {ball};
}
// snip: end

// The game's own physics on the server.
reckoner::State roll(reckoner::State ball, double step_s) {
  ball.position += glm::dvec3{ball.velocity} * step_s;
  ball.velocity += ball.acceleration * static_cast<float>(step_s);
  const double ground_m = ground_height(ball.position);
  if (ball.position.z <= ground_m) {
    ball.position.z = ground_m;
    ball.velocity.z = static_cast<float>(ball.velocity.x * 0.25 * std::cos(0.5 * ball.position.x));
    ball.acceleration.z = 0.0f;
  }
  if (ball.position.x >= kWallM) {
    ball.position.x = kWallM;
    ball.velocity = {};
  }
  return ball;
}

struct Seen {
  double furthest_m = -1.0;
  double deepest_m = -1.0;  // below the ground
};

void show(reckoner::Client& client, Seen& seen) {
  while (client.poll_event()) {
  }
  for (const reckoner::ShownEntity& entity : client.shown()) {
    const glm::dvec3& drawn = entity.shown.position;
    seen.furthest_m = std::max(seen.furthest_m, drawn.x);
    seen.deepest_m = std::max(seen.deepest_m, ground_height(drawn) - drawn.z);
  }
}

}  // namespace

int main() {
  auto listening =
      reckoner::NetworkTransport::listen({.host = "127.0.0.1", .security = reckoner::Insecure{}});
  if (!listening) return 1;
  auto connecting = reckoner::NetworkTransport::connect(
      {.host = "127.0.0.1", .port = (*listening)->port(), .security = reckoner::Insecure{}});
  if (!connecting) return 1;
  reckoner::ServerConfig server_config;
  server_config.archetypes = archetypes();
  auto server = reckoner::Server::create(server_config, **listening);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  reckoner::ClientConfig client_config;
  client_config.archetypes = archetypes();
  client_config.show_ahead_s = 0.08;  // stands for the internet: all that arrives is 80 ms old
  auto client = reckoner::Client::create(client_config, **connecting);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;

  Seen seen;
  reckoner::EntityId ball;
  reckoner::State state;
  const auto start = std::chrono::steady_clock::now();
  for (double now_s = 0.0; now_s < 6.0;) {
    now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    server->run_due_ticks(now_s, [&](double) {
      if (!ball && client->status() == reckoner::ClientStatus::joined && now_s > 1.0) {
        state.position = {0.0, 0.0, 1.0};
        state.velocity = {6.0f, 0.0f, 4.0f};
        state.acceleration = {0.0f, 0.0f, -9.81f};
        ball = *server->spawn(0, "ball", state);
      } else if (ball) {
        state = roll(state, 1.0 / 60.0);
        (void)server->move(ball, state);
      }
    });
    client->update(now_s);
    show(*client, seen);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::printf("furthest %.3f m, deepest %.3f m\n", seen.furthest_m, seen.deepest_m);
  return seen.furthest_m > kWallM - 0.5 && seen.furthest_m < kWallM + 1e-3 && seen.deepest_m < 1e-3 ? 0 : 1;
}
