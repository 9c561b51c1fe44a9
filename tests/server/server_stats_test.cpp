// SPDX-License-Identifier: MIT

#include "tests/support/counts.hpp"

#include <gtest/gtest.h>

#include <reckoner/server/server.hpp>

namespace reckoner {
namespace {

TEST(ServerStats, EveryFieldIsAdded) {
  test::expect_all_added<ServerStats>([](ServerStats& sum, const ServerStats& part) { sum += part; });
}

}  // namespace
}  // namespace reckoner
