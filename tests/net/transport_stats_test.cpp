// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <numeric>
#include <type_traits>

#include <gtest/gtest.h>

#include <reckoner/net/transport.hpp>

namespace reckoner {
namespace {

// All are counts of 64 bits, without a gap: so a field that is new is looked at too.
static_assert(std::has_unique_object_representations_v<TransportStats>);
using Counts = std::array<std::uint64_t, sizeof(TransportStats) / sizeof(std::uint64_t)>;

TEST(TransportStats, EveryFieldIsAdded) {
  Counts one, other;
  std::iota(one.begin(), one.end(), 1u);
  std::iota(other.begin(), other.end(), 1000u);
  auto sum = std::bit_cast<TransportStats>(one);
  EXPECT_EQ(&(sum += std::bit_cast<TransportStats>(other)), &sum);
  Counts expected;
  std::ranges::transform(one, other, expected.begin(), std::plus{});
  EXPECT_EQ(std::bit_cast<Counts>(sum), expected);
}

}  // namespace
}  // namespace reckoner
