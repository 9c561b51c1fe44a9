// SPDX-License-Identifier: MIT
#include "server/src/interest/spatial_index.hpp"

#include <algorithm>
#include <cassert>

namespace reckoner {

InterestGrid::InterestGrid(double cell_m)
    : cell_m_(cell_m), cells_per_m_(1.0 / cell_m), buckets_(kBucketsAcross * kBucketsAcross, kNone) {
  assert(cell_m > 0.0 && std::isfinite(cell_m) && std::isfinite(cells_per_m_));
}

void InterestGrid::set_position(std::uint32_t slot, const glm::dvec3& position) {
  if (slot >= locations_.size()) locations_.resize(std::size_t{slot} + 1);
  const Cell cell{cell_index(position.x), cell_index(position.y)};
  Location& location = locations_[slot];
  if (location.block == kNone || location.cell != cell) {
    remove(slot);
    std::uint32_t& first = buckets_[bucket_of(cell.x, cell.y)];
    if (first == kNone || blocks_[first].count == kLanes) {
      const std::uint32_t fresh = allocate_block();
      blocks_[fresh].next = first;
      first = fresh;
    }
    location = {cell, first, blocks_[first].count++};
    ++size_;
  }
  Block& block = blocks_[location.block];
  block.x[location.lane] = position.x;
  block.y[location.lane] = position.y;
  block.z[location.lane] = position.z;
  block.slot[location.lane] = slot;
}

void InterestGrid::remove(std::uint32_t slot) {
  if (slot >= locations_.size() || locations_[slot].block == kNone) return;
  Location& location = locations_[slot];
  // Moves the newest entity of the bucket into the free lane, so that all blocks except the first stay full.
  std::uint32_t& first = buckets_[bucket_of(location.cell.x, location.cell.y)];
  Block& from = blocks_[first];
  const std::uint32_t last = --from.count;
  Block& to = blocks_[location.block];
  to.x[location.lane] = from.x[last];
  to.y[location.lane] = from.y[last];
  to.z[location.lane] = from.z[last];
  to.slot[location.lane] = from.slot[last];
  Location& moved = locations_[from.slot[last]];
  moved.block = location.block;
  moved.lane = location.lane;
  location.block = kNone;  // must come last, because the moved entity may be the removed entity itself
  if (from.count == 0) {
    const std::uint32_t emptied = first;
    first = from.next;
    from.next = free_block_;
    free_block_ = emptied;
  }
  --size_;
}

std::uint32_t InterestGrid::allocate_block() {
  if (free_block_ == kNone) {
    blocks_.push_back({});
    return static_cast<std::uint32_t>(blocks_.size() - 1);
  }
  const std::uint32_t taken = free_block_;
  free_block_ = blocks_[taken].next;
  return taken;
}

std::size_t InterestGrid::memory_bytes() const {
  return buckets_.capacity() * sizeof(std::uint32_t) + blocks_.capacity() * sizeof(Block) +
         locations_.capacity() * sizeof(Location);
}

void SpatialIndex::set_position(std::uint32_t slot, const glm::dvec3& position) {
  if (at_rest_.contains(slot)) resting_.remove(slot);
  at_rest_.erase(slot);
  settling_.erase(slot);
  moving_slots_.insert(slot);
  moving_.set_position(slot, position);
}

void SpatialIndex::remove(std::uint32_t slot) {
  moving_.remove(slot);
  resting_.remove(slot);
  moving_slots_.erase(slot);
  settling_.erase(slot);
  at_rest_.erase(slot);
}

void SpatialIndex::update_positions(const EntityTable& entities, Tick tick) {
  for (std::size_t word = 0; word < moving_slots_.words().size(); ++word)
    note_sleep_changes(entities, tick, word);
  const auto replace = [&](std::uint32_t slot) {
    if ((slot + tick) % interval_ticks_ == 0)
      set_position(slot, entities.position_in_world(entities.slots()[slot]));
  };
  // Entities fall asleep long after their last move, so their final position is not missed. Entities in a
  // frame move with the frame even while they sleep.
  entities.awake().for_each(replace);
  std::ranges::for_each(entities.frames().members(), replace);
  // Every client has searched since these entities began to settle: they are at rest now.
  const auto early =
      std::find_if(settling_order_.begin(), settling_order_.end(),
                   [&](const Settling& settling) { return tick - settling.since < interval_ticks_; });
  std::for_each(settling_order_.begin(), early, [&](const Settling& settling) {
    const std::uint32_t slot = settling.slot;
    if (!settling_.contains(slot) || settling_since_[slot] != settling.since) return;
    settling_.erase(slot);
    moving_.remove(slot);
    at_rest_.insert(slot);
    resting_.set_position(slot, entities.position_in_world(entities.slots()[slot]));
  });
  settling_order_.erase(settling_order_.begin(), early);
}

// Notes which entities have woken up or fallen asleep since the last tick.
void SpatialIndex::note_sleep_changes(const EntityTable& entities, Tick tick, std::size_t word) {
  const std::uint64_t awake = entities.awake().word(word);
  SlotSet::for_each_in(awake & (settling_.word(word) | at_rest_.word(word)), word, [&](std::uint32_t slot) {
    set_position(slot, entities.position_in_world(entities.slots()[slot]));
  });
  SlotSet::for_each_in(moving_slots_.word(word) & ~awake, word, [&](std::uint32_t slot) {
    if (entities.slots()[slot].frame) return;
    moving_slots_.erase(slot);
    settling_.insert(slot);
    if (slot >= settling_since_.size()) settling_since_.resize(entities.slots().size());
    settling_since_[slot] = tick;
    settling_order_.push_back({slot, tick});
  });
}

}  // namespace reckoner
