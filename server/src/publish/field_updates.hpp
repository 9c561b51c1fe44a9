// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/sent_contents.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "server/src/util/traffic_counter.hpp"
#include "server/src/world/field_table.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The field changes that one client may still lack: changes that are due to be sent, and changes in
/// datagrams that the client has not acknowledged yet.
///
/// A change is due from its tick until it is written into a datagram. It becomes due again when that datagram
/// is lost and the field has not changed since. (A newer change is due itself, or was already sent.) The
/// server always sends the current value, with the tick of its last change.
class FieldUpdates {
 public:
  /// Notes that the fields in the bit set `fields` of an entity changed at `tick`. Pass false for `allowed`
  /// until the client has acknowledged the spawn of the entity. A change that is not allowed is postponed
  /// until release_postponed().
  void changed(EntityId id, std::uint32_t fields, Tick tick, bool allowed);
  /// The client has acknowledged the spawn of the entity: its postponed changes become due.
  void release_postponed(EntityId id);

  /// The client no longer follows the entity: drops all its changes.
  void forget(EntityId id);

  /// True if changes are due.
  [[nodiscard]] bool any() const { return !due_.empty(); }

  /// Calls `f(tick)` with the tick of each change that the client lacks: due, postponed or lost. If several
  /// changes of one entity are due, it passes only the oldest tick.
  template <class F>
  void for_each_since(F&& f) const {
    for (const Due& due : due_)
      f(due.since);
    for (const Due& due : postponed_)
      f(due.since);
    for (const SentChange& c : lost_)
      f(c.tick);
  }

  struct Written {
    std::size_t entities = 0;  ///< 0 if nothing was written
    std::size_t changes = 0;   ///< number of values written
    std::size_t repairs = 0;   ///< number of values that are sent again after a loss
  };

  /// Writes a section of at most `most_bits` bits, including its end mark, into the datagram `sequence` of
  /// tick `now`. If not everything fits, it writes the changes first that have been due longest. `traffic`
  /// counts the changes; it may be null.
  Written write(BitWriter& writer, std::size_t most_bits, Sequence sequence, Tick now,
                const FieldTable& table, TrafficShare* traffic = nullptr);

  /// Notes whether the datagram `sequence` was acknowledged or lost.
  void settle(Sequence sequence, bool acked);

  /// Makes lost changes due again unless the field has changed since.
  void requeue_lost(const FieldTable& table);

 private:
  struct Due {
    EntityId id;
    std::uint32_t fields = 0;
    std::uint32_t repairs = 0;  // bit set: fields that were sent before and lost
    Tick since = 0;             // tick of the oldest change
  };
  struct SentChange {
    EntityId id;
    std::uint8_t field = 0;
    Tick tick = 0;  // tick of the change
  };
  struct Choice {
    std::size_t due = 0;       // index into due_
    std::uint32_t fields = 0;  // bit set of the fields that fit
  };

  static void add(std::vector<Due>& list, const Due& due);
  void choose(std::size_t most_bits, Tick now, const FieldTable& table);
  void sent(Due& due, std::uint32_t fields, Sequence sequence, const FieldTable::Row& row);

  std::vector<Due> due_;        // sorted by slot
  std::vector<Due> postponed_;  // sorted by slot; these wait for release_postponed()
  SentContents<SentChange> sent_changes_;
  std::vector<SentChange> lost_;  // changes that wait for requeue_lost()
  std::vector<Choice> chosen_;    // scratch
};

}  // namespace reckoner
