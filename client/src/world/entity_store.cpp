// SPDX-License-Identifier: MIT
#include "client/src/world/entity_store.hpp"

#include <utility>

namespace reckoner {
namespace {

// The number of removed entities whose baselines are kept. Datagrams that need them arrive within seconds.
constexpr std::size_t kMaxGone = 256;

}  // namespace

void EntityStore::make_room(std::size_t slot) {
  if (slot < slots_.size()) return;
  slots_.resize(slot + 1);
  references_.resize(slot + 1);
  archetypes_.resize(slot + 1, 0);
  is_changed_.resize(slot + 1, false);
}

bool EntityStore::note_ended(std::uint32_t slot, std::uint32_t spawn_number) {
  if (slot >= ended_.size()) ended_.resize(slot + std::size_t{1}, 0);
  if (spawn_number <= ended_[slot]) return false;
  ended_[slot] = spawn_number;
  return true;
}

void EntityStore::put(KnownEntity entity) {
  const std::size_t slot = entity.id.slot();
  make_room(slot);
  refused_.erase(entity.id);
  size_ += slots_[slot] ? 0 : 1;
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
  --size_;
  if (gone_.size() <= kMaxGone) return;
  const EntityId oldest = gone_.front();
  gone_.pop_front();
  drop_references(oldest);
}

// Drops the baselines of an entity that the store does not have.
void EntityStore::drop_references(EntityId id) {
  const bool back = std::as_const(*this).find(id) != nullptr || is_refused(id);
  auto& references = references_[id.slot()];
  if (!back && references && references->id() == id) references.reset();
}

void EntityStore::note_refused(EntityId id, std::size_t archetype) {
  const std::size_t slot = id.slot();
  make_room(slot);
  archetypes_[slot] = static_cast<std::uint16_t>(archetype + 1);
  if (!references_[slot] || references_[slot]->id() != id)
    references_[slot] = std::make_unique<References>(id);
  if (!refused_.insert(id).second) return;
  refused_order_.push_back(id);
  if (refused_order_.size() <= kMaxRefused) return;
  const EntityId oldest = refused_order_.front();
  refused_order_.pop_front();
  (void)forget_refused(oldest);
}

bool EntityStore::forget_refused(EntityId id) {
  if (refused_.erase(id) == 0) return false;
  drop_references(id);
  return true;
}

std::optional<std::size_t> EntityStore::archetype_of(std::uint32_t slot) const {
  if (slot >= archetypes_.size() || archetypes_[slot] == 0) return std::nullopt;
  return archetypes_[slot] - 1u;
}

}  // namespace reckoner
