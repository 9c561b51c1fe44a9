// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/peer_link.hpp"
#include "net/src/link/ring_queue.hpp"
#include "net/src/link/sent_contents.hpp"
#include "net/src/link/settled_numbers.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/spawns.hpp"
#include "server/src/session/oldest_tick.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The spawns and ends of entities that one client may still lack. They travel in state datagrams and do not
/// wait for each other.
///
/// An entry waits until it is written into a datagram. It waits again when all datagrams that contain it are
/// lost. What was lost goes first, then ends, then short-lived entities, then the other spawns. While few
/// entries wait and the connection loses datagrams, each entry is written twice. Until a spawn is
/// acknowledged, newer motions of its entity follow in further spawns.
class SpawnQueue {
 public:
  /// A motion that was sent to the client in a spawn.
  struct Sent {
    EntityId id;
    std::uint32_t number = 0;    ///< Spawn::number
    std::uint32_t publish = 0;   ///< number of the publish in the entry
    std::uint8_t level = 0;      ///< level of detail of that publish
    Tick motion_tick = 0;        ///< time stamp of the motion in the entry
    bool predicted = false;      ///< the client has predicted the entity
    bool values_follow = false;  ///< Spawn::values_follow
    bool keeps_order = false;    ///< set if the spawn cannot be sent now: see write()
  };

  /// When and where entries are written.
  struct Place {
    Sequence sequence = 0;  ///< number of the datagram
    Tick tick = 0;          ///< tick of the datagram
    double tick_rate_hz = 0.0;
    bool loses = false;      ///< the connection loses datagrams
    bool ends_only = false;  ///< the connection has no room for spawns now
  };

  /// The client now follows the entity and lacks its spawn since tick `since`.
  void add_spawn(EntityId id, Tick since, bool is_short_lived);
  /// The client no longer follows the entity, which ended in tick `tick` at the latest. `number` is that of
  /// its spawn; 0: the spawn was not written. The client first processes the reliable messages up to
  /// `after_messages`, if it is given.
  void add_end(EntityId id, bool is_short_lived, std::uint32_t number, Tick tick,
               std::optional<std::uint16_t> after_messages);
  /// A short-lived entity ended in tick `tick`, the end that its spawn names.
  void end_as_planned(EntityId id, std::uint32_t number, Tick tick);
  /// The client's prediction with this key fails.
  void add_refusal(std::uint32_t key, Tick tick);

  /// Makes spawns wait again that the client has not acknowledged, while they are few. So does one that was
  /// probably lost, because a much later datagram has arrived. And if `is_newer(id)` says that the entity has
  /// a newer motion than the one that was sent, the spawn follows with it a few times, in intervals.
  template <class F>
  void repeat(Tick now, double tick_rate_hz, F&& is_newer);

  /// True if an entry should be written in tick `now`.
  [[nodiscard]] bool is_due(Tick now) const {
    return waiting() > stuck_ || (waiting() > 0 && !earlier(now, tries_again_)) || has_due_copy(now);
  }
  /// Spawns that could not be sent may be possible now.
  void try_again() { stuck_ = tries_ = 0; }
  /// True if ends wait to be written for the first time.
  [[nodiscard]] bool has_ends() const { return ends_.count > 0; }
  /// True if more than a few entries wait, as after a join.
  [[nodiscard]] bool has_many() const { return waiting() > kFew; }
  /// Number of spawns that wait to be written.
  [[nodiscard]] std::size_t waiting_spawns() const { return spawns_.count + short_lived_.count; }
  /// True if the first entry did not fit into the last datagram beside the motions.
  [[nodiscard]] bool is_crowded_out() const { return crowded_out_; }

  /// Bytes of entries in datagrams without an outcome.
  [[nodiscard]] std::size_t bytes_in_flight() const { return bits_in_flight_ / 8; }
  /// Bytes of entries in datagrams that were acknowledged since the last call.
  [[nodiscard]] std::size_t take_acknowledged_bytes() { return std::exchange(bits_acknowledged_, 0) / 8; }

  /// Number of the newest spawn that was written; 0: none.
  [[nodiscard]] std::uint32_t newest_number() const { return newest_number_; }
  /// True if the client is known to have, or not to need, all spawns that were written.
  [[nodiscard]] bool has_all() const { return client_has_.all_up_to(newest_number_); }

  /// Writes a section that ends before the bit `limit_bits` of the writer, or nothing. Calls
  /// `make(spawn, sent)` for each spawn: `sent` has the id. `make` fills the rest of both except the number,
  /// and returns false if the spawn cannot be sent now. If it then sets `keeps_order`, messages from now on
  /// follow the spawn all the same. Calls `note(sent, bits)` for each spawn written and
  /// `note_end(id, waits, bits)` for each end; `waits`: it names messages that go before; `bits`: the size of
  /// the entry. Returns the number of entries written.
  template <class MakeSpawn, class NoteSpawn, class NoteEnd>
  std::size_t write(BitWriter& writer, std::size_t limit_bits, const Place& place, MakeSpawn&& make,
                    NoteSpawn&& note, NoteEnd&& note_end);

  /// The datagram `sequence` of tick `tick` was acknowledged or lost. Calls `spawned(sent)` for every
  /// acknowledged spawn and `ended(id)` for every acknowledged end. Calls `lost(sent)` for a lost spawn of an
  /// entity that the client has: the queue does not send its motion again. `predicted` and `values_follow`
  /// of these are not set, because the queue does not keep them.
  template <class Spawned, class Ended, class Lost>
  void settle(Sequence sequence, Tick tick, bool acked, Spawned&& spawned, Ended&& ended, Lost&& lost);

  /// The tick since which the client lacks an entry that waits; nullopt if none waits.
  [[nodiscard]] std::optional<Tick> oldest_since() const;
  /// Calls `f(id, tick)` for the entities of which only a spawn was sent. The client lacks what was published
  /// after this tick. If there are many, calls it only with a null id and a tick at least as old as all.
  template <class F>
  void for_each_unacknowledged(F&& f);

 private:
  static constexpr std::size_t kFew = 16;
  static constexpr std::size_t kMostRepeated = 64;   // unacknowledged spawns
  static constexpr std::size_t kMostLookedAt = 256;  // unacknowledged spawns
  static constexpr unsigned kMaxRepeats = 4;
  static constexpr double kRepeatIntervalS = 0.04;
  // A datagram that another one of this much later has overtaken is probably lost.
  static constexpr double kOvertakenS = 0.1;
  // A client that does not acknowledge them must not cost ever more; it loses old ones.
  static constexpr std::size_t kMostEnds = 32'768;
  static constexpr std::size_t kMostRefusals = 1024;
  // An end costs a few bytes, and an entity that is shown beyond its end flies through walls.
  static constexpr unsigned kCopiesOfShortEnds = 3;
  // A queue without entries keeps the memory for this number; a join needs that for thousands.
  static constexpr std::size_t kKeptEntries = 32;

  enum class Kind : std::uint8_t { spawn, end, refusal };
  enum class Waits : std::uint8_t { no, in_lost, in_ends, in_short_lived, in_spawns, in_copies };
  using Index = std::uint32_t;
  static constexpr Index kNone = 0xffffffffu;

  // A client that joins has an entry for each entity, so it is small.
  struct Entry {
    Kind kind = Kind::spawn;
    Waits waits = Waits::no;
    std::uint8_t copies = 0;     // copies that follow the first
    std::uint8_t in_flight = 0;  // datagrams in flight that contain the entry
    std::uint8_t repeats = 0;    // newer motions sent before the acknowledgement
    bool is_short_lived : 1 = false;
    bool is_after_messages : 1 = false;
    std::uint16_t after_messages = 0;  // only if is_after_messages
    EntityId id{};
    std::uint32_t number = 0;  // of the spawn, 0: not written yet; of a refusal, the key
    Tick since = 0;            // the client lacks data of this tick until it has the entry
    Tick sent = 0;             // tick of the newest copy
    std::uint32_t serial = 0;  // distinguishes the entry from all others; 0: the place is free
    Index next = kNone;        // of a spawn: the next one in its bucket; of a free place: the next free one
  };
  static_assert(sizeof(Entry) == 36);
  // An entry, or none: it may have ended.
  struct Handle {
    Index index = 0;
    std::uint32_t serial = 0;
  };
  // Entries that wait, oldest first. The first one waits here; others may no longer.
  struct Queue {
    RingQueue<Handle> handles;
    OldestTick oldest;
    std::size_t count = 0;  // entries that wait here
  };
  struct Unacknowledged {
    Handle handle;
    Tick tick = 0;  // of the first copy
  };
  // A copy in a datagram. It has what is left of Sent, without padding.
  struct InFlight {
    Handle handle;
    EntityId id;
    std::uint32_t number = 0;
    std::uint32_t publish = 0;
    Tick motion_tick = 0;
    std::uint16_t bits = 0;
    std::uint8_t level = 0;
    Kind kind = Kind::spawn;

    [[nodiscard]] Sent sent() const {
      return {.id = id, .number = number, .publish = publish, .level = level, .motion_tick = motion_tick};
    }
  };
  static_assert(8 * SpawnsWriter::kMaxEntryBytes <= std::numeric_limits<std::uint16_t>::max());
  enum class Outcome : std::uint8_t { written, not_now, no_room };

  Entry& add(const Entry& entry);
  void remove(Index index);
  void release();
  // The entry with the spawn of an entity; kNone if there is none.
  [[nodiscard]] Index spawn_of(EntityId id);
  [[nodiscard]] Index& bucket_of(EntityId id) { return buckets_[id.index1 & (buckets_.size() - 1)]; }
  void add_to_bucket(Index index);
  void remove_oldest(Kind kind);
  [[nodiscard]] Handle handle_of(const Entry& entry) const {
    return {static_cast<Index>(&entry - entries_.data()), entry.serial};
  }
  [[nodiscard]] const Entry* find(const Handle& handle) const {
    if (handle.index >= entries_.size()) return nullptr;
    const Entry& entry = entries_[handle.index];
    return entry.serial == handle.serial ? &entry : nullptr;
  }
  [[nodiscard]] Entry* find(const Handle& handle) {
    return const_cast<Entry*>(std::as_const(*this).find(handle));
  }
  [[nodiscard]] Queue* queue_of(Waits waits);
  void wait(Entry& entry, Waits where);
  void wait_no_more(Entry& entry);
  static void pop(Queue& queue);
  void trim(Queue& queue, Waits where);
  void tidy(Queue& queue, Waits where);
  void tidy_unacknowledged();
  [[nodiscard]] std::size_t waiting() const {
    return lost_.count + ends_.count + short_lived_.count + spawns_.count;
  }
  [[nodiscard]] bool has_number() const { return client_has_.is_within_window(newest_number_ + 1); }
  // Only the last of several copies lies beyond a burst, so that a single loss costs little time.
  [[nodiscard]] static bool is_copy_due(const Entry& entry, Tick now, Tick gap) {
    return !earlier(now, entry.sent + (entry.copies > 1 ? 1 : gap));
  }
  [[nodiscard]] bool has_due_copy(Tick now) const;
  [[nodiscard]] bool leave_out_values(Sent& sent);
  void give_number(Entry& entry, Tick tick);
  void note_written(Entry& entry, const Place& place, const Sent& sent, std::size_t bits);
  void note_lost(Entry& entry);

  template <class MakeSpawn, class NoteSpawn, class NoteEnd>
  Outcome write_entry(Entry& entry, SpawnsWriter& section, BitWriter& writer, std::size_t limit_bits,
                      const Place& place, MakeSpawn& make, NoteSpawn& note, NoteEnd& note_end);

  std::vector<Entry> entries_;
  Index first_free_ = kNone;
  std::uint32_t serials_ = 0;   // the newest serial
  std::size_t used_ = 0;        // places of entries_ with an entry
  std::size_t all_spawns_ = 0;  // entries that are spawns
  // The spawns by entity, a hash table: their lists begin here. Its size is 0 or a power of two.
  std::vector<Index> buckets_;
  Queue lost_, ends_, short_lived_, spawns_;
  std::vector<Handle> copies_;  // entries of which another copy or a newer motion waits
  Tick copy_gap_ = 1;           // ticks between two copies
  std::uint32_t newest_number_ = 0;
  // The unacknowledged spawns in order of their first copies. Some may have ended.
  RingQueue<Unacknowledged> unacknowledged_;
  SettledNumbers client_has_;
  std::optional<Tick> arrived_;  // tick of the newest acknowledged datagram
  SentContents<InFlight> in_flight_;
  std::size_t bits_in_flight_ = 0, bits_acknowledged_ = 0;
  std::size_t refusals_ = 0, ends_kept_ = 0;
  SpawnEntry scratch_;  // keeps its memory
  bool crowded_out_ = false;
  std::size_t stuck_ = 0;  // entries that cannot be sent before tries_again_
  Tick tries_again_ = 0, tries_ = 0;
};

template <class F>
void SpawnQueue::repeat(Tick now, double tick_rate_hz, F&& is_newer) {
  if (all_spawns_ == 0 || all_spawns_ > kMostRepeated) return;
  const Tick interval = whole_ticks(kRepeatIntervalS * tick_rate_hz + 0.999);
  const Tick overtaken = whole_ticks(kOvertakenS * tick_rate_hz + 0.999);
  tidy_unacknowledged();
  for (const Unacknowledged& written : unacknowledged_) {
    Entry* const found = find(written.handle);
    if (found == nullptr || found->in_flight == 0 || found->waits != Waits::no) continue;
    Entry& entry = *found;
    if (arrived_ && earlier(entry.sent + overtaken, *arrived_)) {
      wait(entry, Waits::in_lost);
    } else if (entry.repeats < kMaxRepeats && !earlier(now, entry.sent + interval) && is_newer(entry.id)) {
      entry.since = entry.sent + 1;
      ++entry.repeats;
      wait(entry, Waits::in_copies);
    }
  }
}

template <class F>
void SpawnQueue::for_each_unacknowledged(F&& f) {
  tidy_unacknowledged();
  if (unacknowledged_.size() > kMostLookedAt) return f(EntityId{}, unacknowledged_.front().tick);
  for (const Unacknowledged& written : unacknowledged_) {
    if (const Entry* entry = find(written.handle)) f(entry->id, entry->sent);
  }
}

template <class MakeSpawn, class NoteSpawn, class NoteEnd>
SpawnQueue::Outcome SpawnQueue::write_entry(Entry& entry, SpawnsWriter& section, BitWriter& writer,
                                            std::size_t limit_bits, const Place& place, MakeSpawn& make,
                                            NoteSpawn& note, NoteEnd& note_end) {
  Sent sent{.id = entry.id, .number = entry.number};
  if (entry.kind == Kind::end) {
    std::optional<std::uint16_t> after_messages;
    if (entry.is_after_messages) after_messages = entry.after_messages;
    scratch_ = Despawn{entry.number, entry.id, place.tick - entry.since, after_messages};
  } else if (entry.kind == Kind::refusal) {
    scratch_ = PredictionRefusal{entry.number};
  } else {
    if (sent.number == 0) sent.number = newest_number_ + 1;
    Spawn& spawn =
        std::holds_alternative<Spawn>(scratch_) ? std::get<Spawn>(scratch_) : scratch_.emplace<Spawn>();
    if (!make(spawn, sent)) {
      if (sent.keeps_order) give_number(entry, place.tick);
      return Outcome::not_now;
    }
    spawn.number = sent.number;
  }
  const std::size_t before = writer.bits_written();
  // A spawn that did not fit into a datagram of its own goes without its values.
  const auto fits = [&] { return section.add(writer, scratch_, limit_bits); };
  if (!fits() && !(section.empty() && crowded_out_ && leave_out_values(sent) && fits()))
    return Outcome::no_room;
  const std::size_t bits = writer.bits_written() - before;
  if (entry.kind == Kind::spawn) {
    give_number(entry, place.tick);
    note(sent, bits);
  }
  if (entry.kind == Kind::end) note_end(entry.id, entry.is_after_messages, bits);
  note_written(entry, place, sent, bits);
  return Outcome::written;
}

template <class MakeSpawn, class NoteSpawn, class NoteEnd>
std::size_t SpawnQueue::write(BitWriter& writer, std::size_t limit_bits, const Place& place, MakeSpawn&& make,
                              NoteSpawn&& note, NoteEnd&& note_end) {
  copy_gap_ = std::clamp<Tick>(whole_ticks(PeerLink::kCopyGapS * place.tick_rate_hz), 1, 4);
  SpawnsWriter section;
  std::size_t written = 0, not_now = 0;
  bool is_full = false;
  for (std::size_t i = 0; i < copies_.size() && !is_full;) {
    Entry* entry = find(copies_[i]);
    if (entry != nullptr && entry->waits == Waits::in_copies && is_copy_due(*entry, place.tick, copy_gap_)) {
      const Outcome outcome = write_entry(*entry, section, writer, limit_bits, place, make, note, note_end);
      written += outcome == Outcome::written ? 1 : 0;
      is_full = outcome == Outcome::no_room;
    }
    const bool still_waits = entry != nullptr && entry->waits == Waits::in_copies;
    if (still_waits) {
      ++i;
    } else {
      copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  for (const Waits where : {Waits::in_lost, Waits::in_ends, Waits::in_short_lived, Waits::in_spawns}) {
    if (place.ends_only && where != Waits::in_ends) continue;
    Queue& queue = *queue_of(where);
    for (std::size_t left = queue.count; left > 0 && !is_full; --left) {
      const Handle handle = queue.handles.front();
      Entry& entry = entries_[handle.index];  // the first one always waits here
      if (entry.kind == Kind::spawn && entry.number == 0 && !has_number()) {
        not_now += left;
        break;
      }
      const Outcome outcome = write_entry(entry, section, writer, limit_bits, place, make, note, note_end);
      is_full = outcome == Outcome::no_room;
      written += outcome == Outcome::written ? 1 : 0;
      if (outcome != Outcome::not_now) continue;
      // It depends on another entry, or on a route: the others go first.
      ++not_now;
      pop(queue);
      queue.handles.push_back(handle);
      queue.oldest.push(entry.since);
      trim(queue, where);
    }
  }
  crowded_out_ = is_full && written == 0;
  // What could not be sent does not need a datagram of its own in every tick.
  stuck_ = is_full || written > 0 || place.ends_only ? 0 : not_now;
  tries_ = stuck_ > 0 ? std::min(tries_ + 1, copy_gap_) : 0;
  tries_again_ = place.tick + tries_;
  section.finish(writer);
  return written;
}

template <class Spawned, class Ended, class Lost>
void SpawnQueue::settle(Sequence sequence, Tick tick, bool acked, Spawned&& spawned, Ended&& ended,
                        Lost&& lost) {
  if (acked && (!arrived_ || earlier(*arrived_, tick))) arrived_ = tick;
  in_flight_.settle(sequence, [&](const InFlight& s) {
    Entry* entry = find(s.handle);
    bits_in_flight_ -= s.bits;
    if (acked) {
      bits_acknowledged_ += s.bits;
      if (s.kind != Kind::refusal) client_has_.settle(s.number);
      try_again();
      if (entry != nullptr) remove(s.handle.index);
      if (s.kind == Kind::spawn) spawned(s.sent());
      if (s.kind == Kind::end) ended(s.id);
    } else if (entry != nullptr) {
      note_lost(*entry);
    } else if (s.kind == Kind::spawn) {
      lost(s.sent());
    }
  });
}

}  // namespace reckoner
