// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/world/entity_table.hpp"
#include "server/src/world/slot_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <glm/vec3.hpp>

namespace reckoner {

/// Finds the entities within a distance of a point. The slot identifies an entity.
///
/// A uniform grid of square cells over the horizontal plane (z is up). The grid has 256 x 256 buckets, and
/// the cells are mapped to them modulo 256 in each direction. So two cells share a bucket if both their
/// indices differ by multiples of 256. Every search tests the distance of each entity anyway, so it does not
/// confuse the entities of such cells. The world may have any size, and a cell is found without hashing or
/// searching. Memory is bounded: 256 bytes for every eight entities of a bucket, 16 bytes for every slot, and
/// 256 KiB. The grid allocates only when the number of entities or of buckets in use exceeds its previous
/// maximum.
///
/// Any position is safe. The outermost cells, 2^29 cells from the origin, extend without limit. A search
/// never finds a position with an infinity or a NaN. Only one thread may change the grid at a time, and no
/// thread may search it meanwhile. Several threads may search it at once.
class InterestGrid {
 public:
  /// `cell_m` is the edge of a cell, m, above 0. The best value is about half the usual search radius. With
  /// larger cells, a search examines more entities that are too far away. With smaller cells, a search
  /// examines more cells, and moving entities change cells more often.
  explicit InterestGrid(double cell_m);

  /// Sets the position of the entity in this slot, m. Adds the entity if the grid does not contain it. The
  /// cost does not depend on the number of entities. It is lowest while the entity stays in its cell. Memory
  /// grows with the largest slot.
  void set_position(std::uint32_t slot, const glm::dvec3& position);

  /// Removes the entity. Does nothing if the grid does not contain it.
  void remove(std::uint32_t slot);

  [[nodiscard]] std::size_t size() const { return size_; }

  /// Calls f(slot, distance2_m2) once for every entity whose distance from `centre` is at most `radius_m`.
  /// distance2_m2 is the squared distance in three dimensions, m^2. A negative radius finds nothing. `f` must
  /// not change the grid.
  ///
  /// The order depends on when the entities entered their cells, so it may differ between two grids with the
  /// same entities. Sort the slots where the order matters. (Sorted cells would need a sort whenever an
  /// entity enters a cell. Callers mostly look for newly found entities, which are few.)
  template <class F>
  void within(const glm::dvec3& centre, double radius_m, F&& f) const;

  /// Heap memory in use, bytes. Constant once the grid has reached its largest size.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  static constexpr std::int32_t kBucketsAcross = 256;  // a power of two
  static constexpr std::int32_t kFarthestCell = 1 << 29;
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kLanes = 8;

  struct Cell {
    std::int32_t x = 0, y = 0;
    bool operator==(const Cell&) const = default;
  };
  // Entities of one bucket. Each coordinate has its own array, so that compilers vectorise the computation of
  // distances.
  struct alignas(64) Block {
    std::array<double, kLanes> x, y, z;
    std::array<std::uint32_t, kLanes> slot;
    std::uint32_t next = kNone;  // next block of the bucket; only the first block may have free lanes
    std::uint32_t count = 0;     // number of lanes in use; the used lanes come first
  };
  struct Location {
    Cell cell;
    std::uint32_t block = kNone;
    std::uint32_t lane = 0;
  };

  // The index never decreases when `metres` increases. Therefore a search over a range of cells misses
  // nothing.
  [[nodiscard]] std::int32_t cell_index(double metres) const {
    const double index = std::floor(metres * cells_per_m_);
    if (!(index > -kFarthestCell)) return -kFarthestCell;
    return index < kFarthestCell ? static_cast<std::int32_t>(index) : kFarthestCell;
  }
  [[nodiscard]] static std::size_t bucket_of(std::int32_t x, std::int32_t y) {
    constexpr auto mask = static_cast<std::uint32_t>(kBucketsAcross - 1);
    return (static_cast<std::uint32_t>(y) & mask) * kBucketsAcross + (static_cast<std::uint32_t>(x) & mask);
  }
  [[nodiscard]] std::uint32_t allocate_block();

  template <class F>
  static void within_block(const Block& block, const glm::dvec3& centre, double radius2_m2, F& f);

  double cell_m_;
  double cells_per_m_;
  std::size_t size_ = 0;
  std::vector<std::uint32_t> buckets_;  // index of each bucket's first block
  std::vector<Block> blocks_;
  std::vector<Location> locations_;  // index: slot
  std::uint32_t free_block_ = kNone;
};

template <class F>
void InterestGrid::within_block(const Block& block, const glm::dvec3& centre, double radius2_m2, F& f) {
  std::array<double, kLanes> distance2_m2;
  // Includes the free lanes, because compilers vectorise a loop with a fixed count.
  for (std::uint32_t i = 0; i < kLanes; ++i) {
    const double dx = block.x[i] - centre.x, dy = block.y[i] - centre.y, dz = block.z[i] - centre.z;
    distance2_m2[i] = dx * dx + dy * dy + dz * dz;
  }
  // Collects the hits without branches, because the processor cannot predict the comparison.
  std::array<std::uint32_t, kLanes> hits;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < block.count; ++i) {
    hits[count] = i;
    count += distance2_m2[i] <= radius2_m2 ? 1 : 0;
  }
  for (std::uint32_t k = 0; k < count; ++k)
    f(block.slot[hits[k]], distance2_m2[hits[k]]);
}

template <class F>
void InterestGrid::within(const glm::dvec3& centre, double radius_m, F&& f) const {
  if (!(radius_m >= 0.0)) return;
  const double radius2_m2 = radius_m * radius_m;
  // Upper bound for the rounding errors of coordinates and cell borders. It makes the search at most one cell
  // larger.
  const double slack_m = 8.0 * std::numeric_limits<double>::epsilon() *
                         (std::abs(centre.x) + std::abs(centre.y) + radius_m + cell_m_);
  const double reach_m = radius_m + slack_m;
  const std::int32_t first_y = cell_index(centre.y - reach_m), last_y = cell_index(centre.y + reach_m);
  const std::int32_t first_x = cell_index(centre.x - reach_m), last_x = cell_index(centre.x + reach_m);
  const std::int64_t rows = std::int64_t{last_y} - first_y + 1, columns = std::int64_t{last_x} - first_x + 1;
  if (rows >= kBucketsAcross || columns >= kBucketsAcross ||
      rows * columns >= static_cast<std::int64_t>(blocks_.size())) {
    for (const Block& block : blocks_)
      within_block(block, centre, radius2_m2, f);
    return;
  }
  for (std::int32_t y = first_y; y <= last_y; ++y) {
    // The part of the circle in this row of cells. `half_m` is half the chord at the border of the row that
    // is nearest to the centre.
    double dy_m = std::max({0.0, y * cell_m_ - centre.y, centre.y - (y + 1) * cell_m_}) - slack_m;
    if (std::abs(y) == kFarthestCell || dy_m < 0.0) dy_m = 0.0;
    const double half_m = std::sqrt(std::max(0.0, reach_m * reach_m - dy_m * dy_m)) + slack_m;
    const std::int32_t end_x = std::min(cell_index(centre.x + half_m), last_x);
    for (std::int32_t x = std::max(cell_index(centre.x - half_m), first_x); x <= end_x; ++x) {
      for (std::uint32_t at = buckets_[bucket_of(x, y)]; at != kNone; at = blocks_[at].next)
        within_block(blocks_[at], centre, radius2_m2, f);
    }
  }
}

/// The positions of all entities. Moving entities and entities at rest are in separate grids. A search for
/// moving entities may find new entities every time. A search for entities at rest finds new entities only
/// after the client's eye has moved.
///
/// An entity that comes to rest is "settling" for one interest interval and stays in the grid of moving
/// entities meanwhile. Every client searches once in that time, so no client misses it between the two grids.
class SpatialIndex {
 public:
  /// Every client searches once in `interval_ticks`. `cell_m` is the edge of a cell, m (see InterestGrid).
  SpatialIndex(double cell_m, Tick interval_ticks)
      : interval_ticks_(interval_ticks), moving_(cell_m), resting_(cell_m) {}

  /// Sets the position of an entity, m, and counts the entity as moving. Adds the entity if the index does
  /// not contain it.
  void set_position(std::uint32_t slot, const glm::dvec3& position);
  void remove(std::uint32_t slot);
  /// Call once a tick. Updates the positions of some of the moving entities, and notes which entities have
  /// come to rest or moved again.
  void update_positions(const EntityTable& entities, Tick tick);

  /// Entities that move or settle.
  [[nodiscard]] const InterestGrid& moving() const { return moving_; }
  /// Entities at rest.
  [[nodiscard]] const InterestGrid& resting() const { return resting_; }

  /// Calls `f(slot)` for every entity that moves or settles.
  template <class F>
  void not_at_rest(F&& f) const {
    moving_slots_.for_each(f);
    settling_.for_each(f);
  }

  [[nodiscard]] bool is_settling(std::uint32_t slot) const { return settling_.contains(slot); }
  [[nodiscard]] bool is_resting(std::uint32_t slot) const { return at_rest_.contains(slot); }
  /// The slots of the entities at rest.
  [[nodiscard]] const SlotSet& at_rest() const { return at_rest_; }

 private:
  // An entity that came to rest at tick `since`.
  struct Settling {
    std::uint32_t slot;
    Tick since;
  };
  void note_sleep_changes(const EntityTable& entities, Tick tick, std::size_t word);

  Tick interval_ticks_;
  InterestGrid moving_, resting_;
  SlotSet moving_slots_, settling_, at_rest_;  // each slot in the index is in exactly one of these sets
  std::vector<Settling> settling_order_;       // oldest first; some entities have moved again since
  std::vector<Tick> settling_since_;           // tick of coming to rest, by slot
};

}  // namespace reckoner
