// SPDX-License-Identifier: MIT
#include "client/src/world/entity_store.hpp"

#include <utility>

namespace reckoner {
namespace {

// The number of removed entities whose baselines are kept. Datagrams that need them arrive within seconds.
constexpr std::size_t kMaxGone = 256;

}  // namespace

void EntityStore::put(KnownEntity entity) {
  const std::size_t slot = entity.id.slot();
  if (slot >= slots_.size()) {
    slots_.resize(slot + 1);
    references_.resize(slot + 1);
    archetypes_.resize(slot + 1, 0);
    is_changed_.resize(slot + 1, false);
  }
  archetypes_[slot] = static_cast<std::uint16_t>(entity.info.archetype + 1);
  // If an entity returns, it keeps its baselines, because updates in transit may refer to them.
  if (!references_[slot] || references_[slot]->id() != entity.id)
    references_[slot] = std::make_unique<References>(entity.id);
  slots_[slot] = std::make_unique<KnownEntity>(std::move(entity));
  note_change(slot);
}

KnownEntity* EntityStore::at(std::uint32_t slot) {
  if (slot >= slots_.size()) return nullptr;
  note_change(slot);
  return slots_[slot].get();
}

KnownEntity* EntityStore::find(EntityId id) {
  KnownEntity* entity = id ? at(static_cast<std::uint32_t>(id.slot())) : nullptr;
  return entity != nullptr && entity->id == id ? entity : nullptr;
}

const KnownEntity* EntityStore::find(EntityId id) const {
  if (!id || id.slot() >= slots_.size()) return nullptr;
  const auto& entity = slots_[id.slot()];
  return entity && entity->id == id ? entity.get() : nullptr;
}

void EntityStore::remove(std::uint32_t slot) {
  if (at(slot) == nullptr) return;
  gone_.push_back(slots_[slot]->id);
  slots_[slot].reset();
  if (gone_.size() <= kMaxGone) return;
  const EntityId oldest = gone_.front();
  gone_.pop_front();
  const bool back = find(oldest) != nullptr;
  if (!back && references_[oldest.slot()] && references_[oldest.slot()]->id() == oldest)
    references_[oldest.slot()].reset();
}

std::optional<std::size_t> EntityStore::archetype_of(std::uint32_t slot) const {
  if (slot >= archetypes_.size() || archetypes_[slot] == 0) return std::nullopt;
  return archetypes_[slot] - 1u;
}

}  // namespace reckoner
