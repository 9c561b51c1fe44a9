// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <reckoner/net/prediction.hpp>

namespace reckoner {

/// A player's input for one tick: bytes whose meaning only the game knows.
class Input {
 public:
  Input() = default;
  /// `bytes` has at most kMaxInputBytes.
  explicit Input(std::span<const std::byte> bytes) : size_(static_cast<std::uint8_t>(bytes.size())) {
    std::ranges::copy(bytes, bytes_.begin());
  }

  [[nodiscard]] std::span<const std::byte> bytes() const { return std::span(bytes_).first(size_); }
  /// The byte at `i`, below kMaxInputBytes; zero after the end.
  [[nodiscard]] std::byte at(std::size_t i) const { return bytes_[i]; }

  bool operator==(const Input&) const = default;

 private:
  std::array<std::byte, kMaxInputBytes> bytes_{};  // zero after the end
  std::uint8_t size_ = 0;
};

}  // namespace reckoner
