// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/frame.hpp>

namespace reckoner {

/// Which entity lives in the frame of which other, by slot. Never goes round, and is never deeper than
/// kMostFrames. Where nothing lives in anything it costs nothing.
class FrameTree {
 public:
  /// The entity in whose frame this one lives; null: the world.
  [[nodiscard]] EntityId frame_of(std::uint32_t slot) const {
    return slot < nodes_.size() ? nodes_[slot].frame : EntityId{};
  }

  /// The slots of all that live in its frame, each once.
  [[nodiscard]] std::span<const std::uint32_t> inside(std::uint32_t slot) const {
    return slot < nodes_.size() ? std::span<const std::uint32_t>{nodes_[slot].inside}
                                : std::span<const std::uint32_t>{};
  }

  /// The slots of all that live in some frame, in order.
  [[nodiscard]] std::span<const std::uint32_t> members() const { return members_; }

  enum class Fit : std::uint8_t { fits, circle, too_deep };
  /// Whether `id` can live in the frame of `frame`, with all that lives in its own; null: one in which
  /// nothing does.
  [[nodiscard]] Fit fit(EntityId id, EntityId frame) const;

  /// Puts it there; it must fit. Null: into the world.
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
