// SPDX-License-Identifier: MIT
#pragma once

#include "tests/support/world.hpp"

namespace reckoner::test {

inline constexpr double kRadiusM = 100.0;

/// Clients see the entities within kRadiusM.
inline WorldConfig near_world(const std::string& link = "lan") {
  WorldConfig config{.links = network(link)};
  config.server.interest.radius_m = kRadiusM;
  return config;
}

/// Lets a client join and returns its id on the server.
inline ClientId join(World& world) {
  const std::size_t before = world.count(ServerEvent::Kind::client_joined);
  world.add_client();
  for (const double end_s = world.now_s() + 5.0;
       world.count(ServerEvent::Kind::client_joined) == before && world.now_s() < end_s;) {
    world.run_to(world.now_s() + 0.05);
  }
  for (auto event = world.server_events().rbegin(); event != world.server_events().rend(); ++event) {
    if (event->kind == ServerEvent::Kind::client_joined) return event->client;
  }
  return {};
}

inline bool sees(const World& world, std::size_t client, EntityId id) {
  return world.shown(client, id) != nullptr;
}

}  // namespace reckoner::test
