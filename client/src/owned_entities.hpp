// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/server_link.hpp"
#include "client/src/playout/playout_clock.hpp"
#include "client/src/test_switches.hpp"
#include "client/src/world/entity_store.hpp"
#include "client/src/world/frames.hpp"
#include "client/src/world/world_events.hpp"
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
  /// The parts of the world that an owner uses. All must outlive this object.
  struct World {
    const ClientConfig& config;  ///< with the archetypes as the server has set them
    const ClientTestSwitches& switches;
    ServerLink& link;
    const PlayoutClock& playout;
    EntityStore& entities;
    Frames& frames;
    WorldEvents& events;
    ClientStats& stats;
  };
  explicit OwnedEntities(const World& world) : world_(world) {}

  /// Applies a change of ownership. `path`: how entities move that others own. Returns the reason if the
  /// message is refused, else nullopt.
  [[nodiscard]] std::optional<Refusal> apply(const OwnershipMessage& message, MotionPath path);
  /// A motion of the server has arrived for an entity that this client owns.
  static void keep(KnownEntity& entity, const Motion& motion);
  /// Removes and returns the newest such motion, which must be applied now, if the client no longer owns the
  /// entity.
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
  [[nodiscard]] std::optional<Refusal> grant(KnownEntity& entity, const OwnershipMessage& message,
                                             MotionPath path);
  void revoke(KnownEntity& entity, MotionPath path);
  void brake(KnownEntity& entity, double now_s);
  void show(KnownEntity& entity, const Motion& motion);
  [[nodiscard]] bool can_live_in(FrameId frame, EntityId id) const;
  [[nodiscard]] double instant_s(const KnownEntity& entity) const;
  [[nodiscard]] double blend_s() const { return world_.config.playout.blend_s; }

  World world_;
  VelocityLog velocities_;
};

}  // namespace reckoner
