// SPDX-License-Identifier: MIT
#pragma once

#include "motion_fit.hpp"
#include "route_follower.hpp"
#include "send_policy.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/motion_codec.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// An entity as the server knows it.
struct Entity {
  EntityId id;
  std::size_t archetype = 0;
  std::string name;
  State truth;
  std::uint8_t teleports = 0;
  bool teleported = false;  ///< since the last tick
  bool announced = false;   ///< its spawn was published

  Motion published;         ///< as clients decode it
  QuantisedState encoded;   ///< the same as it travels
  Tick published_tick = 0;  ///< time stamp of `published`

  std::optional<RouteFollower> follower;  ///< of the route it was put on
  MotionFit fit;
  SendPolicy policy;
};

/// All entities by slot. A slot is used again only after a quarantine, so that a state datagram that was on
/// its way for longer than clients accept can never be read with another entity's archetype.
class EntityTable {
 public:
  EntityTable(std::uint32_t max_entities, Tick quarantine_ticks)
      : max_entities_(max_entities), quarantine_ticks_(quarantine_ticks) {}

  /// A new entity's id, or null if there are too many.
  [[nodiscard]] EntityId add(Entity entity, Tick tick);

  /// Null if there is no such entity.
  [[nodiscard]] Entity* find(EntityId id);
  [[nodiscard]] const Entity* find(EntityId id) const;

  void remove(EntityId id, Tick tick);

  /// One entry per slot ever used; those without an entity have a null id.
  [[nodiscard]] std::vector<Entity>& slots() { return slots_; }
  [[nodiscard]] const std::vector<Entity>& slots() const { return slots_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Freed {
    std::uint32_t slot;
    std::uint16_t generation;
    Tick tick;
  };

  std::uint32_t max_entities_;
  Tick quarantine_ticks_;
  std::vector<Entity> slots_;
  std::deque<Freed> freed_;  // oldest first
  std::size_t size_ = 0;
};

}  // namespace reckoner
