// SPDX-License-Identifier: MIT
// Uses a function of the one library that it is linked with. Exits with 0 if that works.
#if defined(COMPONENT_RECKONING)
#include <reckoner/reckoning/motion.hpp>

bool works() {
  return reckoner::extrapolate({.velocity = {1.0f, 0.0f, 0.0f}}, 2.0).position.x == 2.0;
}
#elif defined(COMPONENT_NET)
#include <array>

#include <reckoner/net/archetype.hpp>

bool works() {
  const std::array<reckoner::Archetype, 1> car{{{.name = "car"}}};
  const std::array<reckoner::Archetype, 1> bus{{{.name = "bus"}}};
  return reckoner::archetype_hash(car) != reckoner::archetype_hash(bus);
}
#elif defined(COMPONENT_SERVER)
#include <reckoner/net/network_transport.hpp>
#include <reckoner/server/server.hpp>

bool works() {
  auto transport =
      reckoner::NetworkTransport::listen({.host = "127.0.0.1", .security = reckoner::Insecure{}});
  if (!transport) return false;
  auto server = reckoner::Server::create({}, **transport);
  return server && static_cast<bool>(server->spawn(0, "car", {}));
}
#elif defined(COMPONENT_CLIENT)
#include <reckoner/client/client.hpp>
#include <reckoner/net/network_transport.hpp>

bool works() {
  auto transport =
      reckoner::NetworkTransport::connect({.host = "127.0.0.1", .port = 9, .security = reckoner::Insecure{}});
  if (!transport) return false;
  auto client = reckoner::Client::create({}, **transport);
  if (!client) return false;
  client->update(0.0);
  return client->status() == reckoner::ClientStatus::connecting;
}
#elif defined(COMPONENT_CLUSTER)
#include <reckoner/cluster/cluster_config.hpp>
#include <reckoner/cluster/nats_bus.hpp>

bool works() {
  const bool refused = !reckoner::NatsBus::open({.url = "nats://127.0.0.1:1", .connect_timeout_s = 0.2});
  return refused && !reckoner::find_invalid_setting(reckoner::ClusterConfig{});
}
#elif defined(COMPONENT_WEB)
#include <reckoner/web/web_listener.hpp>

bool works() {
  const auto web = reckoner::WebListener::open({.host = "127.0.0.1", .security = reckoner::Insecure{}});
  return web && (*web)->port() != 0;
}
#endif

int main() {
  return works() ? 0 : 1;
}
