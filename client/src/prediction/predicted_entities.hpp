// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/playout/tick_clock.hpp"
#include "client/src/prediction/error_fade.hpp"
#include "client/src/prediction/last_correction.hpp"
#include "client/src/prediction/player_inputs.hpp"
#include "client/src/prediction/predicted_path.hpp"
#include "net/src/messages/correction.hpp"
#include "net/src/messages/predicted_result.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <reckoner/client/client_stats.hpp>
#include <reckoner/client/prediction.hpp>
#include <reckoner/client/shown.hpp>
#include <reckoner/net/call_result.hpp>
#include <reckoner/net/ids.hpp>

namespace reckoner {

/// A correction whose parts arrive.
struct ArrivingCorrection {
  std::uint8_t number = 0;
  Tick tick = 0;
  CorrectionReason reason{};
  std::array<bool, kMaxPredicted> has{};
  std::vector<ExactState> entities;
};

/// The entities that this client predicts: what its game has computed for them, the server's corrections, and
/// what is shown of them.
class PredictedEntities {
 public:
  /// `inputs` must outlive this object.
  PredictedEntities(PlayerInputs& inputs, ClientStats& stats) : inputs_(inputs), stats_(stats) {}

  // What arrives.

  /// A part of a correction from the tick `tick` has arrived.
  void receive(const CorrectionPart& part, Tick tick, const TickClock& ticks);

  // The entities.

  struct Predicted {
    EntityId id;
    Tick began = 0;  ///< tick of the first correction
    PredictionTolerance tolerance;
    std::uint8_t teleports = 0;
    PredictedPath path;
    ErrorFade fade;
    std::optional<State> shown;  ///< in the last picture, in the server's coordinates
    std::optional<State> held;   ///< the same without the fade, if the game had stood still until then
    bool fades_next = false;     ///< the next picture begins a fade from `shown`
    std::uint64_t ticks = 0;     ///< that the game has computed, without those of replays
  };
  [[nodiscard]] std::span<const std::unique_ptr<Predicted>> all() const { return all_; }
  [[nodiscard]] Predicted* find(EntityId id);
  /// True if all() has changed since the last call.
  [[nodiscard]] bool take_change() { return std::exchange(has_changed_, false); }
  void request_review() { has_changed_ = true; }
  /// The entities whose prediction has ended since the last call, with what was shown of them last.
  [[nodiscard]] std::vector<std::unique_ptr<Predicted>> take_ended() { return std::move(ended_); }

  // The game.

  /// Implements Client::predict(); `counted` is in the server's coordinates. Sets `complete` if the results
  /// for the newest tick are complete.
  CallResult predict(EntityId id, Tick tick, const State& counted, std::span<const std::byte> game_state,
                     bool& complete);
  /// Implements Client::poll_correction(). `origin` is that of the game's coordinates.
  [[nodiscard]] std::optional<Correction> poll_correction(const glm::dvec3& origin);

  // What is shown.

  /// How long what is shown takes from one instant to another, s, which differ by `difference_s`. Then it
  /// neither stops nor runs twice as fast meanwhile: the rate of a blend is at most 1.5 times its mean.
  [[nodiscard]] static double time_fade_s(double difference_s) {
    constexpr double kTimes = 2.5;
    return std::min(kTimes * difference_s, kLongestTimeFadeS);
  }
  static constexpr double kLongestTimeFadeS = 0.9;
  /// What the game has computed for the instant `time_s`; nullopt if that is unknown.
  [[nodiscard]] std::optional<State> path_at(const Predicted& entity, double time_s) const {
    return entity.path.at(time_s, ticks_);
  }
  /// The state of a predicted entity to show at the time of the inputs, in the server's coordinates; nullopt
  /// if the game has not computed one yet. Call it once for a picture. `as_remote` is what would be shown of
  /// the entity in this picture if it was not predicted, at the instant `as_remote_s`; null if no picture has
  /// shown it yet. The first path of the game begins there.
  [[nodiscard]] std::optional<State> show(EntityId id, const State* as_remote, double as_remote_s);
  /// True if show() has returned a state of this entity.
  [[nodiscard]] bool is_shown(EntityId id) {
    const Predicted* entity = find(id);
    return entity != nullptr && entity->shown;
  }
  /// Call it after the pictures's calls of show().
  void end_picture() { shown_s_ = inputs_.clock().time_s(); }
  /// Writes into `debug` what was shown of an entity and what is known of its prediction, in the server's
  /// coordinates. Returns false and writes nothing if the game has computed nothing for it.
  [[nodiscard]] bool fill_debug(EntityId id, ShownDebug& debug) const;
  /// More is known of the inputs, and so perhaps why the last correction came.
  void review_cause() { last_.find_cause(inputs_); }
  /// The time of the inputs now, server time, s.
  [[nodiscard]] double shown_s() const { return inputs_.clock().time_s(); }
  /// The time of the inputs in the last picture, server time, s.
  [[nodiscard]] double last_shown_s() const { return shown_s_; }

 private:
  [[nodiscard]] bool is_complete(const ArrivingCorrection& arriving) const;
  [[nodiscard]] bool is_in_order(const ArrivingCorrection& arriving) const;
  void change_set(const ArrivingCorrection& arriving);
  [[nodiscard]] bool is_right(const ArrivingCorrection& arriving) const;
  [[nodiscard]] bool are_results_complete() const;
  void note_errors(const ArrivingCorrection& correction);

  PlayerInputs& inputs_;
  ClientStats& stats_;
  TickClock ticks_;
  std::vector<std::unique_ptr<Predicted>> all_;  // in the order of the server
  std::vector<std::unique_ptr<Predicted>> ended_;
  bool has_changed_ = false;
  std::optional<Tick> newest_tick_;  // of a correction that has arrived completely
  std::optional<ArrivingCorrection> arriving_;
  std::optional<ArrivingCorrection> waiting_;  // for the game
  ArrivingCorrection applied_;                 // given to the game by the last poll_correction()
  LastCorrection last_;
  std::vector<CorrectedEntity> corrected_;
  std::vector<PredictionStep> steps_;
  double shown_s_ = 0.0;  // of the last picture
};

}  // namespace reckoner
