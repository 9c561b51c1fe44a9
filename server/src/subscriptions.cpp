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

void Subscriptions::confirm(Subscription& subscription) {
  subscription.confirmed = true;
  subscription.held = subscription.sent;
  subscription.held_tick = subscription.sent_tick;
  listen(subscription);
}

void Subscriptions::listen(const Subscription& subscription) {
  listening_[subscription.level].insert(static_cast<std::uint32_t>(subscription.id.slot()));
  ++listeners_[subscription.level];
}

void Subscriptions::stop_listening(const Subscription& subscription) {
  if (!subscription.confirmed) return;
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
  const auto slot = static_cast<std::uint32_t>(subscription.id.slot());
  const bool due = due_.contains(slot);
  subscription.repair = repair && (subscription.repair || !due);
  subscription.due_since = due && earlier(subscription.due_since, since) ? subscription.due_since : since;
  due_.insert(slot);
}

}  // namespace reckoner
