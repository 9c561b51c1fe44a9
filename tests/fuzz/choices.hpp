// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace reckoner::fuzz {

using Bytes = std::vector<std::byte>;

/// Turns a fuzzer's bytes into decisions. A target makes valid messages from the decisions, or damages them.
/// So the fuzzer can mutate the messages. When the bytes are used up, every choice is the simplest one.
class Choices {
 public:
  explicit Choices(std::span<const std::byte> bytes) : left_(bytes) {}

  [[nodiscard]] bool empty() const { return left_.empty(); }

  /// A number from 0 to `most`.
  std::uint64_t up_to(std::uint64_t most) {
    std::uint64_t value = 0;
    for (std::uint64_t room = most; room != 0; room >>= 8)
      value = value << 8 | std::to_integer<std::uint64_t>(byte());
    return most == UINT64_MAX ? value : value % (most + 1);
  }
  bool flag() { return (std::to_integer<unsigned>(byte()) & 1u) != 0; }
  /// True in one of `n` + 1 cases.
  bool rarely(std::uint64_t n) { return up_to(n) == n; }

  /// A signed number of at most `bits` bits in two's complement. All widths and the ends are equally likely.
  std::int64_t integer(unsigned bits) {
    const auto width = static_cast<unsigned>(up_to(bits - 1));
    const std::uint64_t all = (std::uint64_t{1} << width) - 1;
    const std::uint64_t magnitude = rarely(3) ? all : up_to(UINT64_MAX) & all;
    return flag() ? ~static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
  }
  /// A number from `least` to `most`. The ends and tiny numbers are frequent.
  double real(double least, double most) {
    const std::uint64_t kind = up_to(7);
    if (kind == 0) return std::clamp(0.0, least, most);
    if (kind == 1) return least;
    if (kind == 2) return most;
    const double share = static_cast<double>(up_to(UINT32_MAX)) / UINT32_MAX;
    const double value = kind == 3 ? (flag() ? 1.0 : -1.0) * std::exp2(80.0 * share - 60.0)
                                   : least * (1.0 - share) + most * share;
    return std::clamp(value, least, most);
  }
  Bytes bytes(std::size_t most) {
    Bytes out(up_to(most));
    for (std::byte& each : out)
      each = byte();
    return out;
  }
  std::string text(std::size_t most) {
    std::string out(up_to(most), '\0');
    for (char& each : out)
      each = static_cast<char>(byte());
    return out;
  }
  /// All bytes that are left, unchanged.
  std::span<const std::byte> rest() { return std::exchange(left_, {}); }

 private:
  std::byte byte() {
    if (left_.empty()) return std::byte{0};
    const std::byte first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }

  std::span<const std::byte> left_;
};

/// Changes some bytes, or the number of bytes. True if anything changed.
inline bool damage(Choices& choices, Bytes& bytes) {
  const Bytes before = bytes;
  for (std::uint64_t n = choices.up_to(3); n > 0; --n) {
    const std::size_t at = choices.up_to(bytes.empty() ? 0 : bytes.size() - 1);
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (choices.up_to(5)) {
      case 0:
      case 1:
        if (!bytes.empty()) *place ^= static_cast<std::byte>(1u << choices.up_to(7));
        break;
      case 2:
        if (!bytes.empty()) *place = static_cast<std::byte>(choices.up_to(255));
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.insert(bytes.end(), choices.up_to(16), static_cast<std::byte>(choices.up_to(255)));
        break;
      default:
        bytes.insert(place, static_cast<std::byte>(choices.up_to(255)));
        break;
    }
  }
  return bytes != before;
}

}  // namespace reckoner::fuzz
