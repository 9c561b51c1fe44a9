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

/// All that a client shows as arrays, sampled in one pass. What a MotionBatch can carry is in it, brought up
/// to date only when it changes; the rest (on a route, in buffered mode, about to vanish) is shown one by
/// one. Entities are numbered without gaps, those of the batch first, in no other order.
class ShownBatch {
 public:
  /// An entity of the store has changed, come or gone.
  void update(std::uint32_t slot, const KnownEntity* entity);

  /// Fills the arrays for the instant `shown_s`, for which `frames` has begun: in the world, counted from
  /// `origin`.
  void sample(double shown_s, const EntityStore& entities, Frames& frames, const glm::dvec3& origin);

  [[nodiscard]] bool holds(std::uint32_t slot) const {
    return slot < in_batch_.size() && in_batch_[slot] != kNowhere;
  }

  /// The slots that are shown one by one.
  [[nodiscard]] std::span<const std::uint32_t> alone() const { return alone_; }

  // Of the last sample().
  [[nodiscard]] std::span<const EntityId> ids() const { return ids_; }
  [[nodiscard]] std::span<const glm::dvec3> positions() const { return positions_; }
  [[nodiscard]] std::span<const glm::quat> orientations() const { return orientations_; }

 private:
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

  void leave_batch(std::uint32_t slot);
  void leave_alone(std::uint32_t slot);
  void set_frame(std::size_t number, FrameId frame);
  void put_into_world(Frames& frames);
  void drop(std::size_t place);

  MotionBatch batch_;
  std::vector<EntityId> batch_ids_;      // by number in the batch
  std::vector<FrameId> batch_frames_;    // the same
  std::size_t framed_ = 0;               // how many of them are in a frame
  std::vector<std::uint32_t> alone_;     // slots
  std::vector<std::uint32_t> in_batch_;  // by slot: number in the batch, or kNowhere
  std::vector<std::uint32_t> in_alone_;  // by slot: place in alone_, or kNowhere
  std::vector<EntityId> ids_;
  std::vector<FrameId> frames_;  // only if any is in a frame
  std::vector<glm::dvec3> positions_;
  std::vector<glm::quat> orientations_;
};

}  // namespace reckoner
