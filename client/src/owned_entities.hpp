// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/server_link.hpp"
#include "client/src/playout/playout_clock.hpp"
#include "client/src/testing/test_switches.hpp"
#include "client/src/world/entity_store.hpp"
#include "client/src/world/world.hpp"
#include "net/src/config/velocity_log.hpp"
#include "net/src/messages/messages.hpp"

#include <optional>

#include <reckoner/client/client.hpp>
#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// The entities that this client owns: applies what the server grants, corrects and revokes, and takes their
/// motion from the game. The client shows this motion as if it were the newest one from the server.
class OwnedEntities {
 public:
  /// The parts of the session that an owner uses. All must outlive this object.
  struct Parts {
    const ClientConfig& config;  ///< with the archetypes as the server has set them
    const ClientTestSwitches& switches;
    ServerLink& link;
    const PlayoutClock& playout;
    World& world;
    ClientStats& stats;
  };
  explicit OwnedEntities(const Parts& parts) : session_(parts) {}

  /// Applies a change of ownership. Returns the reason if the message is refused, else nullopt.
  [[nodiscard]] std::optional<Refusal> apply(const OwnershipMessage& message);
  /// Removes and returns the newest motion of the server that has arrived while this client owned the entity
  /// (OwnershipState::keep()), if the client no longer owns it. It must be applied now.
  [[nodiscard]] std::optional<Motion> take_kept(KnownEntity& entity) const;
  /// The game has polled this event.
  void note_polled(const ClientEvent& event);

  /// Implements Client::move() and Client::teleport(). `counted` is in the server's coordinates, or relative
  /// to `frame`.
  CallResult move(EntityId id, const State& counted, EntityId frame, double local_s, bool teleports);
  /// Brings the entities to rest that the game does not move, all of them if it is paused. Otherwise they
  /// would run on at all other clients, and their owner would have to be corrected when it resumes.
  void brake_idle(double now_s, bool paused);

 private:
  [[nodiscard]] std::optional<Refusal> grant(KnownEntity& entity, const OwnershipMessage& message);
  void revoke(KnownEntity& entity);
  void brake(KnownEntity& entity, double now_s);
  void show(KnownEntity& entity, const Motion& motion);
  [[nodiscard]] bool can_live_in(FrameId frame, EntityId id) const;
  [[nodiscard]] double instant_s(const KnownEntity& entity) const;

  Parts session_;
  VelocityLog velocities_;
};

}  // namespace reckoner
