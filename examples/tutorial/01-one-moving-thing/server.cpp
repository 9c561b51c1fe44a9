// SPDX-License-Identifier: MIT
// Step 1: a server on which one ball goes round. The argument is the port, 26000 by default.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/server/server.hpp>

// snip: move
reckoner::State on_a_circle(double time_s) {  // radius 6 m, one round in 6.3 s
  reckoner::State ball;
  ball.position = {6.0 * std::cos(time_s), 6.0 * std::sin(time_s), 0.0};
  ball.velocity = {-6.0 * std::sin(time_s), 6.0 * std::cos(time_s), 0.0};
  return ball;
}
// snip: end

int main(int argc, char** argv) {
  const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 26000);
  auto transport = reckoner::NetworkTransport::listen(
      {.host = "127.0.0.1", .port = port, .security = reckoner::Insecure{}});
  if (!transport) return std::fprintf(stderr, "%s\n", transport.error().c_str()), 1;
  auto server = reckoner::Server::create({}, **transport);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  std::fprintf(stderr, "listening on port %d\n", (*transport)->port());

  const auto ball = server->spawn(0, "ball", on_a_circle(0.0));
  if (!ball) return std::fprintf(stderr, "%s\n", describe(ball.error()).data()), 1;
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    (*transport)->wait(0.002);  // until data arrives, at most 2 ms
    const double now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    server->run_due_ticks(now_s, [&](double time_s) {  // 60 ticks a second
      (void)server->move(*ball, on_a_circle(time_s));
    });
  }
}
