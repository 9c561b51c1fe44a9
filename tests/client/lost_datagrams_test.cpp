// SPDX-License-Identifier: MIT
#include "client/src/connection/lost_datagrams.hpp"

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(LostDatagrams, CountsGapsOverTheWrapOfNumbers) {
  LostDatagrams lost;
  EXPECT_EQ(lost.count(0), 0u);
  lost.note_newest(65'534);
  EXPECT_EQ(lost.count(1), 0u);
  lost.note_newest(65'535);
  lost.note_newest(2);  // 0 and 1 are missing
  EXPECT_EQ(lost.count(3), 2u);
  EXPECT_EQ(lost.count(5), 0u);  // they have arrived late
  EXPECT_EQ(lost.count(6), 0u);  // a copy must not count below zero
}

}  // namespace
}  // namespace reckoner
