// SPDX-License-Identifier: MIT
#include "server/src/session/subscriptions.hpp"

#include <cassert>
#include <utility>

namespace reckoner {

Subscription& Subscriptions::add(EntityId id, std::uint8_t level) {
  const auto slot = static_cast<std::uint32_t>(id.slot());
  assert(find(slot) == nullptr);
  if (slot >= index_.size()) index_.resize(slot + std::size_t{1}, kNone);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(entries_.size()));
    entries_.emplace_back();
  }
  index_[slot] = free_.back();
  free_.pop_back();
  followed_.insert(slot);
  Subscription& added = entries_[index_[slot]];
  added = {};
  added.id = id;
  added.level = level;
  return added;
}

void Subscriptions::remove(std::uint32_t slot) {
  const Subscription* gone = find(slot);
  if (gone == nullptr) return;
  stop_listening(*gone);
  due_.erase(slot);
  followed_.erase(slot);
  const Index index = std::exchange(index_[slot], kNone);
  entries_[index] = {};  // spawn_number 0: acknowledgements of earlier updates no longer match
  free_.push_back(index);
}

const Subscription* Subscriptions::find(std::uint32_t slot) const {
  return slot < index_.size() && index_[slot] != kNone ? &entries_[index_[slot]] : nullptr;
}

Subscription* Subscriptions::find(std::uint32_t slot) {
  return slot < index_.size() && index_[slot] != kNone ? &entries_[index_[slot]] : nullptr;
}

Subscription* Subscriptions::find(EntityId id) {
  Subscription* found = id ? find(static_cast<std::uint32_t>(id.slot())) : nullptr;
  return found != nullptr && found->id == id ? found : nullptr;
}

void Subscriptions::note_published(const Published& published, Tick tick,
                                   std::vector<std::uint32_t>& scratch) {
  scratch.clear();
  // Allocates once, and not each time when more slots are published than ever before.
  scratch.reserve(index_.size());
  // In three passes, so that memory for all subscriptions loads at the same time.
  for (const std::uint32_t w : published.words()) {
    std::uint64_t fresh = 0;
    for (std::size_t level = 0; level < kLevels; ++level) {
      if (listeners_[level] > 0) fresh |= listening_[level].word(w) & published.word(level, w);
    }
    SlotSet::for_each_in(fresh, w, [&](std::uint32_t slot) {
      prefetch(&index_[slot]);
      scratch.push_back(slot);
    });
  }
  for (const std::uint32_t slot : scratch)
    prefetch(&entries_[index_[slot]]);
  for (const std::uint32_t slot : scratch) {
    Subscription& s = entries_[index_[slot]];
    s.repair = false;
    if (due_.contains(slot)) continue;
    s.due_since = tick;
    due_.insert(slot);
  }
}

// Prefetches only the words with published slots. These few words contain most of the due entities, too.
void Subscriptions::fetch(const Published& published) const {
  prefetch(due_.filled().words().data(), due_.filled().words().size_bytes());
  for (const std::uint32_t w : published.words()) {
    due_.slots().fetch(w);
    for (std::size_t level = 0; level < kLevels; ++level) {
      if (listeners_[level] > 0) listening_[level].fetch(w);
    }
  }
}

void Subscriptions::confirm(Subscription& subscription, std::uint32_t publish, std::uint8_t level,
                            Tick motion_tick) {
  subscription.confirmed = true;
  note_acknowledged(subscription, publish, level, motion_tick);
  listen(subscription);
}

void Subscriptions::note_acknowledged(Subscription& subscription, std::uint32_t publish, std::uint8_t level,
                                      Tick motion_tick) {
  // A publish of another level, or from before the client owned the entity, is no longer a valid baseline.
  if (level != subscription.level || subscription.sent < publish || publish <= subscription.acknowledged)
    return;
  subscription.acknowledged = publish;
  subscription.acknowledged_tick = motion_tick;
}

void Subscriptions::set_muted(Subscription& subscription, bool muted, Tick tick) {
  if (subscription.muted == muted) return;
  if (muted) {
    stop_listening(subscription);
    due_.erase(static_cast<std::uint32_t>(subscription.id.slot()));
    subscription.muted = true;
    return;
  }
  subscription.muted = false;
  subscription.sent = 0;
  if (!subscription.confirmed) return;
  listen(subscription);
  set_due(subscription, tick, false);
}

void Subscriptions::listen(const Subscription& subscription) {
  if (subscription.muted) return;
  listening_[subscription.level].insert(static_cast<std::uint32_t>(subscription.id.slot()));
  ++listeners_[subscription.level];
}

void Subscriptions::stop_listening(const Subscription& subscription) {
  if (!subscription.confirmed || subscription.muted) return;
  listening_[subscription.level].erase(static_cast<std::uint32_t>(subscription.id.slot()));
  --listeners_[subscription.level];
}

void Subscriptions::set_level(Subscription& subscription, std::uint8_t level, Tick tick) {
  stop_listening(subscription);
  subscription.level = level;
  subscription.sent = subscription.acknowledged = 0;
  if (!subscription.confirmed) return;
  listen(subscription);
  set_due(subscription, tick, false);
}

void Subscriptions::set_due(Subscription& subscription, Tick since, bool repair) {
  if (subscription.muted) return;
  const auto slot = static_cast<std::uint32_t>(subscription.id.slot());
  const bool due = due_.contains(slot);
  subscription.repair = repair && (subscription.repair || !due);
  subscription.due_since = due && earlier(subscription.due_since, since) ? subscription.due_since : since;
  due_.insert(slot);
}

}  // namespace reckoner
