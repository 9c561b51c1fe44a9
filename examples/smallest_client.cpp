// SPDX-License-Identifier: MIT
// The smallest client: joins a server and prints the position of every entity, 60 times a second. Exits with
// 0 if it showed at least one entity.
//   example_smallest_client [HOST] [PORT] [SECONDS]
// snip: client

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/transport.hpp>

int main(int argc, char** argv) {
  const char* host = argc > 1 ? argv[1] : "127.0.0.1";
  const auto port = static_cast<std::uint16_t>(argc > 2 ? std::atoi(argv[2]) : 26000);
  const double seconds = argc > 3 ? std::atof(argv[3]) : 1e9;
  auto transport =
      reckoner::NetworkTransport::connect({.host = host, .port = port, .security = reckoner::Insecure{}});
  if (!transport) return std::fprintf(stderr, "%s\n", transport.error().c_str()), 1;

  auto client = reckoner::Client::create({}, **transport);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;
  const auto start = std::chrono::steady_clock::now();
  const auto now_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  bool shown = false;
  while (now_s() < seconds && client->update(now_s()) <= reckoner::ClientStatus::joined) {
    for (const reckoner::ShownEntity& entity : client->shown()) {
      const glm::dvec3& at = entity.shown.position;
      std::printf("%.3f %s %.3f %.3f %.3f\n", now_s(), entity.info->name.c_str(), at.x, at.y, at.z);
      shown = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(16));
  }
  return shown ? 0 : 1;
}
// snip: end
