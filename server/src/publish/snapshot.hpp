// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/bit_stream.hpp"
#include "net/src/wire/datagram.hpp"
#include "server/src/interest/subscriptions.hpp"
#include "server/src/publish/encodings.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace reckoner {

/// The updates that one client gets in one tick: a choice of ready bit strings, most urgent first as far as
/// the byte budget goes, written into as few datagrams as they fit. One serves many clients in turn.
class Snapshot {
 public:
  struct Item {
    std::uint32_t slot = 0;
    Subscriptions::Place place = 0;
    std::uint8_t level = 0;
    std::uint32_t reference = 0;  ///< number of the publish it is encoded against; 0: in full
    Tick reference_tick = 0;      ///< its time stamp
    Tick tick = 0;                ///< time stamp of the motion
    float priority = 0.0f;
    BitString motion{};      ///< once measured
    std::uint32_t bits = 0;  ///< of head and motion; an estimate until it is taken
  };

  void clear() {
    items_.clear();
    taken_ = 0;
  }

  void add(const Item& item) { items_.push_back(item); }
  [[nodiscard]] std::span<const Item> items() const { return items_; }

  /// Keeps the `most` items of highest priority, in order of slot.
  void keep(std::size_t most);

  /// Gets the bit string of each item, and drops the least urgent ones beyond `most_bytes`.
  void measure(Encodings& encodings, unsigned worker, double most_bytes);

  /// How the heads of the items are coded best, for a datagram of this tick. No reference is newer than
  /// `held_tick`.
  [[nodiscard]] UpdateCoding coding(Tick tick, Tick held_tick) const;

  /// Takes as many of the items left, in order of slot, as fit into `room_bits`, and writes them.
  [[nodiscard]] std::span<const Item> take(Tick tick, const UpdateCoding& coding, std::size_t room_bits,
                                           BitWriter& writer);
  [[nodiscard]] bool all_taken() const { return taken_ == items_.size(); }

 private:
  std::vector<Item> items_;
  std::size_t taken_ = 0;
};

}  // namespace reckoner
