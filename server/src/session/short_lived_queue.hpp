// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// The spawns and ends of short-lived entities that one client may still lack. They travel in state datagrams
/// and do not wait for each other.
///
/// An entry waits until it is written into a datagram. It waits again when all datagrams that contain it are
/// lost. If the link loses datagrams, the queue writes several copies, each in another tick, because a
/// projectile that appears only after a repair may be over by then.
class ShortLivedQueue {
 public:
  /// A motion of a short-lived entity that was sent to the client.
  struct SentSpawn {
    EntityId id;
    std::uint32_t serial = 0;   ///< serial of the subscription
    std::uint32_t publish = 0;  ///< number of the publish in the entry
    std::uint8_t level = 0;     ///< level of detail of that publish
    Tick motion_tick = 0;       ///< time stamp of the motion in the entry
    bool predicted = false;     ///< the client has predicted the entity
  };

  /// The client now follows the entity and lacks its spawn since tick `since`.
  void add_spawn(EntityId id, std::uint32_t serial, Tick since, unsigned copies) {
    add({.id = id, .serial = serial, .since = since, .copies = copies});
  }
  /// The client no longer follows the entity, which ended in tick `tick` at the latest. An unacknowledged
  /// spawn is not sent again.
  void add_end(EntityId id, Tick tick, unsigned copies) {
    drop(id);
    add({.kind = Kind::end, .id = id, .since = tick, .copies = copies});
  }
  /// The client's prediction with this key fails.
  void add_refusal(std::uint32_t key, Tick tick, unsigned copies) {
    add({.kind = Kind::refusal, .serial = key, .since = tick, .copies = copies});
  }
  /// Drops what waits or is in flight about an entity, because the client no longer needs it.
  void drop(EntityId id) {
    std::erase_if(entries_, [&](const Entry& e) { return e.id == id && e.kind != Kind::refusal; });
  }

  /// Makes the spawn of an entity wait again if the client has not acknowledged it yet. The entity has a
  /// newer motion than the one that was sent. At most kMaxRepeats times, in intervals of `interval` ticks.
  void repeat(EntityId id, Tick now, Tick interval);

  /// True if an entry should be written in tick `now`.
  [[nodiscard]] bool due(Tick now) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.is_due(now); });
  }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  /// Calls `f(id)` for the entity of each spawn that was sent and not acknowledged.
  template <class F>
  void for_each_unacknowledged_spawn(F&& f) const {
    for (const Entry& e : entries_) {
      if (e.kind == Kind::spawn && e.in_flight > 0) f(e.id);
    }
  }
  /// True if an entry did not fit into the last datagram beside the motions.
  [[nodiscard]] bool is_crowded_out() const { return crowded_out_; }

  /// Writes a section of at most `most_bits` bits, including its end mark, into the datagram `sequence` of
  /// tick `now`. Calls `make(spawn, sent)` for each spawn: `sent` has the id and the serial. `make` fills the
  /// rest of both, and returns false if the spawn cannot be sent now. Calls `note(sent)` for each spawn
  /// written. Returns the number of entries written.
  template <class MakeSpawn, class NoteSpawn>
  std::size_t write(BitWriter& writer, std::size_t most_bits, Sequence sequence, Tick now, MakeSpawn&& make,
                    NoteSpawn&& note);

  /// The datagram `sequence` was acknowledged or lost. Calls `f(sent)` for every acknowledged spawn.
  template <class F>
  void settle(Sequence sequence, bool acked, F&& f);

  /// Calls `f(tick)` with the tick since which the client lacks data, for each waiting entry.
  template <class F>
  void for_each_since(F&& f) const {
    for (const Entry& e : entries_) {
      if (e.copies > 0 && e.in_flight == 0) f(e.since);
    }
  }

 private:
  /// The largest number of entries. A client that acknowledges nothing must not cost ever more; it loses the
  /// oldest ends and refusals.
  static constexpr std::size_t kMaxEntries = 1024;
  static constexpr unsigned kMaxRepeats = 4;
  static constexpr Tick kLastCopyTicks = 4;

  enum class Kind : std::uint8_t { spawn, end, refusal };
  struct Entry {
    Kind kind = Kind::spawn;
    EntityId id{};
    std::uint32_t serial = 0;    // of the subscription; of a refusal, the key
    Tick since = 0;              // the client lacks data of this tick until it has the entry
    unsigned copies = 1;         // copies that wait to be written
    unsigned in_flight = 0;      // datagrams in flight that contain the entry
    unsigned repeats = 0;        // newer motions sent before the acknowledgement
    std::optional<Tick> sent{};  // tick of the newest copy
    bool lost = false;           // all copies were lost

    // The last of several copies is written some ticks later, because losses come in bursts.
    [[nodiscard]] bool is_due(Tick now) const {
      const Tick gap = kind == Kind::end && copies == 1 && !lost ? kLastCopyTicks : 1;
      return copies > 0 && (!sent || !earlier(now, *sent + gap));
    }
  };
  // An entry in a datagram in flight.
  struct InFlightEntry {
    Sequence sequence = 0;
    Kind kind = Kind::spawn;
    SentSpawn spawn;  // of other kinds, only the id and the serial
  };

  void add(const Entry& entry);
  static bool write_entry(BitWriter& writer, std::size_t limit, const ShortLivedEntry& entry);
  void note_written(Entry& entry, Sequence sequence, Tick now, const SentSpawn& sent);

  std::vector<Entry> entries_;            // few: of the entities that spawned or ended a moment ago
  std::vector<InFlightEntry> in_flight_;  // in order of sequence
  std::vector<InFlightEntry> settled_;    // scratch
  ShortLivedEntry entry_;                 // scratch; keeps its memory
  bool crowded_out_ = false;
};

template <class MakeSpawn, class NoteSpawn>
std::size_t ShortLivedQueue::write(BitWriter& writer, std::size_t most_bits, Sequence sequence, Tick now,
                                   MakeSpawn&& make, NoteSpawn&& note) {
  constexpr std::size_t kEndBits = 1;
  std::size_t written = 0;
  crowded_out_ = false;
  const std::size_t limit = writer.bits_written() + most_bits - std::min(most_bits, kEndBits);
  for (Entry& e : entries_) {
    if (!e.is_due(now)) continue;
    SentSpawn sent{.id = e.id, .serial = e.serial};
    if (e.kind == Kind::end) {
      entry_ = ShortLivedEnd{e.id, now - e.since};
    } else if (e.kind == Kind::refusal) {
      entry_ = PredictionRefusal{e.serial};
    } else {
      ShortLivedSpawn& spawn = std::holds_alternative<ShortLivedSpawn>(entry_)
                                   ? std::get<ShortLivedSpawn>(entry_)
                                   : entry_.emplace<ShortLivedSpawn>();
      if (!make(spawn, sent)) continue;
    }
    if (!write_entry(writer, limit, entry_)) {
      crowded_out_ = true;
      continue;
    }
    if (e.kind == Kind::spawn) note(sent);
    note_written(e, sequence, now, sent);
    ++written;
  }
  if (written > 0) writer.write(0, kEndBits);
  return written;
}

template <class F>
void ShortLivedQueue::settle(Sequence sequence, bool acked, F&& f) {
  if (in_flight_.empty()) return;
  settled_.clear();
  std::erase_if(in_flight_, [&](const InFlightEntry& e) {
    if (e.sequence == sequence) settled_.push_back(e);
    return e.sequence == sequence;
  });
  for (const InFlightEntry& s : settled_) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
      return e.id == s.spawn.id && e.kind == s.kind && e.serial == s.spawn.serial;
    });
    if (acked) {
      if (found != entries_.end()) entries_.erase(found);
      if (s.kind == Kind::spawn) f(s.spawn);
      continue;
    }
    if (found == entries_.end()) continue;
    --found->in_flight;
    if (found->in_flight > 0 || found->copies > 0) continue;
    found->copies = 1;
    found->lost = true;
  }
}

}  // namespace reckoner
