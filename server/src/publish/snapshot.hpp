// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "server/src/publish/encodings.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace reckoner {

/// The updates for one client in one tick. It selects encoded motions by urgency up to the byte budget, and
/// writes them into as few datagrams as possible. One object is reused for many clients in turn.
class Snapshot {
 public:
  struct Item {
    std::uint32_t slot = 0;
    std::uint32_t subscription = 0;  ///< Subscriptions::Index
    std::uint8_t level = 0;
    std::uint32_t reference = 0;  ///< number of the publish that it is encoded against; 0: in full
    Tick reference_tick = 0;      ///< time stamp of that publish
    Tick tick = 0;                ///< time stamp of the motion
    float priority = 0.0f;
    BitString motion{};      ///< set by measure()
    std::uint32_t bits = 0;  ///< size of header and motion, bits; estimated until take()
  };

  void clear() {
    items_.clear();
    written_ = 0;
  }

  void add(const Item& item) { items_.push_back(item); }
  [[nodiscard]] std::span<const Item> items() const { return items_; }

  /// Keeps only the `most` items with the highest priority, sorted by slot.
  void keep(std::size_t most);

  /// Gets the encoded motion of each item. Drops the items with the lowest priority if the total exceeds
  /// `most_bytes`, but keeps at least one.
  void measure(Encodings& encodings, unsigned worker, double most_bytes);

  /// Returns the most compact coding of the remaining items' headers for a datagram of tick `tick`. No
  /// reference is newer than `held_tick`.
  [[nodiscard]] UpdateCoding coding(Tick tick, Tick held_tick) const;

  /// Writes the next items in order of slot, as many as fit into `room_bits` bits, and returns them. Writes
  /// at least one item if any is left.
  [[nodiscard]] std::span<const Item> take(Tick tick, const UpdateCoding& coding, std::size_t room_bits,
                                           BitWriter& writer);
  [[nodiscard]] bool all_written() const { return written_ == items_.size(); }

 private:
  std::vector<Item> items_;
  std::size_t written_ = 0;
};

}  // namespace reckoner
