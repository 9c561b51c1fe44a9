// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <glm/vec3.hpp>

namespace reckoner {

/// Answers "which entities are within this distance?" for entities known by slot.
///
/// A uniform grid of square cells over the horizontal plane (z is up). The cells wrap round a torus of 256 x
/// 256 buckets: cells that lie a multiple of 256 apart share one, and the test of the distance, which is
/// needed anyway, tells their entities apart. So the world may have any size, a cell is found without hashing
/// or searching, and memory is bounded by the entities: 256 bytes for every eight in a bucket, 16 bytes for
/// every slot, and 256 KiB. Nothing is allocated unless there are more entities, or more buckets in use, than
/// ever before.
///
/// Any position is safe: beyond 2^29 cells from the origin cells grow without limit, infinities and NaN are
/// never within any distance. One thread changes it at a time; several may ask meanwhile if none changes it.
class InterestGrid {
 public:
  /// `cell_m` > 0, m: about half the usual radius. A larger cell makes asking look at more entities that are
  /// too far away, a smaller one at more cells and lets moving entities change theirs more often.
  explicit InterestGrid(double cell_m);

  /// Puts the entity of this slot at a place, in m, wherever it was before. Takes the same time however many
  /// entities there are, least while it stays in its cell. Slots are small: memory goes with the largest.
  void place(std::uint32_t slot, const glm::dvec3& position);

  /// Forgets the entity. Does nothing if it is not there.
  void remove(std::uint32_t slot);

  [[nodiscard]] std::size_t size() const { return size_; }

  /// Calls f(slot, distance2_m2) once for every entity at most `radius_m` from `centre`, in three dimensions,
  /// the squared distance in m^2. Nothing is within a negative radius. `f` must not change the grid.
  ///
  /// The order is that in which the entities came into their cells, which may differ between two grids that
  /// hold the same; sort the slots where the order matters. (Cells in order would have to be sorted whenever
  /// an entity enters one; those who ask mostly want to know who is new, which is few of the found.)
  template <class F>
  void within(const glm::dvec3& centre, double radius_m, F&& f) const;

  /// What it keeps on the heap, bytes. Constant once warm.
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
  // Entities of one bucket, component by component so that compilers compute several distances at once.
  struct alignas(64) Block {
    std::array<double, kLanes> x, y, z;
    std::array<std::uint32_t, kLanes> slot;
    std::uint32_t next = kNone;  // in the bucket; only the first of a bucket may have free lanes
    std::uint32_t count = 0;     // lanes in use, the first ones
  };
  struct Where {
    Cell cell;
    std::uint32_t block = kNone;
    std::uint32_t lane = 0;
  };

  // Never falls where `metres` rises, which is what makes looking in a range of cells complete.
  [[nodiscard]] std::int32_t cell_index(double metres) const {
    const double index = std::floor(metres * cells_per_m_);
    if (!(index > -kFarthestCell)) return -kFarthestCell;
    return index < kFarthestCell ? static_cast<std::int32_t>(index) : kFarthestCell;
  }
  [[nodiscard]] static std::size_t bucket_of(std::int32_t x, std::int32_t y) {
    constexpr auto mask = static_cast<std::uint32_t>(kBucketsAcross - 1);
    return (static_cast<std::uint32_t>(y) & mask) * kBucketsAcross + (static_cast<std::uint32_t>(x) & mask);
  }
  [[nodiscard]] std::uint32_t take_block();

  template <class F>
  static void within_block(const Block& block, const glm::dvec3& centre, double radius2_m2, F& f);

  double cell_m_;
  double cells_per_m_;
  std::size_t size_ = 0;
  std::vector<std::uint32_t> buckets_;  // first block of each
  std::vector<Block> blocks_;
  std::vector<Where> where_;  // by slot
  std::uint32_t free_block_ = kNone;
};

template <class F>
void InterestGrid::within_block(const Block& block, const glm::dvec3& centre, double radius2_m2, F& f) {
  std::array<double, kLanes> distance2_m2;
  for (std::uint32_t i = 0; i < kLanes; ++i) {  // free lanes too: a fixed count vectorises
    const double dx = block.x[i] - centre.x, dy = block.y[i] - centre.y, dz = block.z[i] - centre.z;
    distance2_m2[i] = dx * dx + dy * dy + dz * dz;
  }
  // Collected without branches first: whether one is near enough is what a processor cannot foresee.
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
  // What the rounding of coordinates and cell borders may come to; costs a cell more at most.
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
    // The row's part of the circle: half a chord at the row's nearest border.
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

}  // namespace reckoner
