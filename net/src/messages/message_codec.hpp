// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/bit_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <reckoner/net/game_message.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Follows a pair of 32-bit counters that wrap (UDP payload bytes and datagrams) and makes 64-bit totals of
/// them, with UDP's and IPv4's headers. Must look before a counter has gone all the way round.
class WireCounter {
 public:
  static constexpr std::uint64_t kUdpIpBytes = 28;

  void look(std::uint32_t payload_bytes, std::uint32_t datagrams) {
    // Unsigned differences are right across the wrap.
    const std::uint32_t more_bytes = payload_bytes - std::exchange(payload_bytes_, payload_bytes);
    const std::uint32_t more_datagrams = datagrams - std::exchange(datagrams_, datagrams);
    total_datagrams_ += more_datagrams;
    total_bytes_ += more_bytes + more_datagrams * kUdpIpBytes;
  }

  [[nodiscard]] std::uint64_t datagrams() const { return total_datagrams_; }
  [[nodiscard]] std::uint64_t bytes() const { return total_bytes_; }

 private:
  std::uint32_t payload_bytes_ = 0;
  std::uint32_t datagrams_ = 0;
  std::uint64_t total_datagrams_ = 0;
  std::uint64_t total_bytes_ = 0;
};

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
