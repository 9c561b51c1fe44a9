// SPDX-License-Identifier: MIT
#include "subscriptions.hpp"

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
  added.serial = next_serial_++;
  return added;
}

void Subscriptions::remove(std::uint32_t slot) {
  const Subscription* gone = find(slot);
  if (gone == nullptr) return;
  stop_listening(*gone);
  due_.erase(slot);
  followed_.erase(slot);
  const Place place = std::exchange(index_[slot], kNone);
  entries_[place] = {};  // no serial: what was on its way for it concerns nobody any more
  free_.push_back(place);
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
                                   std::vector<std::uint64_t>& scratch) {
  const std::size_t words = followed_.words().size();
  due_.fit(words * SlotSet::kWordBits);
  scratch.resize(words);
  // In rounds, so that the subscriptions concerned come from far memory all at the same time.
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t fresh = 0;
    for (std::size_t level = 0; level < kLevels; ++level) {
      if (listeners_[level] > 0) fresh |= listening_[level].word(w) & published[level].word(w);
    }
    scratch[w] = fresh;
    SlotSet::for_each_in(fresh, w, [&](std::uint32_t slot) { prefetch(&index_[slot]); });
  }
  for (std::size_t w = 0; w < words; ++w)
    SlotSet::for_each_in(scratch[w], w, [&](std::uint32_t slot) { prefetch(&entries_[index_[slot]]); });
  const auto due = due_.words();
  for (std::size_t w = 0; w < words; ++w) {
    SlotSet::for_each_in(scratch[w], w, [&](std::uint32_t slot) {
      Subscription& s = entries_[index_[slot]];
      s.repair = false;
      if (!due_.contains(slot)) s.due_since = tick;
    });
    due[w] |= scratch[w];
  }
}

void Subscriptions::fetch() const {
  prefetch(due_.words().data(), due_.words().size_bytes());
  for (std::size_t level = 0; level < kLevels; ++level) {
    if (listeners_[level] > 0)
      prefetch(listening_[level].words().data(), listening_[level].words().size_bytes());
  }
}

void Subscriptions::confirm(Subscription& subscription, Tick motion_tick) {
  subscription.confirmed = true;
  subscription.held = subscription.sent;
  subscription.held_tick = motion_tick;
  listen(subscription);
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
  subscription.sent = subscription.held = 0;
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
