// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/world/entity_table.hpp"

#include <cstdint>
#include <optional>

namespace reckoner {

/// The delay of a motion to clients on other servers of the world (WorldAccess::set_distant_delay()). While
/// it is set, it replaces the delays that DelaySurvey measures at the finest level of detail.
class DistantDelay {
 public:
  /// `delay_s` is the one-way delay to most of these clients, s.
  void set(double delay_s) { delay_s_ = delay_s; }
  /// Call it in each tick after DelaySurvey::run().
  void apply(EntityTable& entities) const {
    if (!delay_s_) return;
    entities.awake().for_each(
        [&](std::uint32_t slot) { entities.slots()[slot].levels[0].delay_s = *delay_s_; });
  }

 private:
  std::optional<double> delay_s_;
};

}  // namespace reckoner
