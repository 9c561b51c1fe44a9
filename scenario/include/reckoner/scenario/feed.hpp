// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <reckoner/reckoning/state.hpp>
#include <reckoner/scenario/source.hpp>

namespace reckoner::scenario {

/// What a server is told about one entity at one tick.
struct FeedItem {
  enum class Kind : std::uint8_t { spawn, move, teleport, despawn };
  Kind kind = Kind::move;
  std::size_t entity = 0;  ///< index in the source
  State truth;             ///< of a spawn, move or teleport
};

/// Plays a source as a game server would know it: positions and orientations at ticks only. Velocity is the
/// backward difference of positions, acceleration the velocity's difference over 3 ticks, angular velocity the
/// backward difference of orientations; after a spawn or teleport velocities are zero until 1 and acceleration
/// until 3 later ticks exist (EVALUATION.md, Truth). Never looks ahead.
class Feed {
 public:
  /// Plays from `start_s` on, one tick every 1 / `tick_rate_hz`. `source` must outlive the feed.
  Feed(const Source& source, double start_s, double tick_rate_hz);

  /// The next tick's items, in order of entity. The span is valid until the next call.
  [[nodiscard]] std::span<const FeedItem> next();

  /// Server time of the tick that next() will give.
  [[nodiscard]] double next_time_s() const;

 private:
  struct Memory {
    bool alive = false;
    std::uint32_t ticks = 0;  // since spawn or teleport
    Pose last;
    glm::vec3 velocities[3]{};  // the last three, newest first
  };

  const Source* source_;
  double start_s_;
  double tick_rate_hz_;
  std::uint64_t tick_ = 0;
  std::vector<Memory> memory_;
  std::vector<FeedItem> items_;
};

}  // namespace reckoner::scenario
