// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/log.hpp"
#include "scenario/feed.hpp"
#include "scenario/trace/pose_csv.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include <reckoner/server/server.hpp>

namespace reckoner::program {

/// Plays a source of motion into a server, tick by tick. The arguments of the constructor must outlive the
/// Play.
class Play {
 public:
  Play(const scenario::Source& source, Server& server, double tick_rate_hz, Log& log);

  /// Applies the changes for the next tick, which is due at `scheduled_monotonic_s`, to the server. If
  /// `truth` is not null, appends the poses of all entities to it.
  void step(double scheduled_monotonic_s, scenario::PoseCsvWriter* truth);

  /// Number of poses that the server refused.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

  /// For each entity of the source, its id at the server. While the entity does not exist, the id is null or
  /// that of an earlier life.
  [[nodiscard]] std::span<const EntityId> ids() const { return ids_; }

 private:
  [[nodiscard]] EntityId frame_of(const scenario::FeedItem& item) const;
  void enter_frame(EntityId id, const scenario::FeedItem& item);
  void spawn(const scenario::FeedItem& item);

  const scenario::Source& source_;
  Server& server_;
  Log& log_;
  scenario::Feed feed_;
  std::vector<EntityId> ids_;
  std::vector<RouteId> routes_;
  std::uint64_t refused_ = 0;
};

}  // namespace reckoner::program
