// SPDX-License-Identifier: MIT
#include "server/src/util/server_stats.hpp"

#include "tests/support/counts.hpp"

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(ServerStats, EveryFieldIsAdded) {
  test::expect_all_added<ServerStats>([](ServerStats& sum, const ServerStats& part) { add(sum, part); });
}

}  // namespace
}  // namespace reckoner
