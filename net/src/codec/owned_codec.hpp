// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/bit_stream.hpp"

#include <cstdint>
#include <optional>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

// The owned section of a client's datagram. For every motion of an entity that the client owns: a set bit,
// the head, and the motion, in full or against an earlier one of this entity and term. A clear bit ends the
// section.

/// Ownership terms are counted modulo this.
inline constexpr unsigned kTerms = 16;

/// Head of an owner's motion.
struct OwnedHead {
  std::uint32_t slot = 0;                      ///< the entity's slot
  std::uint8_t term = 0;                       ///< ownership term; motions of an earlier term are invalid
  std::uint16_t tick = 0;                      ///< low 16 bits of the tick of its time stamp
  std::optional<std::uint32_t> reference_age;  ///< ticks from the baseline to this motion; nullopt: in full
};

/// Writes a head and the set bit before it. `previous_slot` is the slot of the previous head, or -1.
RECKONER_NET_API void write(BitWriter& writer, const OwnedHead& head, std::int64_t previous_slot);

/// Reads the next head. Returns nullopt after the last one. Marks the reader as failed if it is malformed.
[[nodiscard]] RECKONER_NET_API std::optional<OwnedHead> read_owned_head(BitReader& reader,
                                                                        std::int64_t previous_slot);

}  // namespace reckoner
