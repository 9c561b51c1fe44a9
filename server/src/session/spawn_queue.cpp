// SPDX-License-Identifier: MIT
#include "server/src/session/spawn_queue.hpp"

#include <algorithm>
#include <utility>

namespace reckoner {

SpawnQueue::Entry& SpawnQueue::add(const Entry& entry) {
  if (first_free_ == kNone) {
    if (entries_.empty()) entries_.reserve(kFew);
    first_free_ = static_cast<Index>(entries_.size());
    entries_.emplace_back();
  }
  ++used_;
  const Index index = first_free_;
  Entry& added = entries_[index];
  first_free_ = added.next;
  added = entry;
  if (++serials_ == 0) ++serials_;  // 0 is that of free places
  added.serial = serials_;
  if (added.kind == Kind::spawn) add_to_bucket(index);
  return added;
}

SpawnQueue::Index SpawnQueue::spawn_of(EntityId id) {
  if (buckets_.empty()) return kNone;
  Index index = bucket_of(id);
  while (index != kNone && entries_[index].id != id)
    index = entries_[index].next;
  return index;
}

void SpawnQueue::add_to_bucket(Index index) {
  if (++all_spawns_ > buckets_.size()) {
    const std::vector<Index> before =
        std::exchange(buckets_, std::vector(std::max(kFew, 2 * buckets_.size()), kNone));
    for (Index first : before) {
      while (first != kNone) {
        Entry& entry = entries_[first];
        const Index next = std::exchange(entry.next, std::exchange(bucket_of(entry.id), first));
        first = next;
      }
    }
  }
  Entry& added = entries_[index];
  added.next = std::exchange(bucket_of(added.id), index);
}

void SpawnQueue::remove(Index index) {
  Entry& entry = entries_[index];
  wait_no_more(entry);
  if (entry.kind == Kind::spawn) {
    Index* link = &bucket_of(entry.id);
    while (*link != index)
      link = &entries_[*link].next;
    *link = entry.next;
    --all_spawns_;
  }
  if (entry.kind == Kind::end) --ends_kept_;
  if (entry.kind == Kind::refusal) --refusals_;
  entry.serial = 0;
  entry.next = std::exchange(first_free_, index);
  --used_;
  release();
}

// What a join needed is too much for the time after it.
void SpawnQueue::release() {
  if (used_ > 0 || entries_.size() <= kKeptEntries) return;
  entries_ = {};
  buckets_ = {};
  first_free_ = kNone;
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
  queue.handles.erase_if([&](const Handle& handle) {
    const Entry* entry = find(handle);
    return entry == nullptr || entry->waits != where;
  });
  queue.oldest = {};
  for (const Handle& handle : queue.handles)
    queue.oldest.push(entries_[handle.index].since);
}

// Removes acknowledged spawns from the front, and all of them if they are most.
void SpawnQueue::tidy_unacknowledged() {
  while (!unacknowledged_.empty() && find(unacknowledged_.front().handle) == nullptr)
    unacknowledged_.pop_front();
  if (unacknowledged_.size() < 2 * all_spawns_ + kFew) return;
  unacknowledged_.erase_if([&](const Unacknowledged& written) { return find(written.handle) == nullptr; });
}

void SpawnQueue::add_spawn(EntityId id, Tick since, bool is_short_lived) {
  Entry& entry = add({.kind = Kind::spawn, .is_short_lived = is_short_lived, .id = id, .since = since});
  wait(entry, is_short_lived ? Waits::in_short_lived : Waits::in_spawns);
  try_again();
}

void SpawnQueue::add_end(EntityId id, bool is_short_lived, std::uint32_t number, Tick tick,
                         std::optional<std::uint16_t> after_messages) {
  if (const Index spawn = spawn_of(id); spawn != kNone) {
    if (number == 0) number = entries_[spawn].number;  // messages may wait for it
    remove(spawn);
  }
  if (number == 0) return;
  if (ends_kept_ >= kMostEnds) remove_oldest(Kind::end);
  ++ends_kept_;
  wait(add({.kind = Kind::end,
            .is_short_lived = is_short_lived,
            .is_after_messages = after_messages.has_value(),
            .after_messages = after_messages.value_or(0),
            .id = id,
            .number = number,
            .since = tick}),
       Waits::in_ends);
}

// The client needs the end only if it lacks the spawn: it must not wait for its number for ever.
void SpawnQueue::end_as_planned(EntityId id, std::uint32_t number, Tick tick) {
  if (spawn_of(id) != kNone) add_end(id, true, number, tick, std::nullopt);
}

void SpawnQueue::add_refusal(std::uint32_t key, Tick tick) {
  if (refusals_ >= kMostRefusals) remove_oldest(Kind::refusal);
  ++refusals_;
  wait(add({.kind = Kind::refusal, .number = key, .since = tick}), Waits::in_ends);
}

void SpawnQueue::remove_oldest(Kind kind) {
  const auto exists = [&](const Entry& e) { return e.serial != 0 && e.kind == kind; };
  const Entry* oldest = nullptr;
  for (const Entry& entry : entries_) {
    if (exists(entry) && (oldest == nullptr || earlier(entry.since, oldest->since))) oldest = &entry;
  }
  if (oldest != nullptr) remove(handle_of(*oldest).index);
}

bool SpawnQueue::has_due_copy(Tick now) const {
  return std::ranges::any_of(copies_, [&](const Handle& handle) {
    const Entry* entry = find(handle);
    return entry != nullptr && entry->waits == Waits::in_copies && is_copy_due(*entry, now, copy_gap_);
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

// The first time, when the spawn is written or takes its place in the order of the messages.
void SpawnQueue::give_number(Entry& entry, Tick tick) {
  if (entry.number != 0) return;
  entry.number = ++newest_number_;
  entry.sent = tick;
  unacknowledged_.push_back({handle_of(entry), tick});
}

void SpawnQueue::note_written(Entry& entry, const Place& place, const Sent& sent, std::size_t bits) {
  const bool is_first = entry.in_flight == 0 && entry.waits != Waits::in_lost;
  const bool was_copy = entry.waits == Waits::in_copies;
  ++entry.in_flight;
  entry.sent = place.tick;
  bits_in_flight_ += bits;
  in_flight_.add(place.sequence, {.handle = handle_of(entry),
                                  .id = sent.id,
                                  .number = sent.number,
                                  .publish = sent.publish,
                                  .motion_tick = sent.motion_tick,
                                  .bits = static_cast<std::uint16_t>(bits),
                                  .level = sent.level,
                                  .kind = entry.kind});
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
