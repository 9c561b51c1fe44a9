// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reckoner {

/// Which of the numbers 1, 2, 3, ... are settled. Numbers are settled in almost any order, and do not wrap.
/// The server counts with it the spawns that a client has, and so does the client. The memory follows the
/// distance between numbers that are settled out of order; usually it is none.
class SettledNumbers {
 public:
  /// A number can be settled only if it is this close to the first one that is not.
  static constexpr std::uint32_t kWindow = 8192;

  /// The first number that is not settled.
  [[nodiscard]] std::uint32_t first_open() const { return first_open_; }
  /// True if this number and all before it are settled.
  [[nodiscard]] bool all_up_to(std::uint32_t number) const { return number < first_open_; }
  [[nodiscard]] bool contains(std::uint32_t number) const {
    return all_up_to(number) || (number - first_open_ < places() && is_set(number));
  }
  /// False if the number is too far ahead to be settled, or before first_open().
  [[nodiscard]] bool is_within_window(std::uint32_t number) const { return number - first_open_ < kWindow; }

  /// Settles the number. Does nothing if it is settled already, or not within the window.
  void settle(std::uint32_t number) {
    if (all_up_to(number) || !is_within_window(number)) return;
    if (number == first_open_ && settled_after_ == 0) {
      ++first_open_;
      return;
    }
    if (number - first_open_ >= places()) grow(number - first_open_ + 1);
    if (is_set(number)) return;
    flip(number);
    ++settled_after_;
    for (; settled_after_ > 0 && is_set(first_open_); --settled_after_)
      flip(first_open_++);
  }

 private:
  static constexpr std::uint32_t kWordBits = 64;

  // Number of bits, a power of two; 0 before the first number that is settled out of order.
  [[nodiscard]] std::uint32_t places() const { return static_cast<std::uint32_t>(words_.size()) * kWordBits; }
  [[nodiscard]] std::uint64_t& word(std::uint32_t number) { return words_[number % places() / kWordBits]; }
  [[nodiscard]] bool is_set(std::uint32_t number) const {
    return ((words_[number % places() / kWordBits] >> (number % kWordBits)) & 1u) != 0;
  }
  void flip(std::uint32_t number) { word(number) ^= std::uint64_t{1} << (number % kWordBits); }

  void grow(std::uint32_t needed) {
    const std::vector<std::uint64_t> before = words_;
    const std::uint32_t places_before = places();
    words_.assign(std::max(kWordBits, std::bit_ceil(needed)) / kWordBits, 0);
    for (std::uint32_t number = first_open_; number != first_open_ + places_before; ++number) {
      const std::uint64_t old = before[number % places_before / kWordBits];
      if (((old >> (number % kWordBits)) & 1u) != 0) flip(number);
    }
  }

  std::uint32_t first_open_ = 1;
  std::uint32_t settled_after_ = 0;   // number of settled numbers after first_open_
  std::vector<std::uint64_t> words_;  // bits by number modulo places(); of the numbers from first_open_ on
};

}  // namespace reckoner
