// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/bit_stream.hpp"

#include <cstdint>
#include <optional>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

// The owned section of a client's datagram: for every motion of an entity that the client owns a set bit, its
// head and the motion, in full or against an earlier one of the same entity and term; a clear bit after the
// last.

/// Terms of ownership count modulo this.
inline constexpr unsigned kTerms = 16;

/// Head of an owner's motion.
struct OwnedHead {
  std::uint32_t slot = 0;                      ///< of the entity
  std::uint8_t term = 0;                       ///< of ownership: what is sent under an earlier one is void
  std::uint16_t tick = 0;                      ///< low 16 bits of its time stamp
  std::optional<std::uint32_t> reference_age;  ///< ticks from the earlier motion to this one; absent: in full
};

/// Writes a head, with the set bit before it. `previous_slot` is that of the head before, or -1.
RECKONER_NET_API void write(BitWriter& writer, const OwnedHead& head, std::int64_t previous_slot);

/// The next head; nothing after the last. The reader is failed if it is malformed.
[[nodiscard]] RECKONER_NET_API std::optional<OwnedHead> read_owned_head(BitReader& reader,
                                                                        std::int64_t previous_slot);

}  // namespace reckoner
