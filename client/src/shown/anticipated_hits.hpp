// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/playout/playout_clock.hpp"
#include "client/src/world/entity_store.hpp"
#include "client/src/world/frames.hpp"

#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// The entities that were hit in the client's game before a motion with the hit has arrived
/// (Client::correct() with `anticipated_s`). They are shown as the game anticipates them until then, or for a
/// limited time.
class AnticipatedHits {
 public:
  /// All must outlive this object.
  AnticipatedHits(EntityStore& entities, const Frames& frames, const PlayoutClock& playout)
      : entities_(entities), frames_(frames), playout_(playout) {}

  /// Shows the entity from the state `in_world` on, for at most `anticipated_s`. `one_way_s` is the delay
  /// from this client to the server, s. Returns false if the entity's frame is invalid.
  bool anticipate(KnownEntity& entity, const State& in_world, double anticipated_s, double one_way_s);

  [[nodiscard]] bool any() const { return !anticipated_.empty(); }
  /// Ends the anticipations that are over. The entity is blended from there so slowly that it does not run
  /// backwards; ordinary blends take `blend_s`.
  void review(double blend_s);

 private:
  EntityStore& entities_;
  const Frames& frames_;
  const PlayoutClock& playout_;
  std::vector<EntityId> anticipated_;
};

}  // namespace reckoner
