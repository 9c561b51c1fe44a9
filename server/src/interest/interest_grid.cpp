// SPDX-License-Identifier: MIT
#include "server/src/interest/interest_grid.hpp"

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
  // Moves the newest entity of the bucket into the free lane, so that only the first block is ever partly
  // full.
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
  location.block = kNone;  // last, because the moved entity may be the removed one
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

}  // namespace reckoner
