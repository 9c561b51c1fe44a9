// SPDX-License-Identifier: MIT
#include "server/src/interest/spatial_index.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <benchmark/benchmark.h>
#include <glm/vec2.hpp>

namespace reckoner {
namespace {

constexpr double kRadius_m = 100.0;
constexpr double kCell_m = kRadius_m / 2.0;
constexpr double kNeighbours = 100.0;  // average number of entities within the radius

/// Entities distributed evenly in a square, but without a pattern that matches the cells.
class Crowd {
 public:
  explicit Crowd(std::uint32_t count)
      : side_m_(std::sqrt(count * std::numbers::pi * kRadius_m * kRadius_m / kNeighbours)) {
    for (std::uint32_t i = 0; i < count; ++i)
      positions_.push_back(spot(i));
  }

  /// The position of entity i, m, by a low-discrepancy sequence (M. Roberts 2018, "R2": multiples of the
  /// powers of the plastic number).
  [[nodiscard]] glm::dvec3 spot(std::uint32_t i) const {
    const double x = i * 0.7548776662466927, y = i * 0.5698402909980532;
    return {side_m_ * (x - std::floor(x)), side_m_ * (y - std::floor(y)), 0.0};
  }
  void fill(InterestGrid& grid) const {
    for (std::uint32_t slot = 0; slot < positions_.size(); ++slot)
      grid.set_position(slot, positions_[slot]);
  }
  [[nodiscard]] std::vector<glm::dvec3>& positions() { return positions_; }

 private:
  double side_m_;
  std::vector<glm::dvec3> positions_;
};

// The cost of moving every entity in a tick, at 10 m/s and 60 ticks/s.
void BM_InterestPlace(benchmark::State& run) {
  const auto count = static_cast<std::uint32_t>(run.range(0));
  Crowd crowd{count};
  InterestGrid grid{kCell_m};
  crowd.fill(grid);
  double direction = 1.0;
  int ticks = 0;
  for ([[maybe_unused]] auto _ : run) {
    if (++ticks % 3600 == 0) direction = -direction;
    for (std::uint32_t slot = 0; slot < count; ++slot) {
      glm::dvec3& p = crowd.positions()[slot];
      p.x += direction * (10.0 / 60.0);
      grid.set_position(slot, p);
    }
  }
  run.SetItemsProcessed(run.iterations() * count);
}
BENCHMARK(BM_InterestPlace)->Arg(1000)->Arg(10'000)->Arg(65'536);

// The cost of one client's query, with the result unsorted or sorted by slot.
template <bool kSorted>
void BM_InterestWithin(benchmark::State& run) {
  Crowd crowd{static_cast<std::uint32_t>(run.range(0))};
  InterestGrid grid{kCell_m};
  crowd.fill(grid);
  std::vector<std::uint32_t> found;
  std::uint32_t client = 0;
  std::size_t total = 0;
  for ([[maybe_unused]] auto _ : run) {
    found.clear();
    grid.within(crowd.spot(++client % 4096), kRadius_m,
                [&](std::uint32_t slot, double) { found.push_back(slot); });
    if constexpr (kSorted) std::ranges::sort(found);
    benchmark::DoNotOptimize(found.data());
    total += found.size();
  }
  run.SetItemsProcessed(static_cast<std::int64_t>(total));
  run.counters["found"] = static_cast<double>(total) / static_cast<double>(run.iterations());
}
BENCHMARK(BM_InterestWithin<false>)->Arg(1000)->Arg(10'000)->Arg(65'536);
BENCHMARK(BM_InterestWithin<true>)->Arg(1000)->Arg(10'000)->Arg(65'536);

}  // namespace
}  // namespace reckoner
