// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/coding_mode_chooser.hpp"
#include "net/src/link/baselines.hpp"
#include "reckoning/src/prediction/gap_fit.hpp"
#include "reckoning/src/prediction/motion_fit.hpp"
#include "reckoning/src/prediction/send_policy.hpp"
#include "server/src/prefetch.hpp"
#include "server/src/world/frame_tree.hpp"
#include "server/src/world/route_follower.hpp"
#include "server/src/world/slot_set.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/server/interest.hpp>

namespace reckoner {

/// One level of detail of an entity.
struct EntityLevel {
  EntityLevel(const SendPolicy& given, double threshold_factor) : policy(given), factor(threshold_factor) {}

  PublishStream stream;
  SendPolicy policy;
  CodingModeChooser coding_mode;
  double factor;                  ///< of the archetype's thresholds
  std::uint32_t subscribers = 0;  ///< clients that follow the entity at this level
  std::uint32_t predicting = 0;   ///< those of them that show the present
  double delay_s = 0.0;           ///< how long updates take to reach most of them

  void add_subscriber(bool shows_past) {
    ++subscribers;
    if (!shows_past) ++predicting;
  }
  void remove_subscriber(bool shows_past) {
    --subscribers;
    if (!shows_past) --predicting;
  }

  /// All who follow it show the past: only what lies between publishes counts.
  [[nodiscard]] bool interpolated() const { return subscribers > 0 && predicting == 0; }
};

/// What the owner of an entity, a client, says of it; or the server in its place.
struct OwnedMotion {
  QuantisedState encoded;
  Motion motion;       ///< as clients decode it
  Tick tick = 0;       ///< its time stamp
  bool fresh = false;  ///< not published yet
};

/// An entity as the server knows it. What every tick looks at stands together, see fetch().
struct Entity {
  EntityId id;
  std::size_t archetype = 0;
  EntityId frame;  ///< that `truth` is in, as the frame tree has it; null: the world
  State truth;
  std::uint8_t teleports = 0;
  bool teleported = false;        ///< since the last tick
  bool announced = false;         ///< its spawn was published
  std::uint32_t still_ticks = 0;  ///< how long it has not moved at all

  Relevance relevance = Relevance::by_distance;
  std::uint32_t groups = kAllGroups;

  std::unique_ptr<OwnedMotion> owned;  ///< null unless a client owns it
  std::unique_ptr<GapFit> gap;         ///< made when a level is interpolated for the first time
  MotionFit fit;
  std::array<EntityLevel, kLevels> levels;

  std::optional<RouteFollower> follower;  ///< of the route it was put on
  std::string name;

  /// Asks for the memory that is looked at in every tick: more than a processor keeps, for thousands of
  /// entities, but known beforehand.
  void fetch() const {
    prefetch(this, static_cast<std::size_t>(reinterpret_cast<const char*>(&levels[1]) -
                                            reinterpret_cast<const char*>(this)));
  }
};

/// All entities by slot. A slot is used again only after a quarantine, so that a state datagram that was on
/// its way for longer than clients accept can never be read with another entity's archetype.
class EntityTable {
 public:
  EntityTable(std::uint32_t max_entities, Tick quarantine_ticks)
      : max_entities_(max_entities), quarantine_ticks_(quarantine_ticks) {}

  /// A new entity's id, or null if there are too many. It is awake.
  [[nodiscard]] EntityId add(Entity entity, Tick tick);

  /// Null if there is no such entity.
  [[nodiscard]] Entity* find(EntityId id);
  [[nodiscard]] const Entity* find(EntityId id) const;

  void remove(EntityId id, Tick tick);

  /// One entry per slot ever used; those without an entity have a null id.
  [[nodiscard]] std::vector<Entity>& slots() { return slots_; }
  [[nodiscard]] const std::vector<Entity>& slots() const { return slots_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// Of every stream (slot x kLevels + level), as of the last publish.
  [[nodiscard]] std::vector<StreamHead>& heads() { return heads_; }
  [[nodiscard]] const std::vector<StreamHead>& heads() const { return heads_; }

  /// Who lives in whose frame. To be changed by put_into() only.
  [[nodiscard]] const FrameTree& frames() const { return frames_; }
  /// The truth about `entity` from now on: `truth`, in the frame of an entity that fits (FrameTree::fit()),
  /// or in the world. It is awake.
  void put_into(Entity& entity, EntityId frame, const State& truth);
  /// The truth in the world.
  [[nodiscard]] State in_world(const Entity& entity) const;
  [[nodiscard]] glm::dvec3 place_of(const Entity& entity) const {
    return entity.frame ? in_world(entity).position : entity.truth.position;
  }

  /// The entities that have to be looked at every tick; the others rest, and everybody who follows them knows
  /// it.
  [[nodiscard]] SlotSet& awake() { return awake_; }
  [[nodiscard]] const SlotSet& awake() const { return awake_; }

 private:
  struct Freed {
    std::uint32_t slot;
    std::uint16_t generation;
    Tick tick;
  };

  std::uint32_t max_entities_;
  Tick quarantine_ticks_;
  std::vector<Entity> slots_;
  std::vector<StreamHead> heads_;
  SlotSet awake_;
  FrameTree frames_;
  std::deque<Freed> freed_;  // oldest first
  std::size_t size_ = 0;
};

}  // namespace reckoner
