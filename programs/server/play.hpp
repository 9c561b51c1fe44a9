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

/// Plays a source into a server, tick by tick. All that it is given must outlive it.
class Play {
 public:
  Play(const scenario::Source& source, Server& server, double tick_rate_hz, Log& log);

  /// Tells the server of the coming tick, which is due at `scheduled_monotonic_s`; appends the poses of all
  /// that is there to `truth`, if given.
  void step(double scheduled_monotonic_s, scenario::PoseCsvWriter* truth);

  /// Poses that the server would not take.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

  /// The source's entities as the server knows them; null or stale where they are not there.
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
