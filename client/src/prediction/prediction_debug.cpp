// SPDX-License-Identifier: MIT
// What PredictedEntities says of an entity for debug drawing.
#include "client/src/prediction/predicted_entities.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>

#include <glm/geometric.hpp>

namespace reckoner {

bool PredictedEntities::fill_debug(EntityId id, ShownDebug& debug) const {
  const auto found = std::ranges::find_if(all_, [&](const auto& one) { return one->id == id; });
  if (found == all_.end() || !(*found)->path.newest()) return false;
  const Predicted& entity = **found;
  const double time_s = inputs_.clock().time_s();
  PredictionDebug& prediction = debug.prediction.emplace();
  prediction.ticks = entity.ticks;
  prediction.newest = *entity.path.newest();
  prediction.lead_s = inputs_.clock().lead_s();
  prediction.corrections = last_.count();
  prediction.correction = last_.debug(id, time_s);
  const auto motion = entity.path.at(shown_s_, ticks_);
  if (!motion || !entity.shown) return true;
  debug.shown = *entity.shown;
  debug.motion = *motion;
  debug.shown_time_s = shown_s_;
  debug.motion_time_s = ticks_.time_of(prediction.newest);
  debug.age_s = 0.0;
  debug.blend_m = glm::distance(debug.shown.position, motion->position);
  debug.blend_rad = angle_between(debug.shown.orientation, motion->orientation);
  debug.blend_left_s = entity.fade.left_s(shown_s_);
  debug.fading = false;
  prediction.fading_m = entity.fade.error_m(shown_s_);
  return true;
}

// How far the game's result for the tick of a correction was from the exact states.
void PredictedEntities::note_errors(const ArrivingCorrection& correction) {
  last_.begin(correction.tick, correction.reason, inputs_.clock().time_s());
  for (std::size_t i = 0; i < correction.entities.size(); ++i) {
    const ExactState& exact = correction.entities[i];
    LastCorrection::Error error{.id = exact.entity, .tolerance = exact.tolerance};
    if (const PredictedPath::Step* own = all_[i]->path.find(correction.tick)) {
      error.had_result = true;
      error.position_m = glm::distance(own->state.position, exact.state.position);
      error.angle_rad = angle_between(own->state.orientation, exact.state.orientation);
      error.same_bytes = std::ranges::equal(own->bytes(), exact.game_state);
    }
    last_.add(error);
  }
  last_.find_cause(inputs_);
}

}  // namespace reckoner
