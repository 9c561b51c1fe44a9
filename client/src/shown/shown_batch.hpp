// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/world/entity_store.hpp"
#include "client/src/world/frames.hpp"
#include "reckoning/src/blend/motion_batch.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The poses of all visible entities as arrays, sampled in one pass. Entities that a MotionBatch supports are
/// in the batch, which is updated only when they change. All others (on a route, in buffered modes, about to
/// end) are sampled one by one. Entities are numbered without gaps; those of the batch come first. The order
/// is otherwise arbitrary.
class ShownBatch {
 public:
  /// Call when the entity in this slot has changed, appeared or gone (null).
  void update(std::uint32_t slot, const KnownEntity* entity);

  /// Fills the arrays for the instant `shown_s`, with world positions relative to `origin`, m.
  /// Frames::begin() must have been called for this instant.
  void sample(double shown_s, const EntityStore& entities, Frames& frames, const glm::dvec3& origin);

  /// Adds an entity to the results of the last sample().
  void append(EntityId id, const Pose& pose) {
    ids_.push_back(id);
    positions_.push_back(pose.position);
    orientations_.push_back(pose.orientation);
  }

  /// True if the slot's entity is in the batch.
  [[nodiscard]] bool contains(std::uint32_t slot) const {
    return slot < in_batch_.size() && in_batch_[slot] != kNoIndex;
  }

  /// The slots of the entities that are sampled one by one.
  [[nodiscard]] std::span<const std::uint32_t> unbatched() const { return unbatched_; }

  // Results of the last sample().
  [[nodiscard]] std::span<const EntityId> ids() const { return ids_; }
  [[nodiscard]] std::span<const glm::dvec3> positions() const { return positions_; }
  [[nodiscard]] std::span<const glm::quat> orientations() const { return orientations_; }

 private:
  static constexpr std::uint32_t kNoIndex = std::numeric_limits<std::uint32_t>::max();

  void keep_future_motions(double shown_s, const EntityStore& entities);
  void remove_batched(std::uint32_t slot);
  void remove_unbatched(std::uint32_t slot);
  void set_frame(std::size_t number, FrameId frame);
  void put_into_world(Frames& frames);
  void drop(std::size_t place);

  MotionBatch batch_;
  std::vector<EntityId> batch_ids_;                             // by number in the batch
  std::vector<FrameId> batch_frames_;                           // by number in the batch
  double newest_s_ = -std::numeric_limits<double>::infinity();  // no motion in the batch is newer, s
  std::size_t framed_ = 0;                                      // number of batch entities in a frame
  std::vector<std::uint32_t> unbatched_;                        // slots sampled one by one
  std::vector<std::uint32_t> in_batch_;                         // by slot: number in the batch, or kNoIndex
  std::vector<std::uint32_t> in_unbatched_;                     // by slot: index in unbatched_, or kNoIndex
  std::vector<EntityId> ids_;
  std::vector<FrameId> frames_;  // filled only if some entity is in a frame
  std::vector<glm::dvec3> positions_;
  std::vector<glm::quat> orientations_;
};

}  // namespace reckoner
