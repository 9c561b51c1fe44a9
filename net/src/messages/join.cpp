// SPDX-License-Identifier: MIT
#include "net/src/messages/join.hpp"

#include "net/src/messages/join_serialize.hpp"
#include "net/src/wire/bit_stream.hpp"

namespace reckoner {

std::optional<std::uint16_t> version_of_old_join(std::span<const std::byte> payload) {
  constexpr unsigned kKindBits = 4;
  constexpr std::uint64_t kJoin = 1;
  BitReader reader{payload};
  const bool joins = reader.read(kKindBits) == kJoin && reader.read(32) == kJoinMagic;
  const auto version = static_cast<std::uint16_t>(reader.read(16));
  return joins && !reader.failed() && version != kProtocolVersion ? std::optional(version) : std::nullopt;
}

}  // namespace reckoner
