// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/world/entity_table.hpp"

#include <cstdint>
#include <vector>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// Keeps the lever of every frame up to date: the distance from its entity to the outermost entity in the
/// frame, m. The same angle moves that entity further the longer the lever is, so SendPolicy allows smaller
/// errors of rotation with a longer lever.
class FrameLevers {
 public:
  /// Call it once a tick. Measures only in some ticks, because an entity that moves within a frame seldom
  /// changes the lever much. Wakes an entity whose lever has changed.
  void measure(EntityTable& entities, Tick tick);

 private:
  std::vector<std::uint32_t> slots_;  // of the entities whose frame contains, or contained, entities
};

}  // namespace reckoner
