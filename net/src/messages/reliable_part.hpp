// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/bit_stream.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

// The section of reliable messages, both directions: parts of a stream of bytes, in ascending order of their
// offsets. The stream contains the messages, one after the other, each after its length. docs/WIRE.md
// describes both.

/// Bytes of the stream.
struct ReliablePart {
  std::uint64_t offset = 0;  ///< of the first byte in the stream
  std::vector<std::byte> bytes;
  /// Where the first unordered message begins that begins in this part, from `offset`; nullopt: none does.
  /// Without it, a receiver that lacks earlier bytes could not find the message.
  std::optional<std::uint32_t> unordered{};

  bool operator==(const ReliablePart&) const = default;
};

/// Writes the parts of one section.
class RECKONER_NET_API ReliablePartsWriter {
 public:
  /// Largest part, bytes.
  static constexpr std::size_t kMaxPartBytes = 1400;
  static constexpr std::size_t kEndBits = 1;
  /// A part takes at most this number of bits besides its bytes, with the end of the section.
  static constexpr std::size_t kMaxHeadBits = 1 + 1 + 49 + 25 + 1 + 21 + kEndBits;

  /// The number of bytes of a part that surely fit into `room_bits` bits, with the end of the section.
  [[nodiscard]] static std::size_t room(std::size_t room_bits) {
    return room_bits < kMaxHeadBits ? 0 : std::min(kMaxPartBytes, (room_bits - kMaxHeadBits) / 8);
  }

  /// Writes a part of 1 to kMaxPartBytes bytes, which must not begin before the end of the part before it.
  /// `unordered`: see ReliablePart.
  void add(BitWriter& writer, std::uint64_t offset, std::span<const std::byte> bytes,
           std::optional<std::uint32_t> unordered = std::nullopt);
  /// Writes the end if there are parts.
  void finish(BitWriter& writer) const;
  [[nodiscard]] bool any() const { return end_ > 0; }

 private:
  std::uint64_t end_ = 0;  // of the part before; 0: there is none
};

/// Reads the whole section, including its end, into `parts`. The first offset has 24 bits on the wire; `near`
/// is any offset that differs by less than 2^23. Malformed bytes and an empty section fail the reader.
RECKONER_NET_API void read_reliable_parts(BitReader& reader, std::uint64_t near,
                                          std::vector<ReliablePart>& parts);

}  // namespace reckoner
