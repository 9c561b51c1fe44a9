// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/ack_window.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "server/src/world/field_table.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The field changes that one client is owed, and those on their way to it.
///
/// A change is owed from the tick it is made until it is put into a datagram, and again when that datagram
/// turns out lost and the field was not changed since (if it was, the newer change is owed or on its way).
/// What is then sent is the value of that time with the tick of its change, never an old one.
class FieldUpdates {
 public:
  /// These fields (a bit each) of an entity that the client was told of changed at `tick`. Nothing is sent
  /// of it before the client has taken in that it exists, which allow() says.
  void changed(EntityId id, std::uint32_t fields, Tick tick, bool allowed);
  void allow(EntityId id);

  /// The client is no longer told of the entity.
  void forget(EntityId id);

  /// True if there is something to send.
  [[nodiscard]] bool any() const { return !due_.empty(); }

  /// Calls `f(tick)` for every tick of which the client lacks changes.
  template <class F>
  void for_each_since(F&& f) const {
    for (const Due& due : due_)
      f(due.since);
    for (const Due& due : held_)
      f(due.since);
    for (const SentChange& c : lost_)
      f(c.tick);
  }

  struct Written {
    std::size_t entities = 0;  ///< 0: nothing was written
    std::size_t changes = 0;   ///< values
    std::size_t repairs = 0;   ///< of those, because a datagram was lost
  };

  /// Writes a section of at most `most_bits`, its end included, for the datagram `sequence` of tick `now`:
  /// what has been owed longest first, as much as fits.
  Written write(BitWriter& writer, std::size_t most_bits, Sequence sequence, Tick now,
                const FieldTable& table);

  /// Takes in what became of a datagram.
  void settle(Sequence sequence, bool acked);

  /// Decides what of the lost is owed again.
  void reconsider(const FieldTable& table);

 private:
  struct Due {
    EntityId id;
    std::uint32_t fields = 0;
    std::uint32_t repairs = 0;  // of those, because a datagram was lost
    Tick since = 0;             // the oldest of the changes
  };
  struct SentChange {
    EntityId id;
    std::uint8_t field = 0;
    Tick tick = 0;  // of the change
  };
  struct Choice {
    std::size_t due = 0;       // index into due_
    std::uint32_t fields = 0;  // those that fit
  };

  static void add(std::vector<Due>& list, const Due& due);
  void choose(std::size_t most_bits, Tick now, const FieldTable& table);
  void sent(Due& due, std::uint32_t fields, Sequence sequence, const FieldTable::Row& row);

  std::vector<Due> due_;   // in order of slot
  std::vector<Due> held_;  // the same, not allowed yet
  std::vector<std::vector<SentChange>>
      carried_;                   // by sequence modulo capacity; empty until the first is sent
  std::vector<SentChange> lost_;  // not reconsidered yet
  std::vector<Choice> chosen_;    // scratch
};

}  // namespace reckoner
