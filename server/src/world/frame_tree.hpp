// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/frame.hpp>

namespace reckoner {

/// The tree of frames, by slot: which entity is in the frame of which other. It has no circles and is at most
/// kMostFrames deep. It uses no memory until an entity enters a frame.
class FrameTree {
 public:
  /// The entity in whose frame the slot's entity is; null: the world frame.
  [[nodiscard]] EntityId frame_of(std::uint32_t slot) const {
    return slot < nodes_.size() ? nodes_[slot].frame : EntityId{};
  }

  /// The slots of the entities directly in the frame of the slot's entity, each once.
  [[nodiscard]] std::span<const std::uint32_t> inside(std::uint32_t slot) const {
    return slot < nodes_.size() ? std::span<const std::uint32_t>{nodes_[slot].inside}
                                : std::span<const std::uint32_t>{};
  }

  /// The slots of all entities that are in a frame other than the world, in ascending order.
  [[nodiscard]] std::span<const std::uint32_t> members() const { return members_; }

  enum class Fit : std::uint8_t { fits, circle, too_deep };
  /// Checks whether `id`, with all entities in its own frame, can enter the frame of `frame`. `id` may be
  /// null: a new entity with nothing in its frame. A null `frame` is the world frame, which always fits.
  [[nodiscard]] Fit fit(EntityId id, EntityId frame) const;

  /// Moves `id` into the frame of `frame` (null: the world frame). fit() must have returned `fits`.
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

}  // namespace reckoner
