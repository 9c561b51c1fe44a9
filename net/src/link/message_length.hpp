// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace reckoner {

/// The length of a message in a stream: seven bits a byte, the low ones first; the high bit says that another
/// byte follows (LEB128).
struct MessageLength {
  std::size_t bytes = 0;  ///< size of the message
  std::size_t head = 0;   ///< size of the length itself
  bool valid = true;      ///< false: no sender writes such a length

  /// A longer length is not valid.
  static constexpr std::size_t kMaxHead = 3;
};

/// Appends the length of a message of 1 to 2^21 - 1 bytes.
inline void append_message_length(std::vector<std::byte>& stream, std::size_t length) {
  for (; length >= 0x80; length >>= 7)
    stream.push_back(static_cast<std::byte>(0x80 | (length & 0x7f)));
  stream.push_back(static_cast<std::byte>(length));
}

/// Reads the length at the beginning of `stream`; nullopt if it is not complete.
[[nodiscard]] inline std::optional<MessageLength> read_message_length(std::span<const std::byte> stream) {
  MessageLength length;
  for (const std::byte byte : stream.first(std::min(stream.size(), MessageLength::kMaxHead))) {
    length.bytes |= (std::to_integer<std::size_t>(byte) & 0x7f) << (7 * length.head++);
    if ((byte & std::byte{0x80}) != std::byte{}) continue;
    length.valid = length.bytes > 0;
    return length;
  }
  if (length.head < MessageLength::kMaxHead) return std::nullopt;
  length.valid = false;
  return length;
}

}  // namespace reckoner
