// SPDX-License-Identifier: MIT
#include "server/src/world/entity_table.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

EntityId entity(std::uint32_t slot) {
  return {slot + 1, 1};
}

std::vector<std::uint32_t> list(std::span<const std::uint32_t> slots) {
  return {slots.begin(), slots.end()};
}

TEST(FrameTree, TracksTheEntitiesInEachFrame) {
  FrameTree tree;
  EXPECT_EQ(tree.frame_of(70), EntityId{});
  EXPECT_TRUE(tree.inside(70).empty());
  tree.put(entity(5), entity(70));
  tree.put(entity(3), entity(70));
  EXPECT_EQ(tree.frame_of(5), entity(70));
  EXPECT_EQ(list(tree.inside(70)), (std::vector<std::uint32_t>{5, 3}));
  EXPECT_EQ(list(tree.members()), (std::vector<std::uint32_t>{3, 5}));
  tree.put(entity(5), entity(3));
  EXPECT_EQ(list(tree.inside(70)), (std::vector<std::uint32_t>{3}));
  EXPECT_EQ(list(tree.inside(3)), (std::vector<std::uint32_t>{5}));
  tree.put(entity(5), {});
  EXPECT_EQ(list(tree.members()), (std::vector<std::uint32_t>{3}));
  EXPECT_TRUE(tree.inside(3).empty());
}

TEST(FrameTree, RefusesCyclesAndExcessiveDepth) {
  FrameTree tree;
  EXPECT_EQ(tree.fit(entity(0), entity(0)), FrameTree::Fit::circle);
  for (std::uint32_t slot = 1; slot <= 4; ++slot) {
    ASSERT_EQ(tree.fit(entity(slot), entity(slot - 1)), FrameTree::Fit::fits);
    tree.put(entity(slot), entity(slot - 1));
  }
  EXPECT_EQ(tree.fit(entity(5), entity(4)), FrameTree::Fit::too_deep);
  EXPECT_EQ(tree.fit({}, entity(4)), FrameTree::Fit::too_deep);
  EXPECT_EQ(tree.fit({}, entity(3)), FrameTree::Fit::fits);
  EXPECT_EQ(tree.fit(entity(0), entity(3)), FrameTree::Fit::circle);
  EXPECT_EQ(tree.fit(entity(0), entity(9)), FrameTree::Fit::too_deep);  // with all entities inside it
  EXPECT_EQ(tree.fit(entity(1), entity(9)), FrameTree::Fit::fits);
  EXPECT_EQ(tree.fit(entity(0), {}), FrameTree::Fit::fits);
}

}  // namespace
}  // namespace reckoner
