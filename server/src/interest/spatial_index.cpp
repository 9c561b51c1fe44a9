// SPDX-License-Identifier: MIT
#include "server/src/interest/spatial_index.hpp"

#include <algorithm>

namespace reckoner {

void SpatialIndex::place(std::uint32_t slot, const glm::dvec3& position) {
  if (at_rest_.contains(slot)) resting_.remove(slot);
  at_rest_.erase(slot);
  settling_.erase(slot);
  on_the_move_.insert(slot);
  moving_.place(slot, position);
}

void SpatialIndex::remove(std::uint32_t slot) {
  moving_.remove(slot);
  resting_.remove(slot);
  on_the_move_.erase(slot);
  settling_.erase(slot);
  at_rest_.erase(slot);
}

void SpatialIndex::keep_up(const EntityTable& entities, Tick tick) {
  for (std::size_t word = 0; word < on_the_move_.words().size(); ++word)
    sort_out(entities, tick, word);
  const auto replace = [&](std::uint32_t slot) {
    if ((slot + tick) % interval_ticks_ == 0) place(slot, entities.place_of(entities.slots()[slot]));
  };
  // Entities fall asleep long after their last move, so their final position is not missed. Entities in a
  // frame move with it even while they sleep.
  entities.awake().for_each(replace);
  std::ranges::for_each(entities.frames().members(), replace);
  // Every client has searched since these entities began to settle: they are at rest now.
  const auto early = std::find_if(order_.begin(), order_.end(), [&](const Settling& settling) {
    return tick - settling.since < interval_ticks_;
  });
  std::for_each(order_.begin(), early, [&](const Settling& settling) {
    const std::uint32_t slot = settling.slot;
    if (!settling_.contains(slot) || settling_since_[slot] != settling.since) return;
    settling_.erase(slot);
    moving_.remove(slot);
    at_rest_.insert(slot);
    resting_.place(slot, entities.place_of(entities.slots()[slot]));
  });
  order_.erase(order_.begin(), early);
}

// Notes which entities have woken up or fallen asleep since the last tick.
void SpatialIndex::sort_out(const EntityTable& entities, Tick tick, std::size_t word) {
  const std::uint64_t awake = entities.awake().word(word);
  SlotSet::for_each_in(awake & (settling_.word(word) | at_rest_.word(word)), word,
                       [&](std::uint32_t slot) { place(slot, entities.place_of(entities.slots()[slot])); });
  SlotSet::for_each_in(on_the_move_.word(word) & ~awake, word, [&](std::uint32_t slot) {
    if (entities.slots()[slot].frame) return;
    on_the_move_.erase(slot);
    settling_.insert(slot);
    if (slot >= settling_since_.size()) settling_since_.resize(entities.slots().size());
    settling_since_[slot] = tick;
    order_.push_back({slot, tick});
  });
}

}  // namespace reckoner
