// SPDX-License-Identifier: MIT
#include "scenario/builtin/random.hpp"
#include "server/src/interest/spatial_index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Found {
  std::uint32_t slot;
  double distance2_m2;
  auto operator<=>(const Found&) const = default;
};

/// A grid and a plain list. Every answer of the grid is compared with the list.
class Checked {
 public:
  explicit Checked(double cell_m) : grid_(cell_m) {}

  void set_position(std::uint32_t slot, const glm::dvec3& position) {
    grid_.set_position(slot, position);
    plain_[slot] = position;
  }
  void remove(std::uint32_t slot) {
    grid_.remove(slot);
    plain_.erase(slot);
  }

  /// Returns the number of entities found. The test fails if the list gives other entities.
  std::size_t ask(const glm::dvec3& centre, double radius_m) const {
    std::vector<Found> found;
    grid_.within(centre, radius_m, [&](std::uint32_t slot, double d2) { found.push_back({slot, d2}); });
    std::ranges::sort(found);
    std::vector<Found> expected;
    for (const auto& [slot, p] : plain_) {
      const glm::dvec3 d = p - centre;
      const double d2 = d.x * d.x + d.y * d.y + d.z * d.z;
      if (radius_m >= 0.0 && d2 <= radius_m * radius_m) expected.push_back({slot, d2});
    }
    EXPECT_EQ(found, expected) << "within " << radius_m << " m of " << centre.x << ", " << centre.y;
    EXPECT_EQ(grid_.size(), plain_.size());
    return found.size();
  }

  const InterestGrid& grid() const { return grid_; }
  const std::map<std::uint32_t, glm::dvec3>& plain() const { return plain_; }

 private:
  InterestGrid grid_;
  std::map<std::uint32_t, glm::dvec3> plain_;
};

glm::dvec3 anywhere(scenario::Random& random, double size_m) {
  return {random.uniform(-size_m, size_m), random.uniform(-size_m, size_m), random.uniform(-50.0, 50.0)};
}

void churn(double cell_m, double world_m, std::uint64_t seed) {
  scenario::Random random{seed};
  Checked checked{cell_m};
  std::size_t found = 0;
  for (int step = 0; step < 3000; ++step) {
    const auto slot = static_cast<std::uint32_t>(random.below(400));
    if (random.chance(0.15)) {
      checked.remove(slot);  // includes slots that are not in the grid
    } else if (const auto at = checked.plain().find(slot);
               at != checked.plain().end() && random.chance(0.7)) {
      checked.set_position(slot, at->second + anywhere(random, cell_m / 3.0));
    } else {
      checked.set_position(slot, anywhere(random, world_m));
    }
    if (step % 10 == 0) {
      found += checked.ask(anywhere(random, world_m * 1.1),
                           std::pow(10.0, random.uniform(-1.0, 1.5)) * random.uniform() * world_m / 10.0);
    }
  }
  EXPECT_GT(found, 0u);
}

TEST(InterestGrid, FindsTheSameEntitiesAsALinearSearch) {
  std::uint64_t seed = 1;
  for (const double cell_m : {0.5, 7.0, 100.0, 1e4}) {
    for (const double world_m : {30.0, 1000.0, 2e5, 1e7})
      churn(cell_m, world_m, seed++);
  }
}

TEST(InterestGrid, IncludesEntitiesAtTheRadiusAndOnCellBorders) {
  Checked checked{10.0};
  std::uint32_t slot = 0;
  for (int x = -6; x <= 6; ++x) {
    for (int y = -6; y <= 6; ++y)
      checked.set_position(slot++, {x * 10.0, y * 10.0, 0.0});
  }
  EXPECT_EQ(checked.ask({0, 0, 0}, 10.0), 5u);
  EXPECT_EQ(checked.ask({0, 0, 0}, 50.0), 81u);
  EXPECT_EQ(checked.ask({0, 0, 3}, 5.0), 1u);
  EXPECT_EQ(checked.ask({0, 0, 6}, 5.0), 0u);
  EXPECT_EQ(checked.ask({30, -40, 0}, 0.0), 1u);
  EXPECT_EQ(checked.ask({30, -40, 0}, -1.0), 0u);
  EXPECT_EQ(checked.ask({30, -40, 0}, std::nan("")), 0u);
}

// 0.1 has no exact binary representation, so cell borders and radii round up or down.
TEST(InterestGrid, LosesNoEntityToRounding) {
  scenario::Random random{77};
  for (const double offset_m : {0.0, 1e3, -1e6, 1e12}) {
    Checked checked{0.1};
    for (std::uint32_t slot = 0; slot < 900; ++slot) {
      checked.set_position(slot, {offset_m + slot % 30 * 0.1, offset_m + slot / 30 * 0.1, 0.0});
    }
    for (int i = 0; i < 300; ++i) {
      const glm::dvec3 centre{offset_m + static_cast<double>(random.below(30)) * 0.1,
                              offset_m + static_cast<double>(random.below(30)) * 0.1, 0.0};
      checked.ask(centre, static_cast<double>(random.below(12)) * 0.1);
    }
  }
}

TEST(InterestGrid, DistinguishesCellsThatShareABucket) {
  Checked checked{1.0};
  std::uint32_t slot = 0;
  for (int k = -40; k <= 40; ++k)  // all in the same bucket: 256 cells apart
    checked.set_position(slot++, {k * 256.0 + 0.5, 0.5, 0.0});
  for (int k = -40; k <= 40; k += 8)
    EXPECT_EQ(checked.ask({k * 256.0, 0.0, 0.0}, 3.0), 1u);
  EXPECT_EQ(checked.ask({0.0, 0.0, 0.0}, 300.0), 3u);
  EXPECT_EQ(checked.ask({0.0, 0.0, 0.0}, 1e6), 81u);  // wider than the torus: each is found once
}

TEST(InterestGrid, HandlesExtremePositions) {
  Checked checked{0.001};
  std::uint32_t slot = 0;
  for (const double x : {-kInfinity, -1e300, -1e15, -1e7, 0.0, 1e7, 1e15, 1e300, kInfinity}) {
    for (const double y : {-1e300, 0.0, 1e15, kInfinity})
      checked.set_position(slot++, {x, y, 0.0});
  }
  EXPECT_EQ(checked.ask({0.0, 0.0, 0.0}, 1.0), 1u);
  EXPECT_EQ(checked.ask({1e15, 1e15, 0.0}, 1.0), 1u);
  EXPECT_EQ(checked.ask({-1e300, 0.0, 0.0}, 1e10), 1u);
  checked.ask({0.0, 0.0, 0.0}, kInfinity);
  checked.ask({kInfinity, 0.0, 0.0}, 10.0);
  checked.ask({0.0, 0.0, 0.0}, 1e20);
  checked.set_position(1, {0.0, 0.0, 0.0});  // returns from an extreme position
  EXPECT_EQ(checked.ask({0.0, 0.0, 0.0}, 1.0), 2u);

  InterestGrid grid{10.0};
  grid.set_position(0, {std::nan(""), std::nan(""), 0.0});
  grid.within({0, 0, 0}, kInfinity, [](std::uint32_t, double) { ADD_FAILURE(); });
  grid.set_position(0, {1.0, 2.0, 0.0});
  int found = 0;
  grid.within({0, 0, 0}, 5.0, [&](std::uint32_t, double) { ++found; });
  EXPECT_EQ(found, 1);
}

TEST(InterestGrid, HoldsAllEntitiesInOneCell) {
  InterestGrid grid{50.0};
  for (std::uint32_t slot = 0; slot < 65'536; ++slot)
    grid.set_position(slot, {1.0, 1.0, slot * 1e-6});
  std::size_t found = 0;
  grid.within({1.0, 1.0, 0.0}, 10.0, [&](std::uint32_t, double) { ++found; });
  EXPECT_EQ(found, 65'536u);
  for (std::uint32_t slot = 0; slot < 65'536; slot += 2)
    grid.remove(slot);
  found = 0;
  grid.within({1.0, 1.0, 0.0}, 10.0, [&](std::uint32_t slot, double) { found += slot % 2; });
  EXPECT_EQ(found, 32'768u);
}

TEST(InterestGrid, AllocatesNothingAfterWarmUp) {
  scenario::Random random{5};
  InterestGrid grid{20.0};
  // Warm-up: every entity alone in its bucket, which needs the most blocks.
  for (std::uint32_t slot = 0; slot < 5000; ++slot)
    grid.set_position(slot, {slot % 200 * 20.0, slot / 200 * 20.0, 0.0});
  const std::size_t warm_bytes = grid.memory_bytes();
  for (int step = 0; step < 100'000; ++step) {
    const auto slot = static_cast<std::uint32_t>(random.below(5000));
    if (random.chance(0.1)) {
      grid.remove(slot);
    } else {
      grid.set_position(slot, anywhere(random, 3000.0));
    }
  }
  EXPECT_EQ(grid.memory_bytes(), warm_bytes);
}

}  // namespace
}  // namespace reckoner
