// SPDX-License-Identifier: MIT
#include "server/src/session/spawn_queue.hpp"

#include <algorithm>
#include <utility>

namespace reckoner {

SpawnQueue::Entry& SpawnQueue::add(const Entry& entry) {
  if (free_.empty()) {
    free_.push_back(static_cast<Index>(entries_.size()));
    entries_.emplace_back();
  }
  Entry& added = entries_[free_.back()];
  free_.pop_back();
  const std::uint32_t version = added.version;
  added = entry;
  added.version = version;
  return added;
}

void SpawnQueue::remove(Index index) {
  Entry& entry = entries_[index];
  wait_no_more(entry);
  entry.in_flight = 0;
  if (entry.kind == Kind::spawn) spawn_of_.erase(entry.id);
  if (entry.kind == Kind::end) --ends_kept_;
  if (entry.kind == Kind::refusal) --refusals_;
  ++entry.version;
  free_.push_back(index);
}

SpawnQueue::Queue* SpawnQueue::queue_of(Waits waits) {
  switch (waits) {
    case Waits::in_lost:
      return &lost_;
    case Waits::in_ends:
      return &ends_;
    case Waits::in_short_lived:
      return &short_lived_;
    case Waits::in_spawns:
      return &spawns_;
    case Waits::no:
    case Waits::in_copies:
      break;
  }
  return nullptr;
}

void SpawnQueue::wait(Entry& entry, Waits where) {
  wait_no_more(entry);
  entry.waits = where;
  if (Queue* queue = queue_of(where)) {
    queue->handles.push_back(handle_of(entry));
    queue->oldest.push(entry.since);
    ++queue->count;
    tidy(*queue, where);
  } else {
    copies_.push_back(handle_of(entry));
  }
}

void SpawnQueue::wait_no_more(Entry& entry) {
  const Waits where = std::exchange(entry.waits, Waits::no);
  Queue* queue = queue_of(where);
  if (queue == nullptr) return;
  --queue->count;
  trim(*queue, where);
}

// Removes what no longer waits from the front, because the first one decides how old the oldest is.
void SpawnQueue::trim(Queue& queue, Waits where) {
  while (!queue.handles.empty()) {
    const Entry* first = find(queue.handles.front());
    if (first != nullptr && first->waits == where) return;
    pop(queue);
  }
}

void SpawnQueue::pop(Queue& queue) {
  queue.handles.pop_front();
  queue.oldest.pop();
}

// Entities may come and go while nothing is written. So most handles in a queue may be out of date.
void SpawnQueue::tidy(Queue& queue, Waits where) {
  if (queue.handles.size() < 2 * queue.count + kFew) return;
  std::deque<Handle> handles;
  std::swap(handles, queue.handles);
  queue.oldest = {};
  for (const Handle& handle : handles) {
    const Entry* entry = find(handle);
    if (entry == nullptr || entry->waits != where) continue;
    queue.handles.push_back(handle);
    queue.oldest.push(entry->since);
  }
}

void SpawnQueue::add_spawn(EntityId id, Tick since, bool is_short_lived) {
  Entry& entry = add({.kind = Kind::spawn, .is_short_lived = is_short_lived, .id = id, .since = since});
  spawn_of_[id] = handle_of(entry).index;
  wait(entry, is_short_lived ? Waits::in_short_lived : Waits::in_spawns);
  try_again();
}

void SpawnQueue::add_end(EntityId id, bool is_short_lived, std::uint32_t number, Tick tick,
                         std::optional<std::uint16_t> after_messages) {
  if (const auto spawn = spawn_of_.find(id); spawn != spawn_of_.end()) remove(spawn->second);
  if (number == 0) return;
  if (ends_kept_ >= kMostEnds) remove_oldest(Kind::end);
  ++ends_kept_;
  wait(add({.kind = Kind::end,
            .is_short_lived = is_short_lived,
            .id = id,
            .number = number,
            .since = tick,
            .after_messages = after_messages}),
       Waits::in_ends);
}

// The client needs the end only if it lacks the spawn: it must not wait for its number for ever.
void SpawnQueue::end_as_planned(EntityId id, std::uint32_t number, Tick tick) {
  if (spawn_of_.contains(id)) add_end(id, true, number, tick, std::nullopt);
}

void SpawnQueue::add_refusal(std::uint32_t key, Tick tick) {
  if (refusals_ >= kMostRefusals) remove_oldest(Kind::refusal);
  ++refusals_;
  wait(add({.kind = Kind::refusal, .number = key, .since = tick}), Waits::in_ends);
}

void SpawnQueue::remove_oldest(Kind kind) {
  const auto exists = [&](const Entry& e) {
    return e.kind == kind && (e.waits != Waits::no || e.in_flight > 0);
  };
  const Entry* oldest = nullptr;
  for (const Entry& entry : entries_) {
    if (exists(entry) && (oldest == nullptr || earlier(entry.since, oldest->since))) oldest = &entry;
  }
  if (oldest != nullptr) remove(handle_of(*oldest).index);
}

bool SpawnQueue::has_due_copy(Tick now) const {
  return std::ranges::any_of(copies_, [&](const Handle& handle) {
    const Entry& entry = entries_[handle.index];
    return entry.version == handle.version && entry.waits == Waits::in_copies &&
           is_copy_due(entry, now, copy_gap_);
  });
}

// Lets the values of the spawn in `scratch_` follow. Returns false if it has none.
bool SpawnQueue::leave_out_values(Sent& sent) {
  Spawn* spawn = std::get_if<Spawn>(&scratch_);
  if (spawn == nullptr || spawn->fields.empty()) return false;
  spawn->fields.clear();
  spawn->values_follow = sent.values_follow = true;
  return true;
}

void SpawnQueue::note_written(Entry& entry, const Place& place, const Sent& sent, std::size_t bits) {
  const bool is_first = entry.in_flight == 0 && entry.waits != Waits::in_lost;
  const bool was_copy = entry.waits == Waits::in_copies;
  ++entry.in_flight;
  entry.sent = place.tick;
  bits_in_flight_ += bits;
  in_flight_.add(place.sequence, {handle_of(entry), entry.kind, static_cast<std::uint32_t>(bits), sent});
  if (is_first) {
    const bool few = waiting() <= kFew;
    const unsigned all = entry.kind == Kind::end && entry.is_short_lived ? kCopiesOfShortEnds
                         : place.loses && few                            ? 2
                                                                         : 1;
    entry.copies = static_cast<std::uint8_t>(all - 1);
  } else if (was_copy && entry.copies > 0) {
    --entry.copies;
  }
  if (was_copy && entry.copies > 0) return;  // it waits for the next copy
  if (entry.copies == 0) return wait_no_more(entry);
  wait(entry, Waits::in_copies);
}

void SpawnQueue::note_lost(Entry& entry) {
  --entry.in_flight;
  if (entry.in_flight > 0 || (queue_of(entry.waits) != nullptr)) return;
  entry.copies = 0;
  wait(entry, Waits::in_lost);
}

std::optional<Tick> SpawnQueue::oldest_since() const {
  std::optional<Tick> oldest;
  for (const Queue* queue : {&lost_, &ends_, &short_lived_, &spawns_}) {
    const auto since = queue->oldest.get();
    if (since && (!oldest || earlier(*since, *oldest))) oldest = since;
  }
  return oldest;
}

}  // namespace reckoner
