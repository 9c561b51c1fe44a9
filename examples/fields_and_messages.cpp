// SPDX-License-Identifier: MIT
// A server and a client on this machine exchange user fields and game messages. docs/FIELDS.md quotes the
// parts between the "snip" lines. Exits with 0 if the field's new value and both messages arrived.
#include <array>
#include <chrono>
#include <cstdio>
#include <thread>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace {

// snip: declare
std::vector<reckoner::Archetype> archetypes() {
  reckoner::Archetype tank;
  tank.name = "tank";
  tank.fields = {{"health", reckoner::IntegerField{.least = 0, .most = 100, .initial = 100}},
                 {"heat", reckoner::RealField{.least = -50.0, .most = 150.0, .step = 0.5, .initial = 20.0}}};
  return {tank};
}
// snip: end

constexpr std::byte kHello{1};
constexpr std::byte kBang{2};

struct Seen {
  bool health = false;
  bool hello = false;
  bool bang = false;
};

void serve(reckoner::Server& server, reckoner::EntityId tank, std::size_t health) {
  // snip: server
  // A client applies the value when it shows this tick.
  if (const auto set = server.set_field(tank, health, std::int64_t{35}); !set)
    std::fprintf(stderr, "health: %s\n", describe(set.error()).data());
  while (const auto message = server.poll_message()) {
    if (message->payload[0] != kHello) continue;  // data from the network: trust nothing
    const std::array bang{kBang};
    // Delivered when the client shows this tick. An unreliable message may also fail: the client has left.
    (void)server.send(message->sender, bang, reckoner::Delivery::unreliable,
                      server.tick_time_s(server.next_tick()));
  }
  // snip: end
}

void show(reckoner::Client& client, std::size_t health, Seen& seen) {
  // snip: client
  while (const auto event = client.poll_event()) {
    if (event->kind == reckoner::ClientEvent::Kind::joined) {
      const std::array hello{kHello};
      if (client.send(hello, reckoner::Delivery::reliable)) seen.hello = true;
    }
    if (event->kind != reckoner::ClientEvent::Kind::fields_changed) continue;
    if (const reckoner::FieldValue* value = client.field(event->entity, health)) {
      std::printf("health %lld\n", static_cast<long long>(std::get<std::int64_t>(*value)));
      seen.health = std::get<std::int64_t>(*value) == 35;
    }
  }
  while (const auto message = client.poll_message())
    seen.bang = message->payload[0] == kBang;
  // snip: end
  (void)client.shown();
}

}  // namespace

int main() {
  // snip: names
  // Looked up once. An unknown name is an error that lists the known names.
  const auto tank_kind = reckoner::find_archetype(archetypes(), "tank");
  if (!tank_kind) return std::fprintf(stderr, "%s\n", tank_kind.error().c_str()), 1;
  const auto health = reckoner::find_field(archetypes()[*tank_kind], "health");
  if (!health) return std::fprintf(stderr, "%s\n", health.error().c_str()), 1;
  // snip: end

  auto listening =
      reckoner::NetworkTransport::listen({.host = "127.0.0.1", .security = reckoner::Insecure{}});
  if (!listening) return 1;
  reckoner::NetworkTransport& server_transport = **listening;
  auto connecting = reckoner::NetworkTransport::connect(
      {.host = "127.0.0.1", .port = server_transport.port(), .security = reckoner::Insecure{}});
  if (!connecting) return 1;

  reckoner::ServerConfig server_config;
  server_config.archetypes = archetypes();
  auto server = reckoner::Server::create(server_config, server_transport);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  reckoner::ClientConfig client_config;
  client_config.archetypes = archetypes();
  client_config.playout = {.mode = reckoner::PlayoutMode::delayed, .delay_s = 0.1};
  auto client = reckoner::Client::create(client_config, **connecting);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;

  const reckoner::EntityId tank = *server->spawn(*tank_kind, "tank", {});
  Seen seen;
  const auto start = std::chrono::steady_clock::now();
  for (double now_s = 0.0; now_s < 10.0 && !(seen.health && seen.hello && seen.bang);) {
    now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    server->run_due_ticks(now_s, [&](double) {
      if (now_s > 1.0) serve(*server, tank, *health);
    });
    client->update(now_s);
    show(*client, *health, seen);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return seen.health && seen.hello && seen.bang ? 0 : 1;
}
