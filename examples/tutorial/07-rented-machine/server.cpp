// SPDX-License-Identifier: MIT
// Step 7: the server of step 6 for a machine on the internet: server KEYFILE HOST:PORT [HOST:PORT...]. It
// listens on all addresses of its machine, at the first port. The arguments are the addresses that tokens may
// name. It writes a log, and says goodbye on SIGTERM.
#include "server_game.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>

#include <reckoner/net/network_transport.hpp>

namespace {
volatile std::sig_atomic_t stop = 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: server KEYFILE HOST:PORT...\n"), 2;
  std::string text;
  std::getline(std::ifstream(argv[1]), text);
  const auto key = reckoner::SecretKey::from_text(text);
  if (!key) return std::fprintf(stderr, "%s: no key\n", argv[1]), 1;
  // snip: addresses
  reckoner::ServerSecurity security{.key = *key, .game = 1};
  for (int i = 2; i < argc; ++i) {
    const auto named = reckoner::split_host_port(argv[i]);
    if (!named) return std::fprintf(stderr, "%s: not HOST:PORT\n", argv[i]), 1;
    for (reckoner::SocketAddress address : reckoner::resolve_host(named->host)) {
      address.port = named->port;
      security.addresses.push_back(address);
    }
  }
  if (security.addresses.empty()) return std::fprintf(stderr, "the names have no address\n"), 1;
  // snip: end
  // snip: log
  const reckoner::LogSink log = [](const reckoner::LogRecord& record) {
    std::fprintf(stderr, "%s\n", text_of(record).c_str());
  };
  auto transport = reckoner::NetworkTransport::listen(
      {.host = "", .port = security.addresses[0].port, .security = security, .log = log});
  if (!transport) return std::fprintf(stderr, "%s\n", transport.error().c_str()), 1;
  reckoner::ServerConfig config;
  config.archetypes = archetypes();
  config.log = log;
  // snip: end
  auto server = reckoner::Server::create(config, **transport);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  std::fprintf(stderr, "listening on port %d\n", (*transport)->port());

  ServerGame game{.server = *server, .players = {}};
  const auto start = std::chrono::steady_clock::now();
  const auto now_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  // snip: stop
  for (const int signal : {SIGINT, SIGTERM})
    std::signal(signal, [](int) { stop = 1; });
  while (stop == 0) {
    (*transport)->wait(0.002);
    server->run_due_ticks(now_s(), [&](double) { game.tick(); });
  }
  server->shutdown();  // the players hear of it
  const double until_s = now_s() + 2.0;
  for (server->receive(now_s()); server->closing_count() > 0 && now_s() < until_s; server->receive(now_s()))
    (*transport)->wait(0.01);
  // snip: end
  std::fprintf(stderr, "stopped\n");
}
