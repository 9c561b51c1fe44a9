// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/playout/playout_clock.hpp"
#include "client/src/world/entity_store.hpp"
#include "client/src/world/world.hpp"

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// Queues the events of a world when the instant that they belong to is shown. An entity does not exist for
/// the game before its `spawned` event. Times are shown time, s.
class EventReporter {
 public:
  /// Both must outlive this object.
  EventReporter(World& world, const PlayoutClock& playout) : world_(world), playout_(playout) {}

  /// Reports everything that has changed up to the instant shown.
  void report_changes();
  /// Puts the changes of user fields up to `shown_s` into effect, and reports them. Call it before report(),
  /// so that an entity appears with the field values of this time.
  void change_fields(double shown_s);
  /// Reports the events of one entity up to `shown_s`. Returns false if the entity does not exist at
  /// `shown_s`; it may then have been removed.
  [[nodiscard]] bool report(KnownEntity& entity, double shown_s) { return report(entity, shown_s, 0); }
  /// Reports a despawn for every visible entity, because the world ends.
  void report_end();

 private:
  [[nodiscard]] bool report(KnownEntity& entity, double shown_s, int depth);
  [[nodiscard]] bool report_frame(const KnownEntity& entity, double shown_s, int depth);
  [[nodiscard]] EntityId continue_prediction(KnownEntity& entity, double shown_s);

  World& world_;
  const PlayoutClock& playout_;
};

}  // namespace reckoner
