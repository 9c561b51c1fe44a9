// SPDX-License-Identifier: MIT
#include "server/src/world/entity_table.hpp"

#include "net/src/messages/messages.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

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
  return frames > 0 && frames + height(slot_of(id)) > kMaxFrameDepth ? Fit::too_deep : Fit::fits;
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

EntityId EntityTable::add(Entity entity, Tick tick) {
  if (size_ >= max_entities_) return {};
  std::uint32_t slot = static_cast<std::uint32_t>(slots_.size());
  std::uint16_t generation = 1;
  if (!freed_.empty() && tick - freed_.front().tick >= quarantine_ticks_) {
    slot = freed_.front().slot;
    generation = static_cast<std::uint16_t>(freed_.front().generation + 1);
    freed_.pop_front();
  } else if (slot >= kMaxEntities) {
    return {};
  }
  entity.id = {slot + 1, generation};
  entity.frame = {};
  if (slot == slots_.size()) {
    slots_.push_back(std::move(entity));
    heads_.resize(slots_.size() * kLevels);
  } else {
    slots_[slot] = std::move(entity);
  }
  std::fill_n(heads_.begin() + static_cast<std::ptrdiff_t>(slot * kLevels), kLevels, StreamHead{});
  ++size_;
  awake_.insert(slot);
  return slots_[slot].id;
}

// Puts an entity into a slot. Returns false if another entity is there.
bool EntityTable::put(EntityId id, Entity entity) {
  const std::size_t slot = id.slot();
  if (slots_[slot].id) return false;
  heads_.resize(slots_.size() * kLevels);
  entity.id = id;
  entity.frame = {};
  slots_[slot] = std::move(entity);
  std::fill_n(heads_.begin() + static_cast<std::ptrdiff_t>(slot * kLevels), kLevels, StreamHead{});
  ++size_;
  awake_.insert(static_cast<std::uint32_t>(slot));
  return true;
}

Entity* EntityTable::find(EntityId id) {
  if (!id || id.slot() >= slots_.size() || slots_[id.slot()].id != id) return nullptr;
  return &slots_[id.slot()];
}

const Entity* EntityTable::find(EntityId id) const {
  if (!id || id.slot() >= slots_.size() || slots_[id.slot()].id != id) return nullptr;
  return &slots_[id.slot()];
}

// The fit keeps what it learned about how the entity moves, but drops the recent samples, because their
// coordinates are in the old frame.
void EntityTable::put_into(Entity& entity, EntityId frame, const State& truth) {
  frames_.put(entity.id, frame);
  entity.frame = frame;
  entity.truth = truth;
  entity.watch.restart(truth);
  entity.follower.reset();
  entity.fit.restart();
  if (entity.gap) entity.gap->restart();
  entity.still_ticks = 0;
  awake_.insert(static_cast<std::uint32_t>(entity.id.slot()));
}

State EntityTable::in_world(const Entity& entity) const {
  State state = entity.truth;
  for (EntityId frame = entity.frame; frame; frame = slots_[frame.slot()].frame)
    state = out_of_frame(slots_[frame.slot()].truth, state);
  return state;
}

void EntityTable::remove(EntityId id, Tick tick) {
  Entity* entity = find(id);
  if (entity == nullptr) return;
  if (!assigned_) freed_.push_back({static_cast<std::uint32_t>(id.slot()), id.generation, tick});
  awake_.erase(static_cast<std::uint32_t>(id.slot()));
  assert(frames_.inside(static_cast<std::uint32_t>(id.slot())).empty());
  frames_.put(id, {});
  entity->frame = {};
  entity->id = {};
  --size_;
}

}  // namespace reckoner
