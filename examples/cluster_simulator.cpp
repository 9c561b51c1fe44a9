// SPDX-License-Identifier: MIT
// A simulator of a world on several servers: it moves the entities in its cells. Start several, each with its
// own name.
//   nats-server -js -sd /tmp/nats -a 127.0.0.1
//   example_cluster_simulator NAME [NATS_URL] [SECONDS]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include <reckoner/cluster/nats_bus.hpp>
#include <reckoner/cluster/simulator.hpp>

int main(int argc, char** argv) {
  const char* url = argc > 2 ? argv[2] : "nats://127.0.0.1:4222";
  const double seconds = argc > 3 ? std::atof(argv[3]) : 1e9;
  auto clock_s = [] {  // all processes of a world need one clock: machines use NTP or PTP
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  };
  auto bus = reckoner::NatsBus::open({.url = url});
  if (!bus) return std::fprintf(stderr, "%s\n", bus.error().c_str()), 1;
  reckoner::WorldEntry entry({}, argc > 1 ? argv[1] : "sim", {std::random_device{}() | 1u}, **bus);
  std::optional<reckoner::Result<reckoner::WorldMember>> member;
  while (!(member = entry.service(clock_s())))
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (!*member) return std::fprintf(stderr, "%s\n", member->error().c_str()), 1;

  auto simulator = reckoner::Simulator::create({}, **member, **bus, clock_s());
  if (!simulator) return std::fprintf(stderr, "%s\n", simulator.error().c_str()), 1;
  bool spawned = false;
  for (const double end_s = clock_s() + seconds; clock_s() < end_s;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    simulator->receive(clock_s());
    while (simulator->poll_event()) {  // acquired, released...
    }
    if (simulator->tick_time_s(simulator->next_tick()) > clock_s()) continue;
    if (!spawned && simulator->ready())
      spawned = bool(simulator->spawn(0, "car", {.velocity = {10.0f, 0.0f, 0.0f}}));
    for (const reckoner::EntityId id :
         simulator->held()) {  // drives along x, and turns round at the ends of the world
      reckoner::State car = *simulator->server().state(id);
      if (std::abs(car.position.x) > 190.0) car.velocity.x = car.position.x > 0.0 ? -10.0f : 10.0f;
      car.position += glm::dvec3{car.velocity} / 60.0;
      (void)simulator->move(id, car);
    }
    simulator->tick(clock_s());
  }
}
