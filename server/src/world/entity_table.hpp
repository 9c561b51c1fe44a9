// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/link/baselines.hpp"
#include "reckoning/src/motion/velocity_watch.hpp"
#include "reckoning/src/prediction/gap_fit.hpp"
#include "reckoning/src/prediction/motion_fit.hpp"
#include "reckoning/src/prediction/send_policy.hpp"
#include "reckoning/src/util/prefetch.hpp"
#include "server/src/world/route_follower.hpp"
#include "server/src/world/slot_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/state.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// The tree of frames, by slot: which entity is in the frame of which other entity. The tree has no circles
/// and is at most kMaxFrameDepth deep. It uses no memory until an entity enters a frame.
class FrameTree {
 public:
  /// The entity in whose frame the entity in this slot is; null: the world frame.
  [[nodiscard]] EntityId frame_of(std::uint32_t slot) const {
    return slot < nodes_.size() ? nodes_[slot].frame : EntityId{};
  }

  /// The slots of the entities that are directly in the frame of the entity in `slot`, each slot once.
  [[nodiscard]] std::span<const std::uint32_t> inside(std::uint32_t slot) const {
    return slot < nodes_.size() ? std::span<const std::uint32_t>{nodes_[slot].inside}
                                : std::span<const std::uint32_t>{};
  }

  /// The slots of all entities that are in a frame other than the world, in ascending order.
  [[nodiscard]] std::span<const std::uint32_t> members() const { return members_; }

  enum class Fit : std::uint8_t { fits, circle, too_deep };
  /// Checks whether the entity `id`, with all entities in its own frame, can enter the frame of the entity
  /// `frame`. A null `id` means a new entity, whose frame contains no entities. A null `frame` is the world
  /// frame, which always fits.
  [[nodiscard]] Fit fit(EntityId id, EntityId frame) const;

  /// Moves the entity `id` into the frame of the entity `frame` (null: the world frame). The caller must have
  /// checked that fit() returns `fits`.
  void put(EntityId id, EntityId frame);

 private:
  struct Node {
    EntityId frame;
    std::vector<std::uint32_t> inside;
  };
  [[nodiscard]] int height(std::uint32_t slot) const;

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> members_;
};

/// The published stream of one entity at one level of detail, and the policy that decides when to publish.
struct EntityLevel {
  EntityLevel(const SendPolicy& given, double threshold_factor) : policy(given), factor(threshold_factor) {}

  PublishStream stream;
  SendPolicy policy;
  CodingModeChooser coding_mode;
  double factor;                  ///< multiplies the archetype's thresholds
  std::uint32_t subscribers = 0;  ///< number of clients that follow the entity at this level
  std::uint32_t predicting = 0;   ///< number of subscribers that predict (show the present)
  double delay_s = 0.0;           ///< 90th percentile of the subscribers' one-way delay, s
  bool steady = false;            ///< the last publish was a steady motion (GapFit::is_steady())
  float steady_s = 1.0f;          ///< mean time that steady motions last, s
  /// The acceleration that predicts best from the last publish, m/s^2. It may not have been sent. Empty if
  /// the fit knew too little.
  std::optional<glm::vec3> predicting_acceleration;

  void add_subscriber(bool shows_past) {
    ++subscribers;
    if (!shows_past) ++predicting;
  }
  void remove_subscriber(bool shows_past) {
    --subscribers;
    if (!shows_past) --predicting;
  }

  /// True if all subscribers interpolate, so that only the error of the curve between publishes matters.
  [[nodiscard]] bool interpolated() const { return subscribers > 0 && predicting == 0; }
};

/// The newest motion of an entity that a client owns. It comes from the owner, or from the server while the
/// server replaces the owner's motions.
struct OwnedMotion {
  QuantisedState encoded;
  Motion motion;       ///< the motion that clients decode from `encoded`
  Tick tick = 0;       ///< time stamp of the motion
  bool fresh = false;  ///< true until the motion is published
};

/// What the spawn of a short-lived entity contains besides its motion.
struct ShortLivedInfo {
  std::optional<double> end_s;   ///< server time of its end, s; empty: not known yet
  std::vector<std::byte> data;   ///< the game's bytes, at most kMaxSpawnDataBytes
  ClientId predicted_by;         ///< the client that has predicted the entity; null: no client has
  std::uint32_t prediction = 0;  ///< the key of that prediction
  /// The state at the spawn, and its server time, s. The server extrapolates it until the game moves the
  /// entity.
  struct Launch {
    State state;
    double time_s = 0.0;
  };
  std::optional<Launch> launch;
};

/// The server's data of one entity. The members that every tick reads come first so that fetch() can prefetch
/// them.
struct Entity {
  EntityId id;
  std::size_t archetype = 0;
  EntityId frame;  ///< frame of `truth`, as in the frame tree; null: the world frame
  State truth;     ///< from the game; every tick replaces velocities that cannot be right (`watch`)
  VelocityWatch watch{};
  std::uint8_t teleports = 0;
  bool teleported = false;        ///< the game teleported it since the last tick
  bool announced = false;         ///< its first motion was published
  bool publish_now = false;       ///< the next tick publishes it in any case
  std::uint32_t still_ticks = 0;  ///< ticks in a row without any motion and without a publish
  float move_left_s = 1.0f;       ///< budget for its moves, s at top speed (TrueStates::move())
  Tick move_tick = 0;             ///< tick of the last refill of `move_left_s`

  Relevance relevance = Relevance::by_distance;
  std::uint32_t groups = kAllGroups;
  bool boardable = false;  ///< Server::set_boardable()

  std::unique_ptr<OwnedMotion> owned;           ///< null unless a client owns the entity
  std::unique_ptr<ShortLivedInfo> short_lived;  ///< null unless the entity is short-lived
  std::unique_ptr<GapFit> gap;                  ///< created when a level is interpolated() for the first time
  MotionFit fit;
  std::array<EntityLevel, kLevels> levels;

  std::optional<RouteFollower> follower;  ///< set while the game has the entity follow a route
  std::uint64_t user_value = 0;           ///< Server::set_user_value()
  std::string name;

  /// Prefetch the members that every tick reads, in two steps. fetch_lesson() reads what fetch() has
  /// prefetched. The members of thousands of entities do not fit into the processor's caches, but the order
  /// of access is known in advance.
  void fetch() const {
    prefetch(this, static_cast<std::size_t>(reinterpret_cast<const char*>(&fit) -
                                            reinterpret_cast<const char*>(this)));
    fit.fetch();
    prefetch(levels.data(), sizeof(EntityLevel));
  }
  void fetch_lesson() const { fit.fetch_lesson(); }
};

/// All entities by slot. A freed slot stays in quarantine for `quarantine_ticks` before it is used again.
/// After that time, clients no longer accept state datagrams sent before the slot was freed. Otherwise a
/// client could decode a delayed datagram with the archetype of the next entity in the slot.
class EntityTable {
 public:
  EntityTable(std::uint32_t max_entities, Tick quarantine_ticks)
      : max_entities_(max_entities), quarantine_ticks_(quarantine_ticks) {}

  /// Adds an entity, awake and in the world frame, and returns its id. Null if the table is full.
  [[nodiscard]] EntityId add(Entity entity, Tick tick);

  /// Adds the entity that `make()` returns under a given id, and returns the id. Null if the table is full or
  /// the slot is in use. A table must use either add() or add_as(), because ids of add_as() come from
  /// elsewhere. Free slots below the id take memory, too.
  template <class Make>
  [[nodiscard]] EntityId add_as(EntityId id, const Make& make) {
    if (!id || id.index1 > kMaxEntities || size_ >= max_entities_) return {};
    assigned_ = true;
    while (slots_.size() <= id.slot())
      slots_.push_back(make());
    return put(id, make()) ? id : EntityId{};
  }

  /// Null if the entity does not exist.
  [[nodiscard]] Entity* find(EntityId id);
  [[nodiscard]] const Entity* find(EntityId id) const;

  void remove(EntityId id, Tick tick);

  /// One entry per slot that was ever used. The entry of a free slot has a null id.
  [[nodiscard]] std::vector<Entity>& slots() { return slots_; }
  [[nodiscard]] const std::vector<Entity>& slots() const { return slots_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// The head of every publish stream, at index slot * kLevels + level, as of its last publish.
  [[nodiscard]] std::vector<StreamHead>& heads() { return heads_; }
  [[nodiscard]] const std::vector<StreamHead>& heads() const { return heads_; }

  /// The frames of all entities. Only put_into() may change them.
  [[nodiscard]] const FrameTree& frames() const { return frames_; }
  /// Moves `entity` into `frame` (null: the world frame) with the state `truth`, and wakes it. The caller
  /// must have checked that FrameTree::fit() returns `fits`.
  void put_into(Entity& entity, EntityId frame, const State& truth);
  /// The entity's true state in the world frame.
  [[nodiscard]] State in_world(const Entity& entity) const;
  /// The entity's true position in the world frame, m.
  [[nodiscard]] glm::dvec3 position_in_world(const Entity& entity) const {
    return entity.frame ? in_world(entity).position : entity.truth.position;
  }

  /// The slots of the entities that every tick must examine. All others are asleep: they are at rest, and a
  /// motion that says so has been published.
  [[nodiscard]] SlotSet& awake() { return awake_; }
  [[nodiscard]] const SlotSet& awake() const { return awake_; }

 private:
  bool put(EntityId id, Entity entity);

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
  bool assigned_ = false;    // ids come from add_as()
  std::size_t size_ = 0;
};

}  // namespace reckoner
