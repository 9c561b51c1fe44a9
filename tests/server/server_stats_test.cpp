// SPDX-License-Identifier: MIT
#include "server_stats.hpp"

#include "counts.hpp"

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(ServerStats, EveryFieldIsAdded) {
  test::expect_all_added<ServerStats>([](ServerStats& sum, const ServerStats& part) { add(sum, part); });
}

}  // namespace
}  // namespace reckoner
