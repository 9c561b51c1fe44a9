// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace reckoner {

/// Number of a datagram; counts up by one and wraps.
using Sequence = std::uint16_t;

/// How far `a` lies after `b`, -32768 to 32767, across the wrap.
[[nodiscard]] constexpr int sequence_distance(Sequence a, Sequence b) {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(a - b));
}

/// The 32-bit number with these low 16 bits that lies nearest to `reference`. Below zero it wraps.
[[nodiscard]] constexpr std::uint32_t unwrap16(std::uint16_t low, std::uint32_t reference) {
  const auto offset = static_cast<std::int16_t>(static_cast<std::uint16_t>(low - reference));
  return reference + static_cast<std::uint32_t>(static_cast<std::int32_t>(offset));
}

}  // namespace reckoner
