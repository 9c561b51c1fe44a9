// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/world/entity_store.hpp"

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include <reckoner/client/client.hpp>

namespace reckoner {

/// The events of a world that wait for the game, and the entities about which an event is due now or later.
class WorldEvents {
 public:
  void add(const ClientEvent& event) { events_.push_back(event); }
  /// Moves the events to the end of `queue`.
  void move_to(std::deque<ClientEvent>& queue) {
    if (events_.empty()) return;
    queue.insert(queue.end(), events_.begin(), events_.end());
    events_.clear();
  }

  /// An event about the entity is due now or later.
  void note_news(KnownEntity& entity) {
    if (std::exchange(entity.has_news, true)) return;
    with_news_.push_back(static_cast<std::uint32_t>(entity.id.slot()));
  }
  /// Call it after something that may have made any entity jump.
  void note_jumps(const EntityStore& entities) {
    for (const auto& entity : entities.slots()) {
      if (entity && has_jumped(*entity)) note_news(*entity);
    }
  }
  /// Calls `f(slot)` for each entity with news. If it returns false, no event about the entity is due later.
  /// `f` must not call note_news() for an entity without news.
  template <class F>
  void review_news(F&& f) {
    std::erase_if(with_news_, [&](std::uint32_t slot) { return !f(slot); });
  }

 private:
  std::deque<ClientEvent> events_;
  std::vector<std::uint32_t> with_news_;  // slots
};

}  // namespace reckoner
