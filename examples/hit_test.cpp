// SPDX-License-Identifier: MIT
// A shot is judged by what the shooter saw: he aims at a runner who is shown to him 150 ms late, and hits,
// although the runner is 1.5 m further by then. Exits with 0 if the server finds the hit, and a shot at
// nothing misses.
#include "net/src/wire/messages.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <thread>

#include <glm/geometric.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/net/enet_transport.hpp>
#include <reckoner/server/server.hpp>

namespace {

constexpr double kRadiusM = 0.5;  // of a runner

reckoner::State running(double time_s) {
  reckoner::State runner;
  runner.position = {10.0 * time_s - 30.0, 20.0, 0.0};
  runner.velocity = {10.0f, 0.0f, 0.0f};
  return runner;
}

struct Verdict {
  bool hit = false;
  bool hit_by_the_present = false;  // as a server that does not rewind would judge
};

// snip: shoot
using Shot = std::array<double, 3>;  // where it goes to, from the origin; sent as the bytes that it is

bool shoot(reckoner::Client& client, const glm::dvec3& at, double now_s) {
  const Shot shot{at.x, at.y, at.z};
  return client.send(std::as_bytes(std::span(shot)), reckoner::Delivery::reliable,
                     client.server_time_s(now_s));  // when he saw it
}
// snip: end

bool strikes(const glm::dvec3& towards, const glm::dvec3& middle) {
  const glm::dvec3 direction = glm::normalize(towards);
  return glm::length(glm::cross(direction, middle)) < kRadiusM && glm::dot(direction, middle) > 0.0;
}

// snip: judge
std::optional<Verdict> judge(reckoner::Server& server, reckoner::EntityId runner) {
  const auto message = server.poll_message();
  Shot shot;
  if (!message || message->payload.size() != sizeof shot || !message->time_s) return std::nullopt;
  std::memcpy(&shot, message->payload.data(), sizeof shot);
  const glm::dvec3 towards{shot[0], shot[1], shot[2]};
  if (!(glm::length(towards) > 0.0 && glm::length(towards) < 1e6)) return std::nullopt;  // from the network
  // Nothing if he did not see it, or says that he saw it longer ago than ServerConfig::rewind_s.
  const auto seen = server.pose_seen_by(message->sender, runner, *message->time_s);
  return Verdict{seen && strikes(towards, seen->position),
                 strikes(towards, server.in_world(runner)->position)};
}
// snip: end

}  // namespace

int main() {
  auto listening = reckoner::EnetTransport::listen({.host = "127.0.0.1", .security = reckoner::Insecure{}});
  if (!listening) return 1;
  auto connecting = reckoner::EnetTransport::connect("127.0.0.1", (*listening)->port(),
                                                     reckoner::kProtocolVersion, reckoner::Insecure{});
  if (!connecting) return 1;
  reckoner::ServerConfig config;
  config.rewind_s = 1.0;
  reckoner::Server server(config, **listening);
  const reckoner::EntityId runner = server.spawn(0, "runner", running(0.0));
  reckoner::ClientConfig client_config;
  client_config.playout = {.mode = reckoner::PlayoutMode::delayed, .delay_s = 0.15};
  reckoner::Client client(client_config, **connecting);

  int shots = 0, hits = 0, hits_by_the_present = 0, wild_hits = 0, judged = 0;
  const auto start = std::chrono::steady_clock::now();
  for (double now_s = 0.0; now_s < 5.0 && judged < 6;) {
    now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    server.receive(now_s);
    while (const auto verdict = judge(server, runner)) {
      const bool aimed = judged++ % 2 == 0;
      (aimed ? hits : wild_hits) += verdict->hit ? 1 : 0;
      hits_by_the_present += aimed && verdict->hit_by_the_present ? 1 : 0;
    }
    while (server.tick_time_s(server.next_tick()) <= now_s) {
      server.move(runner, running(server.tick_time_s(server.next_tick())));
      server.tick(now_s);
    }
    client.receive(now_s);
    while (client.poll_event()) {
    }
    for (const reckoner::ShownEntity& seen : client.frame(now_s)) {
      if (now_s < 1.5 + 0.3 * shots || shots >= 6) continue;
      const glm::dvec3 aside{0.0, 0.0, shots % 2 == 0 ? 0.0 : 5.0};
      if (shoot(client, seen.shown.position + aside, now_s)) ++shots;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
  }
  std::printf("%d shots at what was seen hit, %d of them by the present pose; %d of those aside\n", hits,
              hits_by_the_present, wild_hits);
  return hits == 3 && hits_by_the_present == 0 && wild_hits == 0 ? 0 : 1;
}
