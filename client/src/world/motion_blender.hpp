// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/playout/playout_clock.hpp"
#include "client/src/playout/showing_reporter.hpp"
#include "client/src/world/entity_store.hpp"
#include "client/src/world/frames.hpp"
#include "client/src/world/silence_fades.hpp"
#include "client/src/world/world_events.hpp"

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// Blends what is shown of an entity onto each motion that arrives.
class MotionBlender {
 public:
  /// All must outlive this object.
  MotionBlender(const PlayoutClock& playout, ShowingReporter& showing, SilenceFades& fades, Frames& frames,
                WorldEvents& events)
      : playout_(playout), showing_(showing), fades_(fades), frames_(frames), events_(events) {}

  /// Adds a motion to those of the entity. Returns false if it is not newer than the known motions.
  [[nodiscard]] bool blend_onto(KnownEntity& entity, const Motion& motion);
  /// The instant that counts for what the client applies now, s of shown time. For lag compensation the
  /// server must compute with the same number, and the reports to it have a unit.
  [[nodiscard]] double applied_s() const;

 private:
  const PlayoutClock& playout_;
  ShowingReporter& showing_;
  SilenceFades& fades_;
  Frames& frames_;
  WorldEvents& events_;
};

}  // namespace reckoner
