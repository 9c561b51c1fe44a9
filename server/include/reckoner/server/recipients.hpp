// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include <glm/vec3.hpp>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The clients to which Server::broadcast() sends a message. One type for all of them, so that each can leave
/// out one client: often the sender of the message that the game passes on.
///
///     server.broadcast(Recipients::seeing(tank).except(shooter), bytes, Delivery::reliable_unordered);
///
/// The clients are found when broadcast() is called, and not again later.
struct Recipients {
  /// What the clients have in common.
  enum class Kind : std::uint8_t {
    all,     ///< every client
    listed,  ///< the clients in `clients`
    within,  ///< clients whose eye is near a point
    seeing,  ///< clients that know an entity
  };

  Kind kind = Kind::all;                ///< selects the members that count
  std::span<const ClientId> clients{};  ///< of `listed`; the caller keeps it until broadcast() returns
  glm::dvec3 centre{0.0};               ///< of `within`, m, from the server's origin
  double radius_m = 0.0;                ///< of `within`, m, at least 0
  EntityId entity{};                    ///< of `seeing`
  ClientId excluded{};                  ///< gets nothing; null: no client is left out

  /// Every client.
  [[nodiscard]] static Recipients all() { return {}; }
  /// The clients in the list: a team, a party, the members of a channel. Each gets the message once. Clients
  /// that have left are skipped.
  [[nodiscard]] static Recipients listed(std::span<const ClientId> clients) {
    Recipients to;
    to.kind = Kind::listed;
    to.clients = clients;
    return to;
  }
  /// The clients whose eye (Server::set_view()) is at most `radius_m` from `centre`, m. A client without an
  /// eye is never near.
  [[nodiscard]] static Recipients within(const glm::dvec3& centre, double radius_m) {
    Recipients to;
    to.kind = Kind::within;
    to.centre = centre;
    to.radius_m = radius_m;
    return to;
  }
  /// The clients to which the entity is relevant and to which its spawn was sent. The owner is one of them.
  /// No client knows an entity that was added since the last tick.
  [[nodiscard]] static Recipients seeing(EntityId entity) {
    Recipients to;
    to.kind = Kind::seeing;
    to.entity = entity;
    return to;
  }
  /// These recipients without `client`.
  [[nodiscard]] Recipients except(ClientId client) const {
    Recipients to = *this;
    to.excluded = client;
    return to;
  }
};

}  // namespace reckoner
