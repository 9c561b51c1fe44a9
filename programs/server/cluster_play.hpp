// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/log.hpp"
#include "scenario/feed.hpp"
#include "scenario/source.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <reckoner/cluster/simulator.hpp>

namespace reckoner::program {

/// Plays a source of motion into a world on several servers. Every simulator plays the whole source, because
/// it is a pure function of time, and moves the entities that it holds. One simulator adds the entities. The
/// arguments of the constructor must outlive the object.
class ClusterPlay {
 public:
  /// The source starts with tick 0 of the world. `adds`: this simulator adds the entities to the world.
  ClusterPlay(const scenario::Source& source, Simulator& simulator, double tick_rate_hz, bool adds, Log& log);

  /// Handles the events of the simulator and applies the changes for its next tick.
  void step();

  /// Time of the source in the next tick, s.
  [[nodiscard]] double time_s() const { return feed_.next_time_s(); }
  /// Number of poses that the simulator refused.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }
  /// For each entity of the source its id, as far as this process knows it; otherwise null.
  [[nodiscard]] std::span<const EntityId> ids() const { return ids_; }

 private:
  void acquire(EntityId id);
  void play(const scenario::FeedItem& item);
  void add(const scenario::FeedItem& item);
  [[nodiscard]] std::optional<EntityId> frame_of(const scenario::FeedItem& item) const;

  const scenario::Source& source_;
  Simulator& simulator_;
  Log& log_;
  bool adds_;
  scenario::Feed feed_;
  std::vector<EntityId> ids_;
  std::set<std::size_t> waiting_;  // entities that are not in the world yet
  std::unordered_multimap<std::string, std::size_t> by_name_;
  std::vector<bool> alive_;
  std::uint64_t refused_ = 0;
};

}  // namespace reckoner::program
