// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/source.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::scenario {

/// What a server is told about one entity at one tick.
struct FeedItem {
  enum class Kind : std::uint8_t { spawn, move, teleport, despawn };
  Kind kind = Kind::move;
  std::size_t entity = 0;              ///< index in the source
  State truth;                         ///< of a spawn, move or teleport, in the world
  std::optional<std::size_t> frame{};  ///< the entity in whose frame it lives; nothing: the world's
  State local{};                       ///< `truth`, in that frame
};

/// Plays a source as a game server would know it: positions and orientations at ticks only. Velocity is the
/// backward difference of positions, acceleration the velocity's difference over 3 ticks, angular velocity
/// the backward difference of orientations; after a spawn or teleport velocities are zero until 1 and
/// acceleration until 3 later ticks exist (EVALUATION.md, Truth). An entity spawns at the first tick within
/// its life and despawns at the first one after it. A tick costs time in proportion to what is alive. Never
/// looks ahead. What lives in a frame is differenced there as well, poses from before it came into it
/// included.
class Feed {
 public:
  /// Plays from `start_s` on, one tick every 1 / `tick_rate_hz`. `source` must outlive the feed.
  Feed(const Source& source, double start_s, double tick_rate_hz);

  /// The next tick's items, in order of entity. The span is valid until the next call.
  [[nodiscard]] std::span<const FeedItem> next();

  /// Server time of the tick that next() will give: start_s + k / tick_rate_hz, without accumulated rounding.
  [[nodiscard]] double next_time_s() const;

  /// True if no entity is alive and none will come.
  [[nodiscard]] bool finished() const { return alive_.empty() && next_spawn_ == spawns_.size(); }

 private:
  struct Memory {
    std::size_t entity = 0;
    std::uint32_t poses = 0;  // since spawn or teleport, this one left out; counts to 5
    Pose last{};
    glm::dvec3 velocities[3]{};  // of the last three ticks, newest first
  };

  void spawn_due(double time_s);
  State advance(Memory& memory, const Pose& pose, bool teleports) const;
  State in_frame(const Memory& memory, std::size_t frame, double time_s) const;

  const Source* source_;
  double start_s_;
  double tick_rate_hz_;
  std::uint64_t tick_ = 0;
  std::vector<std::size_t> spawns_;  // entities by when their lives begin
  std::size_t next_spawn_ = 0;
  std::vector<Memory> alive_;  // in order of entity
  std::vector<FeedItem> items_;
};

}  // namespace reckoner::scenario
