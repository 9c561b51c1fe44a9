// SPDX-License-Identifier: MIT
#include "server/src/session/short_lived_queue.hpp"

#include <array>
#include <cstddef>

namespace reckoner {
namespace {

// Upper bound of an entry's size, bytes: fields, data, a motion and an end.
constexpr std::size_t kMaxEntryBytes = kMaxShortLivedBytes + 400;

}  // namespace

void ShortLivedQueue::add(const Entry& entry) {
  if (entries_.size() >= kMaxEntries) {
    const auto oldest = std::ranges::find_if(entries_, [](const Entry& e) { return e.kind != Kind::spawn; });
    if (oldest != entries_.end()) entries_.erase(oldest);
  }
  entries_.push_back(entry);
}

void ShortLivedQueue::repeat(EntityId id, Tick now, Tick interval) {
  for (Entry& e : entries_) {
    if (e.id != id || e.kind != Kind::spawn || e.in_flight == 0 || e.copies > 0 || e.repeats >= kMaxRepeats)
      continue;
    if (e.sent && earlier(now, *e.sent + interval)) continue;
    e.since = e.sent ? *e.sent + 1 : e.since;
    e.copies = 1;
    ++e.repeats;
  }
}

// Writes the entry if it ends before the bit `limit` of the writer.
bool ShortLivedQueue::write_entry(BitWriter& writer, std::size_t limit, const ShortLivedEntry& entry) {
  std::array<std::byte, kMaxEntryBytes> buffer;
  BitWriter scratch{buffer};
  write_short_lived(scratch, entry);
  const std::size_t bits = scratch.bits_written();
  if (writer.bits_written() + bits > limit) return false;
  writer.append(scratch.finish(), bits);
  return true;
}

void ShortLivedQueue::note_written(Entry& entry, Sequence sequence, Tick now, const SentSpawn& sent) {
  --entry.copies;
  ++entry.in_flight;
  entry.sent = now;
  entry.lost = false;
  in_flight_.push_back({sequence, entry.kind, sent});
}

}  // namespace reckoner
