// SPDX-License-Identifier: MIT
// A gateway of a world on several servers: clients join it and see what the simulators do.
//   example_cluster_gateway NAME [PORT] [NATS_URL] [SECONDS]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include <reckoner/cluster/gateway.hpp>
#include <reckoner/cluster/nats_bus.hpp>
#include <reckoner/net/network_transport.hpp>

int main(int argc, char** argv) {
  const auto port = static_cast<std::uint16_t>(argc > 2 ? std::atoi(argv[2]) : 26000);
  const char* url = argc > 3 ? argv[3] : "nats://127.0.0.1:4222";
  const double seconds = argc > 4 ? std::atof(argv[4]) : 1e9;
  auto clock_s = [] {  // all processes of a world need one clock: machines use NTP or PTP
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  };
  auto bus = reckoner::NatsBus::open({.url = url});
  if (!bus) return std::fprintf(stderr, "%s\n", bus.error().c_str()), 1;
  reckoner::WorldEntry entry({}, argc > 1 ? argv[1] : "gateway", {std::random_device{}() | 1u}, **bus);
  std::optional<reckoner::Result<reckoner::WorldMember>> member;
  while (!(member = entry.service(clock_s())))
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (!*member) return std::fprintf(stderr, "%s\n", member->error().c_str()), 1;

  auto transport = reckoner::NetworkTransport::listen(
      {.host = "127.0.0.1", .port = port, .security = reckoner::Insecure{}});  // this machine only, no tokens
  if (!transport) return std::fprintf(stderr, "%s\n", transport.error().c_str()), 1;
  auto gateway = reckoner::Gateway::create({}, {}, **member, **bus, **transport, clock_s());
  if (!gateway) return std::fprintf(stderr, "%s\n", gateway.error().c_str()), 1;
  std::printf("listening on port %d\n", (*transport)->port());
  std::fflush(stdout);
  for (const double end_s = clock_s() + seconds; clock_s() < end_s;) {
    (*transport)->wait(0.002);
    gateway->receive(clock_s());
    while (gateway->server().poll_event()) {  // clients that joined and left
    }
    if (gateway->tick_time_s(gateway->next_tick()) <= clock_s()) gateway->tick(clock_s());
  }
}
