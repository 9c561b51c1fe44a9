// SPDX-License-Identifier: MIT
// A server fires a shot every tenth of a second, and a client on this machine shows the shots.
// docs/INTEGRATION.md quotes the parts between the "snip" lines. Exits with 0 if the client saw 10 shots
// fly to the wall and none beyond it.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <set>
#include <thread>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/server/server.hpp>

namespace {

constexpr double kSpeedMps = 40.0;
constexpr double kWallM = 20.0;

std::vector<reckoner::Archetype> archetypes() {
  reckoner::Archetype shot;
  shot.name = "shot";
  shot.max_speed_mps = 2.0 * kSpeedMps;
  return {shot};
}

constexpr std::byte kRed{1};

// snip: fire
void fire(reckoner::Server& server, const glm::dvec3& muzzle) {
  reckoner::State state;
  state.position = muzzle;
  state.velocity = {static_cast<float>(kSpeedMps), 0.0f, 0.0f};
  const std::array data{kRed};                              // up to 256 bytes: colour, weapon, who fired
  const double flight_s = (kWallM - muzzle.x) / kSpeedMps;  // the game's own ray cast finds the wall
  const double now_s = server.tick_time_s(server.next_tick());
  const auto shot = server.spawn_short_lived(0, state, {.end_s = now_s + flight_s, .data = data});
  if (!shot) std::fprintf(stderr, "no shot: %s\n", describe(shot.error()).data());
}
// snip: end

struct Seen {
  std::set<reckoner::EntityId> shots;
  double furthest_m = 0.0;
};

void show(reckoner::Client& client, Seen& seen) {
  // snip: show
  while (const auto event = client.poll_event()) {
    if (event->kind != reckoner::ClientEvent::Kind::spawned) continue;
    const reckoner::EntityInfo& info = *client.info(event->entity);
    if (info.short_lived && info.data.size() == 1 && info.data[0] == kRed) seen.shots.insert(event->entity);
  }
  for (const reckoner::ShownEntity& entity : client.shown())  // a shot that has hit is no longer in it
    seen.furthest_m = std::max(seen.furthest_m, entity.shown.position.x);
  // snip: end
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
  auto client = reckoner::Client::create(client_config, **connecting);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;

  Seen seen;
  const auto start = std::chrono::steady_clock::now();
  for (double now_s = 0.0; now_s < 10.0 && seen.shots.size() < 10;) {
    now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    server->run_due_ticks(now_s, [&](double) {
      if (server->next_tick() % 6 == 0) fire(*server, {0.0, 0.0, 1.5});
    });
    client->update(now_s);
    show(*client, seen);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::printf("%zu shots, furthest %.2f m\n", seen.shots.size(), seen.furthest_m);
  return seen.shots.size() >= 10 && seen.furthest_m > kWallM - 2.0 && seen.furthest_m < kWallM + 0.05 ? 0 : 1;
}
