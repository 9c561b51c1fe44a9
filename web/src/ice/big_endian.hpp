// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace reckoner::web {

/// The number that `bytes` (at most 8) contain in network order, as in STUN, DTLS and SCTP.
[[nodiscard]] inline std::uint64_t from_big_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (const std::byte byte : bytes)
    value = value << 8 | std::to_integer<std::uint64_t>(byte);
  return value;
}

/// Writes the low bytes of `value` to `place`, in network order.
inline void put_big_endian(std::span<std::byte> place, std::uint64_t value) {
  for (std::size_t i = place.size(); i-- > 0; value >>= 8)
    place[i] = static_cast<std::byte>(value & 0xff);
}

}  // namespace reckoner::web
