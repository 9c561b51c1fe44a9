// SPDX-License-Identifier: MIT
// Slow motion for everyone: server and client run on clocks that the game slows down together. Server and
// client write their log records to standard output. Exits with 0 if, on the client, the ball slowed down to
// a fifth of its speed without a jump.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <thread>

#include <glm/geometric.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/scaled_clock.hpp>
#include <reckoner/server/server.hpp>

namespace {

// The game's message: from server time `from_s` on, game time runs `scale` times as fast as real time.
struct Pace {
  double from_s;
  double scale;
};

void say(const reckoner::LogRecord& record) {
  if (record.level >= reckoner::LogLevel::info) std::printf("%s\n", reckoner::text_of(record).c_str());
}

reckoner::State flying(double time_s) {  // flies on a circle of radius 5 m, at 5 m/s
  reckoner::State ball;
  ball.position = {5.0 * std::cos(time_s), 5.0 * std::sin(time_s), 2.0};
  ball.velocity = {-5.0 * std::sin(time_s), 5.0 * std::cos(time_s), 0.0};
  return ball;
}

// Runs all ticks of the server that are due in game time. Changes the pace at the announced server time.
void run(reckoner::Server& server, reckoner::EntityId ball, reckoner::ScaledClock& clock, double real_now_s,
         std::optional<Pace>& coming) {
  if (coming && clock.at(real_now_s) >= coming->from_s) {
    clock.set_scale(coming->scale, real_now_s);  // the change takes a quarter of a second
    coming.reset();
  }
  server.run_due_ticks(clock.at(real_now_s), [&](double time_s) { (void)server.move(ball, flying(time_s)); });
}

// Runs the client in game time. Changes the pace when the client's estimate of server time reaches the
// announced time.
void run(reckoner::Client& client, reckoner::ScaledClock& clock, double real_now_s,
         std::optional<Pace>& coming) {
  client.update(clock.at(real_now_s));
  while (client.poll_event()) {
  }
  while (const auto message = client.poll_message()) {
    if (message->payload.size() == sizeof(Pace))
      std::memcpy(&coming.emplace(), message->payload.data(), sizeof(Pace));
  }
  const auto server_s = client.server_time_s();
  if (coming && server_s && *server_s >= coming->from_s) {
    clock.set_scale(coming->scale, real_now_s);
    coming.reset();
  }
}

}  // namespace

int main() {
  reckoner::ServerConfig server_config;
  server_config.log = say;
  reckoner::ClientConfig client_config;
  client_config.log = say;
  auto listening =
      reckoner::NetworkTransport::listen({.host = "127.0.0.1", .security = reckoner::Insecure{}, .log = say});
  if (!listening) return std::fprintf(stderr, "%s\n", listening.error().c_str()), 1;
  auto calling = reckoner::NetworkTransport::connect(
      {.host = "127.0.0.1", .port = (*listening)->port(), .security = reckoner::Insecure{}, .log = say});
  if (!calling) return std::fprintf(stderr, "%s\n", calling.error().c_str()), 1;
  auto server = reckoner::Server::create(server_config, **listening);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  auto client = reckoner::Client::create(client_config, **calling);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;
  const reckoner::EntityId ball = *server->spawn(0, "ball", flying(0.0));

  reckoner::ScaledClock server_clock, client_clock;  // in a real game, these clocks are on two machines
  std::optional<Pace> to_come, received;
  bool announced = false;
  std::optional<glm::dvec3> last;
  double last_s = 0.0, slow_m = 0.0, slow_s = 0.0, fastest_mps = 0.0;
  const auto start = std::chrono::steady_clock::now();
  for (double real_now_s = 0.0; real_now_s < 4.0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    real_now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    run(*server, ball, server_clock, real_now_s, to_come);
    run(*client, client_clock, real_now_s, received);
    if (real_now_s > 2.0 && !announced) {
      to_come = {server_clock.at(real_now_s) + 0.3, 0.2};  // early enough for the message to arrive
      announced =
          server->broadcast(std::as_bytes(std::span(&*to_come, 1)), reckoner::Delivery::reliable) == 1;
    }
    const auto shown = client->shown();
    if (shown.empty() || real_now_s < 1.0) continue;
    const glm::dvec3 at = shown.front().shown.position;
    if (last && real_now_s - last_s > 1e-3)
      fastest_mps = std::max(fastest_mps, glm::distance(at, *last) / (real_now_s - last_s));
    if (last && real_now_s > 3.0) {
      slow_m += glm::distance(at, *last);
      slow_s += real_now_s - last_s;
    }
    last = at;
    last_s = real_now_s;
  }
  std::printf("at most %.1f m/s, %.2f m/s in slow motion\n", fastest_mps, slow_m / slow_s);
  return fastest_mps < 10.0 && std::abs(slow_m / slow_s - 1.0) < 0.2 ? 0 : 1;
}
