// SPDX-License-Identifier: MIT
#include "net/src/link/settled_numbers.hpp"

#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr std::uint32_t kWindow = SettledNumbers::kWindow;

// Does what SettledNumbers does, with a set of all settled numbers.
class Model {
 public:
  [[nodiscard]] std::uint32_t first_open() const {
    std::uint32_t first = below_;
    while (settled_.contains(first))
      ++first;
    return first;
  }
  void settle(std::uint32_t number) {
    if (number >= below_ && number - first_open() < kWindow) settled_.insert(number);
    for (; settled_.erase(below_) == 1; ++below_) {
    }
  }
  [[nodiscard]] bool contains(std::uint32_t number) const {
    return number < below_ || settled_.contains(number);
  }

 private:
  std::set<std::uint32_t> settled_;
  std::uint32_t below_ = 1;  // all numbers before this one are settled
};

void expect_equal(const SettledNumbers& numbers, const Model& model, std::uint32_t number) {
  ASSERT_EQ(numbers.first_open(), model.first_open());
  ASSERT_EQ(numbers.contains(number), model.contains(number)) << number;
  ASSERT_EQ(numbers.all_up_to(number), number < model.first_open()) << number;
  ASSERT_EQ(numbers.is_within_window(number),
            number >= model.first_open() && number - model.first_open() < kWindow)
      << number;
}

TEST(SettledNumbers, BeginsWithNumberOne) {
  const SettledNumbers numbers;
  EXPECT_EQ(numbers.first_open(), 1u);
  EXPECT_TRUE(numbers.all_up_to(0));
  EXPECT_FALSE(numbers.all_up_to(1));
  EXPECT_FALSE(numbers.contains(1));
}

TEST(SettledNumbers, EqualsASetInRandomOrders) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    scenario::Random random{seed};
    SettledNumbers numbers;
    Model model;
    // Mostly numbers near the first open one, sometimes any in the window, outside of it or settled before.
    const std::uint32_t spread = 1 + static_cast<std::uint32_t>(random.below(200));
    for (int i = 0; i < 5000; ++i) {
      const std::uint32_t first = numbers.first_open();
      std::uint32_t number = first + static_cast<std::uint32_t>(random.below(spread));
      if (random.below(50) == 0) number = first + static_cast<std::uint32_t>(random.below(2 * kWindow));
      if (random.below(50) == 0) number = static_cast<std::uint32_t>(random.below(first + 1));
      numbers.settle(number);
      model.settle(number);
      ASSERT_NO_FATAL_FAILURE(expect_equal(numbers, model, number));
      const auto other = static_cast<std::uint32_t>(random.below(first + 2 * kWindow));
      ASSERT_NO_FATAL_FAILURE(expect_equal(numbers, model, other));
    }
    EXPECT_GT(numbers.first_open(), 100u);
  }
}

// All numbers of a window in any order, several windows one after the other.
TEST(SettledNumbers, EveryNumberOfAWindowInAnyOrder) {
  scenario::Random random{5};
  SettledNumbers numbers;
  for (int round = 0; round < 4; ++round) {
    const std::uint32_t first = numbers.first_open();
    std::vector<std::uint32_t> order(kWindow);
    std::iota(order.begin(), order.end(), first);
    for (std::size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[random.below(i + 1)]);
    std::vector<bool> settled(kWindow, false);
    for (const std::uint32_t number : order) {
      EXPECT_FALSE(numbers.contains(number));
      numbers.settle(number);
      settled[number - first] = true;
      const auto open = std::find(settled.begin(), settled.end(), false) - settled.begin();
      ASSERT_EQ(numbers.first_open(), first + static_cast<std::uint32_t>(open));
      ASSERT_TRUE(numbers.contains(number));
    }
    EXPECT_EQ(numbers.first_open(), first + kWindow);
    // The places of the settled numbers are those of the next window, which is open.
    for (std::uint32_t number = first + kWindow; number < first + 2 * kWindow; ++number)
      ASSERT_FALSE(numbers.contains(number));
  }
}

TEST(SettledNumbers, EdgesOfTheWindow) {
  SettledNumbers numbers;
  EXPECT_TRUE(numbers.is_within_window(kWindow));
  EXPECT_FALSE(numbers.is_within_window(kWindow + 1));
  numbers.settle(kWindow + 1);  // too far ahead: it would be the place of number 1
  EXPECT_FALSE(numbers.contains(kWindow + 1));
  EXPECT_FALSE(numbers.contains(1));
  numbers.settle(kWindow);
  EXPECT_TRUE(numbers.contains(kWindow));
  EXPECT_EQ(numbers.first_open(), 1u);
  numbers.settle(1);
  EXPECT_EQ(numbers.first_open(), 2u);
  EXPECT_TRUE(numbers.is_within_window(kWindow + 1));
  for (std::uint32_t number = 2; number < kWindow; ++number)
    numbers.settle(number);
  EXPECT_EQ(numbers.first_open(), kWindow + 1);
  EXPECT_FALSE(numbers.is_within_window(kWindow));
}

// Numbers do not wrap: one that is far ahead was not settled long ago.
TEST(SettledNumbers, NumbersFarAheadAreNotSettled) {
  SettledNumbers numbers;
  numbers.settle(1);
  for (const std::uint32_t far : {0x7fffffffu, 0x80000001u, 0x80000003u, 0xffffffffu}) {
    EXPECT_FALSE(numbers.all_up_to(far)) << far;
    EXPECT_FALSE(numbers.contains(far)) << far;
    EXPECT_FALSE(numbers.is_within_window(far)) << far;
    numbers.settle(far);
    EXPECT_FALSE(numbers.contains(far)) << far;
  }
  EXPECT_EQ(numbers.first_open(), 2u);
}

TEST(SettledNumbers, SettlingTwiceChangesNothing) {
  SettledNumbers numbers;
  for (int i = 0; i < 2; ++i) {
    numbers.settle(1);
    numbers.settle(3);
    EXPECT_EQ(numbers.first_open(), 2u);
    EXPECT_TRUE(numbers.contains(3));
  }
  numbers.settle(2);
  numbers.settle(2);
  EXPECT_EQ(numbers.first_open(), 4u);
}

}  // namespace
}  // namespace reckoner
