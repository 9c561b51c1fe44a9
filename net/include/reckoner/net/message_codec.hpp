// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/bit_stream.hpp>
#include <reckoner/net/export.hpp>
#include <reckoner/net/game_message.hpp>

namespace reckoner {

// The messages section of a datagram, either way: for every message a set bit, its stamp if it has one, its
// length and its bytes; a clear bit after the last.

/// The messages of one datagram, in one piece of memory that is used again.
struct MessageBatch {
  /// Where a message lies in `bytes`, and the server time that it belongs to, s, if it has one.
  struct Item {
    std::size_t offset = 0;        ///< in `bytes`
    std::size_t size = 0;          ///< of the payload, bytes
    std::optional<double> time_s;  ///< server time that it belongs to, s, if it has one
  };
  std::vector<Item> items;       ///< in the order in which they were written
  std::vector<std::byte> bytes;  ///< all payloads, one behind the other

  /// Forgets the messages and keeps the memory.
  void clear() {
    items.clear();
    bytes.clear();
  }
  /// Of one of `items`. Valid until the batch changes.
  [[nodiscard]] std::span<const std::byte> payload(const Item& item) const {
    return std::span{bytes}.subspan(item.offset, item.size);
  }
};

/// Bits of a message in the section.
[[nodiscard]] RECKONER_NET_API std::size_t message_bits(std::size_t payload_bytes, bool stamped);

/// One message of 1 to kMaxUnreliableBytes, with the set bit before it.
RECKONER_NET_API void write_message(BitWriter& writer, std::span<const std::byte> payload,
                                    std::optional<double> time_s);

/// Replaces `batch` by the whole section, its end included. Whatever is wrong fails the reader.
RECKONER_NET_API void read_messages(BitReader& reader, MessageBatch& batch);

}  // namespace reckoner
