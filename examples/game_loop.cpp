// SPDX-License-Identifier: MIT
// A game loop: the simulation runs in fixed ticks, and the game draws as many pictures as it can. The game
// draws its own ball at a position interpolated between the last two ticks. It draws the remote car at the
// pose that the client shows. The server runs in the same process. Exits with 0 if the car was shown within
// 0.5 m of its true position.
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

reckoner::State weaving(double time_s) {
  reckoner::State car;
  car.position = {8.0 * time_s, 3.0 * std::sin(time_s), 0.0};
  car.velocity = {8.0, 3.0 * std::cos(time_s), 0.0};
  return car;
}

// One fixed step of a ball that falls and bounces. The game simulates this ball itself.
reckoner::State stepped(reckoner::State ball, double step_s) {
  ball.velocity.z -= static_cast<float>(9.81 * step_s);
  ball.position += glm::dvec3(ball.velocity) * step_s;
  if (ball.position.z < 0.0) {
    ball.position.z = -ball.position.z;
    ball.velocity.z = std::abs(ball.velocity.z);
  }
  return ball;
}

double now_s() {
  static const auto start = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The server's part of the loop. In a real game it runs in another process.
void serve(reckoner::Server& server, reckoner::EntityId car) {
  server.run_due_ticks(now_s(), [&](double time_s) { (void)server.move(car, weaving(time_s)); });
}

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
  const reckoner::EntityId car = *server->spawn(0, "car", weaving(0.0));
  auto client = reckoner::Client::create({}, **connecting);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;

  double worst_m = 0.0;
  int drawn = 0;
  // snip: loop
  constexpr double kStepS = 1.0 / 50.0;
  reckoner::State ball;
  ball.position.z = 5.0;
  reckoner::State ball_before = ball;
  double simulated_s = now_s();
  while (now_s() < 3.0) {
    serve(*server, car);
    const double frame_s = now_s();

    client->update(frame_s);
    while (const auto event = client->poll_event()) {  // create and remove drawn objects here
    }

    while (simulated_s + kStepS <= frame_s) {  // run every fixed tick that is due
      ball_before = ball;
      ball = stepped(ball, kStepS);
      simulated_s += kStepS;
    }
    const double share = (frame_s - simulated_s) / kStepS;  // elapsed share of the current tick, 0 to 1
    const glm::dvec3 ball_drawn = glm::mix(ball_before.position, ball.position, share);

    for (const reckoner::ShownEntity& other : client->shown()) {  // poses for exactly this instant
      const double off_m = glm::distance(other.shown.position, weaving(frame_s).position);
      if (frame_s > 1.0) worst_m = std::max(worst_m, off_m);  // after the client's clock has settled
      if (++drawn % 60 == 0)
        std::printf("ball %.2f m up, car at %.2f %.2f\n", ball_drawn.z, other.shown.position.x,
                    other.shown.position.y);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(4));  // instead of vertical sync
  }
  // snip: end
  std::printf("%d frames, at most %.3f m off\n", drawn, worst_m);
  return drawn > 100 && worst_m < 0.5 ? 0 : 1;
}
