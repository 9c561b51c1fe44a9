// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <numeric>
#include <type_traits>

#include <gtest/gtest.h>

namespace reckoner::test {

/// Expects `add(sum, part)` to add every field of a struct that contains only 64-bit counters. The check
/// includes fields that are added to the struct later.
template <class Stats, class Add>
void expect_all_added(Add add) {
  static_assert(std::has_unique_object_representations_v<Stats>, "made of something else, or with gaps");
  using Counts = std::array<std::uint64_t, sizeof(Stats) / sizeof(std::uint64_t)>;
  Counts one, other, expected;
  std::iota(one.begin(), one.end(), 1u);
  std::iota(other.begin(), other.end(), 1000u);
  std::ranges::transform(one, other, expected.begin(), std::plus{});
  auto sum = std::bit_cast<Stats>(one);
  add(sum, std::bit_cast<Stats>(other));
  EXPECT_EQ(std::bit_cast<Counts>(sum), expected);
}

}  // namespace reckoner::test
