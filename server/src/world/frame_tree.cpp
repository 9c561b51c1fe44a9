// SPDX-License-Identifier: MIT
#include "server/src/world/frame_tree.hpp"

#include <algorithm>
#include <cassert>

namespace reckoner {
namespace {

std::uint32_t slot_of(EntityId id) {
  return static_cast<std::uint32_t>(id.slot());
}

}  // namespace

int FrameTree::height(std::uint32_t slot) const {
  int most = 0;
  for (const std::uint32_t child : inside(slot))
    most = std::max(most, 1 + height(child));
  return most;
}

FrameTree::Fit FrameTree::fit(EntityId id, EntityId frame) const {
  int frames = 0;
  for (EntityId outer = frame; outer; outer = frame_of(slot_of(outer))) {
    if (outer.slot() == id.slot()) return Fit::circle;
    ++frames;
  }
  return frames > 0 && frames + height(slot_of(id)) > kMostFrames ? Fit::too_deep : Fit::fits;
}

void FrameTree::put(EntityId id, EntityId frame) {
  assert(fit(id, frame) == Fit::fits);
  const std::uint32_t slot = slot_of(id);
  const EntityId before = frame_of(slot);
  if (before == frame) return;
  if (before) std::erase(nodes_[before.slot()].inside, slot);
  const std::size_t needed = std::max<std::size_t>(slot, frame ? frame.slot() : 0) + 1;
  if (needed > nodes_.size()) nodes_.resize(needed);
  nodes_[slot].frame = frame;
  if (frame) nodes_[frame.slot()].inside.push_back(slot);
  const auto place = std::lower_bound(members_.begin(), members_.end(), slot);
  const bool member = place != members_.end() && *place == slot;
  if (frame && !member) members_.insert(place, slot);
  if (!frame && member) members_.erase(place);
}

}  // namespace reckoner
