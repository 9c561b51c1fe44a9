// SPDX-License-Identifier: MIT
#include "client/src/shown/shown_batch.hpp"

#include <algorithm>

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

void ShownBatch::update(std::uint32_t slot, const KnownEntity* entity) {
  if (slot >= in_batch_.size()) {
    in_batch_.resize(slot + 1, kNoIndex);
    in_unbatched_.resize(slot + 1, kNoIndex);
  }
  const bool batchable = entity != nullptr && !entity->despawned_s && !entity->owned &&
                         entity->lacks_fields == 0 && entity->remote.is_blended_prediction();
  if (!batchable) remove_batched(slot);
  if (batchable || entity == nullptr) remove_unbatched(slot);
  if (batchable) {
    if (in_batch_[slot] == kNoIndex) {
      in_batch_[slot] = static_cast<std::uint32_t>(batch_.size());
      batch_.push_back(entity->remote.newest());
      batch_ids_.push_back(entity->id);
      batch_frames_.emplace_back();
    }
    batch_ids_[in_batch_[slot]] = entity->id;
    batch_.set(in_batch_[slot], entity->remote.newest(), entity->remote.blend());
    newest_s_ = std::max(newest_s_, entity->remote.newest().time_s);
    set_frame(in_batch_[slot], entity->remote.newest().frame);
  } else if (entity != nullptr && in_unbatched_[slot] == kNoIndex) {
    in_unbatched_[slot] = static_cast<std::uint32_t>(unbatched_.size());
    unbatched_.push_back(slot);
  }
}

void ShownBatch::remove_batched(std::uint32_t slot) {
  const std::uint32_t number = in_batch_[slot];
  if (number == kNoIndex) return;
  batch_.swap_remove(number);
  set_frame(number, {});
  batch_frames_[number] = batch_frames_.back();
  batch_frames_.pop_back();
  batch_ids_[number] = batch_ids_.back();
  batch_ids_.pop_back();
  if (number < batch_ids_.size()) in_batch_[batch_ids_[number].slot()] = number;
  in_batch_[slot] = kNoIndex;
}

void ShownBatch::remove_unbatched(std::uint32_t slot) {
  const std::uint32_t place = in_unbatched_[slot];
  if (place == kNoIndex) return;
  unbatched_[place] = unbatched_.back();
  in_unbatched_[unbatched_[place]] = place;
  unbatched_.pop_back();
  in_unbatched_[slot] = kNoIndex;
}

void ShownBatch::set_frame(std::size_t number, FrameId frame) {
  framed_ += (frame ? 1u : 0u) - (batch_frames_[number] ? 1u : 0u);
  batch_frames_[number] = frame;
}

void ShownBatch::sample(double shown_s, const EntityStore& entities, Frames& frames,
                        const glm::dvec3& origin) {
  batch_.drop_blends(shown_s);
  ids_ = batch_ids_;
  positions_.resize(batch_.size());
  orientations_.resize(batch_.size());
  batch_.sample(shown_s, positions_, orientations_);
  if (shown_s < newest_s_ - kExtrapolateBackS) keep_future_motions(shown_s, entities);
  const bool framed = framed_ > 0 || frames.any();
  if (framed) frames_ = batch_frames_;
  for (const std::uint32_t slot : unbatched_) {
    const KnownEntity* entity = entities.slots()[slot].get();
    if (entity == nullptr || !entity->visible) continue;
    const State shown = entity->remote.shown(shown_s);
    ids_.push_back(entity->id);
    positions_.push_back(shown.position);
    orientations_.push_back(shown.orientation);
    if (framed) frames_.push_back(entity->remote.frame(shown_s));
  }
  if (framed) put_into_world(frames);
  if (origin == glm::dvec3{0.0}) return;
  for (glm::dvec3& position : positions_)
    position -= origin;
}

// The batch extrapolates without a limit. If the client's clock stood still, some motions may be of times
// long after the shown one.
void ShownBatch::keep_future_motions(double shown_s, const EntityStore& entities) {
  for (std::size_t i = 0; i < batch_ids_.size(); ++i) {
    const RemoteEntity& remote = entities.slots()[batch_ids_[i].slot()]->remote;
    if (shown_s >= remote.newest().time_s - kExtrapolateBackS) continue;
    const State shown = remote.shown(shown_s);
    positions_[i] = shown.position;
    orientations_[i] = shown.orientation;
  }
}

// Backwards, because drop() fills the gap with the last entity, which is then already converted.
void ShownBatch::put_into_world(Frames& frames) {
  for (std::size_t i = ids_.size(); i-- > 0;) {
    if (!frames_[i]) continue;
    const State* frame = frames.at(frames_[i]);
    if (frame == nullptr) {
      drop(i);
      continue;
    }
    const Pose pose = out_of_frame(frame->pose(), Pose{positions_[i], orientations_[i]});
    positions_[i] = pose.position;
    orientations_[i] = pose.orientation;
  }
}

void ShownBatch::drop(std::size_t place) {
  ids_[place] = ids_.back();
  positions_[place] = positions_.back();
  orientations_[place] = orientations_.back();
  frames_[place] = frames_.back();
  ids_.pop_back();
  positions_.pop_back();
  orientations_.pop_back();
  frames_.pop_back();
}

}  // namespace reckoner
