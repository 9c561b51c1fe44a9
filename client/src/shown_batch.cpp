// SPDX-License-Identifier: MIT
#include "shown_batch.hpp"

namespace reckoner {

void ShownBatch::update(std::uint32_t slot, const KnownEntity* entity) {
  if (slot >= in_batch_.size()) {
    in_batch_.resize(slot + 1, kNowhere);
    in_alone_.resize(slot + 1, kNowhere);
  }
  const bool batchable =
      entity != nullptr && !entity->despawned_s && !entity->owned && entity->remote.is_blended_prediction();
  if (!batchable) leave_batch(slot);
  if (batchable || entity == nullptr) leave_alone(slot);
  if (batchable) {
    if (in_batch_[slot] == kNowhere) {
      in_batch_[slot] = static_cast<std::uint32_t>(batch_.size());
      batch_.push_back(entity->remote.newest());
      batch_ids_.push_back(entity->id);
    }
    batch_ids_[in_batch_[slot]] = entity->id;
    batch_.set(in_batch_[slot], entity->remote.newest(), entity->remote.blend());
  } else if (entity != nullptr && in_alone_[slot] == kNowhere) {
    in_alone_[slot] = static_cast<std::uint32_t>(alone_.size());
    alone_.push_back(slot);
  }
}

void ShownBatch::leave_batch(std::uint32_t slot) {
  const std::uint32_t number = in_batch_[slot];
  if (number == kNowhere) return;
  batch_.swap_remove(number);
  batch_ids_[number] = batch_ids_.back();
  batch_ids_.pop_back();
  if (number < batch_ids_.size()) in_batch_[batch_ids_[number].slot()] = number;
  in_batch_[slot] = kNowhere;
}

void ShownBatch::leave_alone(std::uint32_t slot) {
  const std::uint32_t place = in_alone_[slot];
  if (place == kNowhere) return;
  alone_[place] = alone_.back();
  in_alone_[alone_[place]] = place;
  alone_.pop_back();
  in_alone_[slot] = kNowhere;
}

void ShownBatch::sample(double shown_s, const EntityStore& entities) {
  batch_.drop_blends(shown_s);
  ids_ = batch_ids_;
  positions_.resize(batch_.size());
  orientations_.resize(batch_.size());
  batch_.sample(shown_s, positions_, orientations_);
  for (const std::uint32_t slot : alone_) {
    const KnownEntity* entity = entities.slots()[slot].get();
    if (entity == nullptr || !entity->visible) continue;
    const State shown = entity->remote.shown(shown_s);
    ids_.push_back(entity->id);
    positions_.push_back(shown.position);
    orientations_.push_back(shown.orientation);
  }
}

}  // namespace reckoner
