// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// An event in the client's world. Client::poll_event() returns the oldest first.
struct ClientEvent {
  /// The kind of event.
  enum class Kind : std::uint8_t {
    joined,
    spawned,
    despawned,
    teleported,
    fields_changed,  ///< of a visible entity; `fields` says which
    /// This client owns the entity from now on: continue from Client::owned() and call Client::move(). Comes
    /// after `spawned`, as soon as the client can show the entity.
    given,
    revoked,  ///< this client no longer owns the entity
    /// The game must continue from Client::owned(): the server refused the owner's motion, or the client
    /// brought the entity to rest while the game did not move it.
    corrected,
    server_closed,  ///< the server shut down
    disconnected,   ///< the connection has ended, and the client does not reconnect
    lost,           ///< the connection is lost, and the client reconnects
    resumed,        ///< the client has resumed its session; no reliable message is lost in either direction
    /// The client has reconnected, but the server does not know its session: the server was restarted, or the
    /// client was disconnected for too long. All entities have despawned, and a new world follows. Reliable
    /// messages may be lost (ClientStats::messages_abandoned).
    restarted,
    prediction_failed,  ///< the server has not spawned the entity of Client::predict_spawn() in time, or
                        ///< refuses
    /// The shown pose of the entity has jumped, although the server has not teleported it. After a silence, a
    /// pause, a suspension or a jump of the client's clock, the entity was too far from its motion to catch
    /// up within half a second at three times its usual speed (docs/connections.md).
    snapped,
    /// The game predicts this entity from now on (Server::let_predict()): Client::poll_correction() has its
    /// state. Comes after `spawned`.
    prediction_began,
    prediction_ended,  ///< the game no longer predicts this entity, and it is shown like those of others
  };
  Kind kind = Kind::joined;  ///< the kind of event
  EntityId entity;           ///< the entity concerned; null if the event concerns the client itself
  std::uint32_t fields = 0;  ///< changed fields, one bit each; bit 0 is the first field
  EntityId predicted{};      ///< of `spawned`: the prediction that `entity` replaces; null if there is none
};

}  // namespace reckoner
