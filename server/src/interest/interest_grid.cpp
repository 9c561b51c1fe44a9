// SPDX-License-Identifier: MIT
#include "server/src/interest/interest_grid.hpp"

#include <cassert>

namespace reckoner {

InterestGrid::InterestGrid(double cell_m)
    : cell_m_(cell_m), cells_per_m_(1.0 / cell_m), buckets_(kBucketsAcross * kBucketsAcross, kNone) {
  assert(cell_m > 0.0 && std::isfinite(cell_m) && std::isfinite(cells_per_m_));
}

void InterestGrid::place(std::uint32_t slot, const glm::dvec3& position) {
  if (slot >= where_.size()) where_.resize(std::size_t{slot} + 1);
  const Cell cell{cell_index(position.x), cell_index(position.y)};
  Where& where = where_[slot];
  if (where.block == kNone || where.cell != cell) {
    remove(slot);
    std::uint32_t& first = buckets_[bucket_of(cell.x, cell.y)];
    if (first == kNone || blocks_[first].count == kLanes) {
      const std::uint32_t fresh = take_block();
      blocks_[fresh].next = first;
      first = fresh;
    }
    where = {cell, first, blocks_[first].count++};
    ++size_;
  }
  Block& block = blocks_[where.block];
  block.x[where.lane] = position.x;
  block.y[where.lane] = position.y;
  block.z[where.lane] = position.z;
  block.slot[where.lane] = slot;
}

void InterestGrid::remove(std::uint32_t slot) {
  if (slot >= where_.size() || where_[slot].block == kNone) return;
  Where& where = where_[slot];
  // Moves the newest entity of the bucket into the free lane, so that only the first block is ever partly
  // full.
  std::uint32_t& first = buckets_[bucket_of(where.cell.x, where.cell.y)];
  Block& from = blocks_[first];
  const std::uint32_t last = --from.count;
  Block& to = blocks_[where.block];
  to.x[where.lane] = from.x[last];
  to.y[where.lane] = from.y[last];
  to.z[where.lane] = from.z[last];
  to.slot[where.lane] = from.slot[last];
  Where& moved = where_[from.slot[last]];
  moved.block = where.block;
  moved.lane = where.lane;
  where.block = kNone;  // last, because the moved entity may be the removed one
  if (from.count == 0) {
    const std::uint32_t emptied = first;
    first = from.next;
    from.next = free_block_;
    free_block_ = emptied;
  }
  --size_;
}

std::uint32_t InterestGrid::take_block() {
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
         where_.capacity() * sizeof(Where);
}

}  // namespace reckoner
