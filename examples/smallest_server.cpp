// SPDX-License-Identifier: MIT
// The smallest server: a car drives in a circle, and every client that joins sees the car.
//   example_smallest_server [PORT] [SECONDS]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/server/server.hpp>

// snip: server
reckoner::State on_the_circle(double time_s) {  // radius 20 m, speed 10 m/s
  const double angle = 0.5 * time_s;
  reckoner::State car;
  car.position = {20.0 * std::cos(angle), 20.0 * std::sin(angle), 0.0};
  car.velocity = {-10.0 * std::sin(angle), 10.0 * std::cos(angle), 0.0};
  car.orientation = glm::angleAxis(static_cast<float>(angle) + 1.57f, glm::vec3{0.0f, 0.0f, 1.0f});
  return car;
}

int main(int argc, char** argv) {
  const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 26000);
  const double seconds = argc > 2 ? std::atof(argv[2]) : 1e9;
  auto transport = reckoner::NetworkTransport::listen(
      {.host = "127.0.0.1", .port = port, .security = reckoner::Insecure{}});  // this machine only, no tokens
  if (!transport) return std::fprintf(stderr, "%s\n", transport.error().c_str()), 1;
  std::printf("listening on port %d\n", (*transport)->port());
  std::fflush(stdout);

  auto server = reckoner::Server::create({}, **transport);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  const auto car = server->spawn(0, "car", on_the_circle(0.0));
  if (!car) return std::fprintf(stderr, "%s\n", describe(car.error()).data()), 1;
  const auto start = std::chrono::steady_clock::now();
  for (double now_s = 0.0; now_s < seconds;) {
    (*transport)->wait(0.002);
    now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    server->run_due_ticks(now_s, [&](double time_s) {   // 60 ticks a second
      (void)server->move(*car, on_the_circle(time_s));  // fails only beyond the archetype's limits
    });
  }
}
// snip: end
