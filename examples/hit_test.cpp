// SPDX-License-Identifier: MIT
// Lag compensation: the server judges a shot by the pose that the shooter saw. The shooter's client shows a
// runner 150 ms late, and the shooter aims at the shown pose. The shot hits, although the runner has
// meanwhile run on by 1.5 m. Three shots aim at the runner and three aim beside it. Exits with 0 if the aimed
// shots hit, the other shots miss, and a server without lag compensation would have missed all of them.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <thread>

#include <glm/geometric.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace {

constexpr double kRadiusM = 0.5;  // radius of a runner, m

reckoner::State running(double time_s) {
  reckoner::State runner;
  runner.position = {10.0 * time_s - 30.0, 20.0, 0.0};
  runner.velocity = {10.0f, 0.0f, 0.0f};
  return runner;
}

struct Verdict {
  bool hit = false;
  bool hit_by_the_present = false;  // what a server without lag compensation would decide
};

// snip: shoot
using Shot = std::array<double, 3>;  // the point aimed at, m; shots start at the origin; sent as raw bytes

reckoner::CallResult shoot(reckoner::Client& client, const glm::dvec3& at) {
  const Shot shot{at.x, at.y, at.z};
  const reckoner::CallResult sent = client.send(std::as_bytes(std::span(shot)), reckoner::Delivery::reliable,
                                                client.server_time_s());  // when the shooter saw the target
  // So that the shot does not wait for the next picture.
  client.flush();
  return sent;
}
// snip: end

// Returns true if the ray from the origin through `towards` passes within kRadiusM of `middle`.
bool strikes(const glm::dvec3& towards, const glm::dvec3& middle) {
  const glm::dvec3 direction = glm::normalize(towards);
  return glm::length(glm::cross(direction, middle)) < kRadiusM && glm::dot(direction, middle) > 0.0;
}

// snip: judge
struct FiredShot {
  reckoner::ClientId shooter;
  double time_s = 0.0;
  glm::dvec3 towards{0.0};
};

std::optional<FiredShot> read_shot(const reckoner::GameMessage& message) {
  Shot shot;
  if (message.payload.size() != sizeof shot || !message.time_s) return std::nullopt;
  std::memcpy(&shot, message.payload.data(), sizeof shot);
  const glm::dvec3 towards{shot[0], shot[1], shot[2]};
  if (!(glm::length(towards) > 0.0 && glm::length(towards) < 1e6)) return std::nullopt;  // untrusted data
  return FiredShot{message.sender, *message.time_s, towards};
}

// Judges the oldest shot. Call it after every receive(), until it returns nothing.
std::optional<Verdict> judge(reckoner::Server& server, reckoner::EntityId runner,
                             std::deque<FiredShot>& waiting) {
  while (const auto message = server.poll_message()) {
    if (const auto shot = read_shot(*message)) waiting.push_back(*shot);
  }
  if (waiting.empty()) return std::nullopt;
  const FiredShot shot = waiting.front();
  // The shot may overtake the report on what its shooter saw. That report takes at most
  // ServerConfig::rewind_s.
  if (server.rewind_status(shot.shooter, shot.time_s) == reckoner::RewindStatus::pending) return std::nullopt;
  waiting.pop_front();
  // Empty if the shooter did not see the runner, or if the stamp is older than ServerConfig::rewind_s.
  const auto seen = server.pose_seen_by(shot.shooter, runner, shot.time_s);
  return Verdict{seen && strikes(shot.towards, seen->position),
                 strikes(shot.towards, server.in_world(runner)->position)};
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
  reckoner::ServerConfig config;
  config.rewind_s = 1.0;
  auto server = reckoner::Server::create(config, **listening);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  const reckoner::EntityId runner = *server->spawn(0, "runner", running(0.0));
  reckoner::ClientConfig client_config;
  client_config.playout = {.mode = reckoner::PlayoutMode::delayed, .delay_s = 0.15};
  auto client = reckoner::Client::create(client_config, **connecting);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;

  std::deque<FiredShot> waiting;
  int shots = 0, hits = 0, hits_by_the_present = 0, wild_hits = 0, judged = 0;
  const auto start = std::chrono::steady_clock::now();
  for (double now_s = 0.0; now_s < 5.0 && judged < 6;) {
    now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    server->receive(now_s);
    while (const auto verdict = judge(*server, runner, waiting)) {
      const bool aimed = judged++ % 2 == 0;
      (aimed ? hits : wild_hits) += verdict->hit ? 1 : 0;
      hits_by_the_present += aimed && verdict->hit_by_the_present ? 1 : 0;
    }
    while (server->tick_time_s(server->next_tick()) <= now_s) {
      (void)server->move(runner, running(server->tick_time_s(server->next_tick())));
      server->tick(now_s);
    }
    client->update(now_s);
    while (client->poll_event()) {
    }
    for (const reckoner::ShownEntity& seen : client->shown()) {
      if (now_s < 1.5 + 0.3 * shots || shots >= 6) continue;
      const glm::dvec3 aside{0.0, 0.0, shots % 2 == 0 ? 0.0 : 5.0};
      if (shoot(*client, seen.shown.position + aside)) ++shots;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
  }
  std::printf("aimed shots: %d hits, %d without lag compensation; shots beside the runner: %d hits\n", hits,
              hits_by_the_present, wild_hits);
  return hits == 3 && hits_by_the_present == 0 && wild_hits == 0 ? 0 : 1;
}
