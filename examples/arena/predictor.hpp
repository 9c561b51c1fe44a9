// SPDX-License-Identifier: MIT
#pragma once

#include "messages.hpp"
#include "step.hpp"

#include <array>

#include <reckoner/client/client.hpp>

namespace arena {

/// Plays the server's game ahead on a player's machine: the own avatar, and the ball while it is near. Also
/// sends the inputs of a player who predicts nothing.
class Predictor {
 public:
  /// `client` must outlive the predictor.
  explicit Predictor(reckoner::Client& client) : client_(client) {}

  /// Call it for each event of the client.
  void handle_event(const reckoner::ClientEvent& event);
  /// Call it once for each picture, after the events: goes back to what the server says, and steps the ticks
  /// that are due. `shown` is what the client shows.
  void run(const Controls& controls, const OpenDoors& open, std::span<const reckoner::ShownEntity> shown);

  /// The predicted avatar; null if there is none.
  [[nodiscard]] reckoner::EntityId avatar() const { return body_ ? avatar_ : reckoner::EntityId{}; }
  [[nodiscard]] bool predicts_ball() const { return ball_.has_value(); }
  /// What the avatar has fired in the last run().
  [[nodiscard]] std::span<const Shot> shots() const { return shots_; }
  /// Corrections by reason (reckoner::CorrectionReason).
  [[nodiscard]] const std::array<std::size_t, 4>& corrections() const { return corrections_; }

 private:
  void restore(const reckoner::Correction& correction);
  void step(const reckoner::PredictionStep& due);
  void find_others(std::span<const reckoner::ShownEntity> shown);
  [[nodiscard]] std::vector<Body> others_at(reckoner::Tick tick) const;
  void note_shots(reckoner::Tick tick);
  [[nodiscard]] std::vector<Box> solids_near_avatar() const;

  reckoner::Client& client_;
  OpenDoors open_{};
  reckoner::EntityId avatar_, ball_id_;
  std::optional<Body> body_;
  std::optional<reckoner::State> ball_;
  std::vector<reckoner::EntityId> others_;  // fighters who may push the ball
  std::vector<Shot> shots_;
  std::array<std::size_t, 4> corrections_{};
};

}  // namespace arena
