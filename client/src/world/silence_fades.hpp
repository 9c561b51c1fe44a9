// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/playout/validity_limit.hpp"
#include "client/src/world/entity_store.hpp"
#include "client/src/world/world_events.hpp"

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// Lets entities fade to rest whose motion may no longer be valid, because the connection is silent or the
/// server confirms nothing of them. It ends the fade of entities whose motion is valid after all. Owned
/// entities never fade. Times are shown time, s.
class SilenceFades {
 public:
  /// See ValidityLimit for the times. All must outlive this object.
  SilenceFades(double silence_s, double unconfirmed_s, EntityStore& entities, WorldEvents& events)
      : limit_(silence_s, unconfirmed_s), entities_(entities), events_(events) {}

  /// Until when motions are valid.
  [[nodiscard]] ValidityLimit& limit() { return limit_; }
  [[nodiscard]] const ValidityLimit& limit() const { return limit_; }

  /// True if some entity fades or will fade to rest.
  [[nodiscard]] bool any() const { return any_; }
  /// A motion was limited to `limit_s`; kAlwaysValid: it is not limited.
  void note_limit(double limit_s) { any_ = any_ || limit_s != kAlwaysValid; }
  /// Limits how far the motion of an entity that was never shown is extrapolated. The spawn may be old: it
  /// was lost and repeated, or the program was suspended.
  void limit_unseen(KnownEntity& entity, double shown_s);

  /// Begins and ends the fades at `shown_s`. The client has shown no instant later than `before_s` yet.
  /// Ordinary blends take `blend_s`. Returns true if a fade has ended.
  bool review(double shown_s, double before_s, double blend_s) {
    return (any_ || limit_.passed(shown_s)) && review_all(shown_s, before_s, blend_s);
  }

 private:
  bool review_all(double shown_s, double before_s, double blend_s);

  ValidityLimit limit_;
  EntityStore& entities_;
  WorldEvents& events_;
  bool any_ = false;
};

}  // namespace reckoner
