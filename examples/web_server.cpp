// SPDX-License-Identifier: MIT
// A server that native players and players in browsers join together: each gets a car, and sees all cars.
//   example_web_server [UDP PORT] [TCP PORT] [SECONDS] [FOLDER WITH THE PAGE]
// docs/INTEGRATION.md quotes the part between the "snip" lines.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>

#include <reckoner/net/joined_transport.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/server/server.hpp>
#include <reckoner/web/web_listener.hpp>

namespace {

reckoner::State on_the_circle(double radius_m, double time_s) {  // at 10 m/s
  const double rate = 10.0 / radius_m;
  const double angle = rate * time_s;
  reckoner::State car;
  car.position = {radius_m * std::cos(angle), radius_m * std::sin(angle), 0.0};
  car.velocity = {-10.0 * std::sin(angle), 10.0 * std::cos(angle), 0.0};
  car.orientation = glm::angleAxis(static_cast<float>(angle) + 1.57f, glm::vec3{0.0f, 0.0f, 1.0f});
  return car;
}

}  // namespace

int main(int argc, char** argv) {
  const auto port = [&](int i) { return static_cast<std::uint16_t>(argc > i ? std::atoi(argv[i]) : 0); };
  const double seconds = argc > 3 ? std::atof(argv[3]) : 1e9;
  // snip: server
  // This machine only, and no tokens. On the Internet: {.security = ServerSecurity{...}} in both, and a
  // certificate for the browsers.
  auto native = reckoner::NetworkTransport::listen(
      {.host = "127.0.0.1", .port = port(1), .security = reckoner::Insecure{}, .transport = "udp"});
  if (!native) return std::fprintf(stderr, "%s\n", native.error().c_str()), 1;
  auto web = reckoner::WebListener::open({.host = "127.0.0.1",
                                          .port = port(2),
                                          .security = reckoner::Insecure{},
                                          .beside = native->get(),
                                          .folder = argc > 4 ? argv[4] : ""});
  if (!web) return std::fprintf(stderr, "%s\n", web.error().c_str()), 1;
  reckoner::JoinedTransport both(**native, **web);
  auto server = reckoner::Server::create({}, both);
  // snip: end
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  std::printf("native players: 127.0.0.1:%d, browsers: %s\n", (*native)->port(), (*web)->url().c_str());
  std::fflush(stdout);

  struct Car {
    reckoner::EntityId id;
    double radius_m = 0.0;
  };
  std::map<reckoner::ClientId, Car> cars;
  const auto start = std::chrono::steady_clock::now();
  for (double now_s = 0.0; now_s < seconds;) {
    (*native)->wait(0.002);
    now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    server->run_due_ticks(now_s, [&](double time_s) {
      while (const auto event = server->poll_event()) {
        using Kind = reckoner::ServerEvent::Kind;
        if (event->kind == Kind::client_joined) {
          const bool browser = reckoner::JoinedTransport::is_of_second(server->peer(event->client));
          const double radius_m = 20.0 + 5.0 * static_cast<double>(cars.size());
          if (const auto id = server->spawn(0, "car", on_the_circle(radius_m, time_s)))
            cars[event->client] = {*id, radius_m};
          std::printf("%s player joined\n", browser ? "browser" : "native");
          std::fflush(stdout);
        } else if (const auto gone = cars.find(event->client);
                   event->kind == Kind::client_left && gone != cars.end()) {
          (void)server->despawn(gone->second.id);
          cars.erase(gone);
        }
      }
      for (const auto& [client, car] : cars)
        (void)server->move(car.id, on_the_circle(car.radius_m, time_s));
    });
  }
}
