// SPDX-License-Identifier: MIT
#include "server/src/interest/spatial_index.hpp"

#include "server/src/publish/publisher.hpp"

#include <set>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr Tick kIntervalTicks = 12;

/// A hundred entities in a row, a metre apart, and a query that finds all of them.
class Row {
 public:
  Row() {
    config_.archetypes.resize(1);
    const Publisher publisher{config_, {}, 1};
    for (int i = 0; i < 100; ++i) {
      State state;
      state.position.x = i;
      ids.push_back(table.add(publisher.make_entity(0, "", state, 0), 0));
      spatial_index.place(slot(i), state.position);
    }
  }
  static std::uint32_t slot(int i) { return static_cast<std::uint32_t>(i); }
  void tick() { spatial_index.keep_up(table, ++now_); }
  [[nodiscard]] static std::set<std::uint32_t> all_of(const InterestGrid& grid) {
    std::set<std::uint32_t> found;
    grid.within(glm::dvec3{0.0}, 1e6,
                [&](std::uint32_t slot, double) { EXPECT_TRUE(found.insert(slot).second); });
    return found;
  }

 private:
  ServerConfig config_;
  Tick now_ = 0;

 public:
  EntityTable table{1000, 0};
  std::vector<EntityId> ids;
  SpatialIndex spatial_index{10.0, kIntervalTicks};
};

TEST(SpatialIndex, EntityAtRestChangesGridsAfterOneInterval) {
  Row row;
  row.tick();
  EXPECT_EQ(row.spatial_index.moving().size(), 100u);
  row.table.awake().erase(7);
  for (Tick i = 0; i < kIntervalTicks; ++i) {
    row.tick();
    EXPECT_TRUE(row.spatial_index.is_settling(7));
    EXPECT_FALSE(row.spatial_index.is_resting(7));
    EXPECT_TRUE(Row::all_of(row.spatial_index.moving()).contains(7));
  }
  row.tick();
  EXPECT_FALSE(row.spatial_index.is_settling(7));
  EXPECT_TRUE(row.spatial_index.is_resting(7));
  EXPECT_EQ(Row::all_of(row.spatial_index.resting()), std::set<std::uint32_t>{7});
  EXPECT_FALSE(Row::all_of(row.spatial_index.moving()).contains(7));

  row.table.awake().insert(7);
  row.tick();
  EXPECT_FALSE(row.spatial_index.is_resting(7));
  EXPECT_EQ(row.spatial_index.resting().size(), 0u);
  EXPECT_TRUE(Row::all_of(row.spatial_index.moving()).contains(7));
}

TEST(SpatialIndex, MovementRestartsTheSettlingInterval) {
  Row row;
  row.table.awake().erase(7);
  for (Tick i = 0; i < kIntervalTicks / 2; ++i)
    row.tick();
  row.table.awake().insert(7);
  row.tick();
  row.table.awake().erase(7);
  for (Tick i = 0; i < kIntervalTicks; ++i) {
    row.tick();
    EXPECT_TRUE(row.spatial_index.is_settling(7)) << i;
  }
  row.tick();
  EXPECT_TRUE(row.spatial_index.is_resting(7));
}

TEST(SpatialIndex, EveryEntityIsInExactlyOneGrid) {
  Row row;
  for (int round = 0; round < 400; ++round) {
    const auto slot = Row::slot(round * 37 % 100);
    switch (round % 5) {
      case 0:
        row.table.awake().insert(slot);
        break;
      case 1:
        row.spatial_index.place(slot, glm::dvec3{round, 0.0, 0.0});
        break;
      default:
        row.table.awake().erase(slot);
    }
    row.tick();
    const auto moving = Row::all_of(row.spatial_index.moving());
    auto all = Row::all_of(row.spatial_index.resting());
    EXPECT_EQ(all.size(), row.spatial_index.resting().size());
    for (const std::uint32_t found : moving)
      EXPECT_TRUE(all.insert(found).second);
    EXPECT_EQ(all.size(), 100u);
  }
  row.spatial_index.remove(3);
  row.spatial_index.remove(4);
  EXPECT_EQ(row.spatial_index.moving().size() + row.spatial_index.resting().size(), 98u);
}

}  // namespace
}  // namespace reckoner
