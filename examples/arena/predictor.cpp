// SPDX-License-Identifier: MIT
#include "predictor.hpp"

namespace arena {

using reckoner::ClientEvent;

void Predictor::handle_event(const ClientEvent& event) {
  if (event.kind != ClientEvent::Kind::prediction_ended && event.kind != ClientEvent::Kind::despawned) return;
  if (event.entity == avatar_) body_.reset();
  if (event.entity == ball_id_) ball_.reset();
}

void Predictor::run(const Controls& controls, const OpenDoors& open,
                    std::span<const reckoner::ShownEntity> shown) {
  open_ = open;
  shots_.clear();
  if (const auto correction = client_.poll_correction()) {
    ++corrections_[static_cast<std::size_t>(correction->reason)];
    restore(*correction);
    find_others(shown);
    for (const reckoner::PredictionStep& again : correction->steps)
      step(again);  // without the shots: the player has seen them
  }
  find_others(shown);
  const InputBytes input = to_input(controls);
  while (const auto due = client_.next_step(input)) {
    step(*due);
    note_shots(due->tick);
  }
}

void Predictor::restore(const reckoner::Correction& correction) {
  body_.reset(), ball_.reset();
  for (const reckoner::CorrectedEntity& entity : correction.entities) {
    const reckoner::EntityInfo* info = client_.info(entity.id);
    if (info != nullptr && info->archetype == kBall) {
      ball_id_ = entity.id;
      ball_ = entity.state;
    } else if (info != nullptr) {
      avatar_ = entity.id;
      body_.emplace(entity.state, kPlayerBuild);
      body_->restore(entity.state, entity.game_state, platform_state(tick_time_s(correction.tick)));
    }
  }
}

void Predictor::step(const reckoner::PredictionStep& due) {
  const std::vector<Box> solids = solids_near_avatar();
  const Stage stage{solids, platform_state(tick_time_s(due.tick))};
  std::vector<Body> others = others_at(due.tick);
  std::vector<Actor> actors;
  if (body_) actors.push_back({&*body_, from_input(due.input, heading_of(body_->state().orientation))});
  for (Body& other : others)
    actors.push_back({&other, std::nullopt});
  arena::step(actors, ball_ ? &*ball_ : nullptr, stage, 1.0 / kTickHz);
  if (body_) (void)client_.predict(avatar_, due.tick, body_->in_world(stage.platform), body_->memory_bytes());
  if (ball_) (void)client_.predict(ball_id_, due.tick, *ball_);
}

void Predictor::find_others(std::span<const reckoner::ShownEntity> shown) {
  constexpr double kReachM = 6.0;
  others_.clear();
  for (const reckoner::ShownEntity& entity : shown) {
    if (!ball_ || entity.id == avatar() || glm::distance(entity.shown.position, ball_->position) > kReachM)
      continue;
    const reckoner::EntityInfo* info = client_.info(entity.id);
    if (info != nullptr && is_fighter(info->archetype)) others_.push_back(entity.id);
  }
}

// Where others are in a tick, as far as anybody can know now: their motions, extrapolated. What they do in
// the meantime comes as a correction.
std::vector<Body> Predictor::others_at(reckoner::Tick tick) const {
  std::vector<Body> others;
  for (const reckoner::EntityId id : others_) {
    if (const auto state = client_.motion_at(id, tick_time_s(tick)))
      others.emplace_back(*state, kPlayerBuild);
  }
  return others;
}

// The server opens the doors near the avatar. This machine learns that later, but can tell.
std::vector<Box> Predictor::solids_near_avatar() const {
  OpenDoors open = open_;
  for (std::size_t i = 0; body_ && !body_->aboard() && i < kDoors.size(); ++i)
    open[i] = open[i] || opens(glm::dvec2(body_->state().position), kDoors[i], open[i]);
  return solids(open);
}

// The server's step fires the same shots. The tick is a number that both know.
void Predictor::note_shots(reckoner::Tick tick) {
  if (!body_) return;
  const reckoner::State at = body_->in_world(platform_state(tick_time_s(tick)));
  for (const Weapon weapon : {kBoltGun, kBeamGun}) {
    if (body_->has_fired(weapon))
      shots_.push_back({tick, weapon, glm::dvec2(at.position), heading_of(at.orientation)});
  }
}

}  // namespace arena
