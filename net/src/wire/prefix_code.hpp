// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/bit_stream.hpp"

#include <bit>
#include <cassert>
#include <cstdint>

/// Prefix code for numbers of roughly known size. It is a Golomb-Rice code (S. W. Golomb, 1966; R. F. Rice,
/// 1979) of order k, which is shortest for numbers near 2^k. From the seventh class on, class sizes double,
/// so that the code length of an unexpectedly large number grows with its logarithm:
///
///   n < 6 * 2^k:  n >> k ones, a zero, the low k bits of n
///   otherwise, with m = n - 6 * 2^k: 6 ones, then m as an exponential Golomb code of order k + 1
///   (J. Teuhola, 1978), that is w ones, a zero, and m + 2^(k+1) - 2^(k+1+w) in k + 1 + w bits
namespace reckoner::wire {

inline constexpr unsigned kLinearClasses = 6;
inline constexpr unsigned kMaxPrefixOrder = 40;
inline constexpr unsigned kMaxPrefixedBits = 50;  // of a number to be written

/// Maps 0, -1, 1, -2, 2, ... to 0, 1, 2, 3, 4, ...
constexpr std::uint64_t fold(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unfold(std::uint64_t folded) {
  return static_cast<std::int64_t>((folded >> 1) ^ (~(folded & 1) + 1));
}

inline void write_prefixed(BitWriter& writer, std::uint64_t n, unsigned order) {
  assert(order <= kMaxPrefixOrder && n >> kMaxPrefixedBits == 0);
  const std::uint64_t quotient = n >> order;
  if (quotient < kLinearClasses) {
    const std::uint64_t ones = (std::uint64_t{1} << quotient) - 1;
    const std::uint64_t low = n - (quotient << order);
    writer.write(ones | (low << (quotient + 1)), static_cast<unsigned>(quotient) + 1 + order);
    return;
  }
  const std::uint64_t shifted = n - (std::uint64_t{kLinearClasses} << order) + (std::uint64_t{2} << order);
  const auto width = static_cast<unsigned>(std::bit_width(shifted)) - 1;
  const unsigned ones = kLinearClasses + width - order - 1;
  writer.write((std::uint64_t{1} << ones) - 1, ones + 1);
  writer.write(shifted - (std::uint64_t{1} << width), width);
}

/// Marks the reader as failed if write_prefixed() cannot have written the code.
[[nodiscard]] inline std::uint64_t read_prefixed(BitReader& reader, unsigned order) {
  assert(order <= kMaxPrefixOrder);
  constexpr unsigned kMaxOnes = 63;
  const unsigned ones = reader.read_ones(kMaxOnes);
  if (ones < kLinearClasses) return (std::uint64_t{ones} << order) + reader.read(order);
  const unsigned width = ones - kLinearClasses + order + 1;
  if (width > kMaxPrefixedBits) {
    reader.fail();
    return 0;
  }
  const std::uint64_t shifted = reader.read(width) + (std::uint64_t{1} << width);
  return shifted - (std::uint64_t{2} << order) + (std::uint64_t{kLinearClasses} << order);
}

/// Number of bits that write_prefixed() writes.
constexpr unsigned prefixed_bits(std::uint64_t n, unsigned order) {
  const std::uint64_t quotient = n >> order;
  if (quotient < kLinearClasses) return static_cast<unsigned>(quotient) + 1 + order;
  const std::uint64_t shifted = n - (std::uint64_t{kLinearClasses} << order) + (std::uint64_t{2} << order);
  const auto width = static_cast<unsigned>(std::bit_width(shifted)) - 1;
  return kLinearClasses + width - order + width;
}

}  // namespace reckoner::wire
