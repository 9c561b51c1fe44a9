// SPDX-License-Identifier: MIT
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>

namespace reckoner {

/// Which of the numbers 1, 2, 3, ... are settled. Numbers are settled in almost any order, and do not wrap.
/// The server counts in this way the spawns that a client has, and so does the client.
class SettledNumbers {
 public:
  /// A number can be settled only if it is this close to the first one that is not.
  static constexpr std::uint32_t kWindow = 8192;

  /// The first number that is not settled.
  [[nodiscard]] std::uint32_t first_open() const { return first_open_; }
  /// True if this number and all before it are settled.
  [[nodiscard]] bool all_up_to(std::uint32_t number) const { return number < first_open_; }
  [[nodiscard]] bool contains(std::uint32_t number) const {
    return all_up_to(number) || (is_within_window(number) && settled_[number % kWindow]);
  }
  /// False if the number is too far ahead to be settled, or before first_open().
  [[nodiscard]] bool is_within_window(std::uint32_t number) const { return number - first_open_ < kWindow; }

  /// Settles the number. Does nothing if it is settled already, or not within the window.
  void settle(std::uint32_t number) {
    if (all_up_to(number) || !is_within_window(number)) return;
    settled_[number % kWindow] = true;
    for (; settled_[first_open_ % kWindow]; ++first_open_)
      settled_[first_open_ % kWindow] = false;
  }

 private:
  std::uint32_t first_open_ = 1;
  std::bitset<kWindow> settled_;  // by number modulo the window; of the numbers from first_open_ on
};

}  // namespace reckoner
