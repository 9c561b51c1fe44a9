// SPDX-License-Identifier: MIT
#include "tests/support/counts.hpp"

#include <gtest/gtest.h>

#include <reckoner/net/transport.hpp>

namespace reckoner {
namespace {

TEST(TransportStats, EveryFieldIsAdded) {
  test::expect_all_added<TransportStats>(
      [](TransportStats& sum, const TransportStats& part) { sum += part; });
}

}  // namespace
}  // namespace reckoner
