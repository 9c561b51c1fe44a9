// SPDX-License-Identifier: MIT
#pragma once

#include "harness/sim/tick_contents.hpp"

#include <cstddef>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::harness {

/// Finds what each tick of a server sends, from the server's own counts (traffic.hpp). Call before_tick() and
/// after_tick() around each tick.
class SentParts {
 public:
  /// `ids`: the id of each entity of the source; null for those that are not in the world.
  void before_tick(const Server& server, std::span<const EntityId> ids);
  void after_tick(const Server& server, std::span<const EntityId> ids, double sent_s);

  [[nodiscard]] const std::vector<TickContents>& ticks() const { return ticks_; }

 private:
  SentTraffic before_;
  std::vector<EntityTraffic> entities_;  // before the tick, in the order of the source
  std::vector<TickContents> ticks_;
};

}  // namespace reckoner::harness
