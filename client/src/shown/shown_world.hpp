// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/playout/playout_clock.hpp"
#include "client/src/playout/showing_reporter.hpp"
#include "client/src/prediction/predicted_entities.hpp"
#include "client/src/shown/anticipated_hits.hpp"
#include "client/src/shown/event_reporter.hpp"
#include "client/src/shown/frozen_picture.hpp"
#include "client/src/shown/shown_batch.hpp"
#include "client/src/world/world.hpp"

#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/client/client.hpp>

namespace reckoner {

/// What the client shows of a World at the instant of a PlayoutClock: poses without jumps, and the
/// events that belong to them. While paused, it shows everything as it was at the pause.
class ShownWorld {
 public:
  /// All must outlive this object.
  ShownWorld(World& world, const PlayoutClock& playout, ShowingReporter& showing,
             PredictedEntities& predicted)
      : world_(world), playout_(playout), showing_(showing), predicted_(predicted) {}

  /// These implement Client::shown(), shown_poses() and correct(). The playout must have started. `now_s` is
  /// the server time at which predicted and owned entities are shown. The results stay valid until the next
  /// call of any member.
  [[nodiscard]] std::span<const ShownEntity> shown(const glm::dvec3& origin, double now_s);
  [[nodiscard]] ShownPoses poses(const glm::dvec3& origin);
  /// `one_way_s`: the delay from this client to the server, s.
  [[nodiscard]] CallResult correct(EntityId id, const State& in_world, double anticipated_s,
                                   double one_way_s);

  /// Queues the events of everything that has changed up to the instant shown. Client::update() calls it, so
  /// a game may poll events before or after it calls shown().
  void report_changes() {
    if (!paused()) reporter_.report_changes();
  }
  /// Reports a despawn for every visible entity, because the world ends.
  void report_end() { reporter_.report_end(); }

  [[nodiscard]] bool paused() const { return frozen_.active(); }
  void pause(std::span<const ShownEntity> shown, const glm::dvec3& origin);
  void go_on();

  /// The shown instant has jumped from `before_s`, where shown time ran at `rate`. Blends over the jump.
  void blend_over_jump(double before_s, double rate);
  /// The curve of blends has changed. Blends that begin later have it.
  void change_blend();
  /// The method of showing motions has changed (PlayoutClock::path()).
  void change_path();
  /// The game predicts other entities than before.
  void review_predicted();
  /// Ends the anticipated hits that are over.
  void review_hits() {
    if (hits_.any()) hits_.review(playout_.blend_s());
  }

 private:
  [[nodiscard]] bool appear(KnownEntity& entity, double shown_s);
  void settle_frames(double shown_s);
  [[nodiscard]] std::optional<State> show_predicted(KnownEntity& entity, bool was_visible);
  [[nodiscard]] std::optional<State> in_world(const KnownEntity& entity);
  void end_prediction(KnownEntity& entity, const PredictedEntities::Predicted& ended);
  void end_picture();
  // How an entity catches up that has fallen behind by some time.
  [[nodiscard]] BlendTime catch_up(double behind_s) const { return {playout_.blend_s(), std::abs(behind_s)}; }

  World& world_;
  const PlayoutClock& playout_;
  ShowingReporter& showing_;
  PredictedEntities& predicted_;
  EventReporter reporter_{world_, playout_};
  AnticipatedHits hits_{world_.entities, world_.frames, playout_};
  std::vector<ShownEntity> shown_;
  ShownBatch batch_;
  FrozenPicture frozen_;       // what a paused client shows
  double paused_at_s_ = 0.0;   // server time of the pause, s
  double last_shown_s_ = 0.0;  // the instant of the last picture, s
};

}  // namespace reckoner
