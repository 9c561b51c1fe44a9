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

/// What the game does with one entity in one tick. This is the input of a server.
struct FeedItem {
  enum class Kind : std::uint8_t { spawn, move, teleport, despawn };
  Kind kind = Kind::move;
  std::size_t entity = 0;  ///< index in the source
  /// State in the world's frame; only for a spawn, a move and a teleport.
  State truth;
  /// Index of the entity that is the frame of this one. Nullopt if this entity is in the world frame.
  std::optional<std::size_t> frame{};
  State local{};  ///< `truth` expressed in the frame `frame`
};

/// Plays a source as a game server knows it: only positions and orientations at ticks, never future ones.
/// Velocity and angular velocity are backward differences of one tick. Acceleration is the difference between
/// two velocities that are 3 ticks apart. After a spawn or teleport, the velocities are zero for 1 tick and
/// the acceleration for 3 ticks. While an entity is in the frame of another entity, FeedItem::local contains
/// differences that are computed in that frame. These differences also use poses of the time before the
/// entity entered the frame.
///
/// An entity spawns at the first tick within its life and despawns at the first tick after it. The cost of a
/// tick is proportional to the number of living entities.
class Feed {
 public:
  /// Plays from `start_s` on, with one tick every 1 / `tick_rate_hz` seconds. `source` must outlive the feed.
  Feed(const Source& source, double start_s, double tick_rate_hz);

  /// Returns the next tick's items, ordered by entity. The span is valid until the next call.
  [[nodiscard]] std::span<const FeedItem> next();

  /// Server time of the next tick: start_s + k / tick_rate_hz, without accumulated rounding errors.
  [[nodiscard]] double next_time_s() const;

  /// True if no entity is alive and none will spawn.
  [[nodiscard]] bool finished() const { return alive_.empty() && next_spawn_ == spawns_.size(); }

 private:
  struct Memory {
    std::size_t entity = 0;
    std::uint32_t poses = 0;  // number of poses since the spawn or teleport; it stops at 5
    Pose last{};
    glm::dvec3 velocities[3]{};  // velocities in the last three ticks, newest first
  };

  void spawn_due(double time_s);
  State advance(Memory& memory, const Pose& pose, bool teleports) const;
  State in_frame(const Memory& memory, std::size_t frame, double time_s) const;

  const Source* source_;
  double start_s_;
  double tick_rate_hz_;
  std::uint64_t tick_ = 0;
  std::vector<std::size_t> spawns_;  // indices of entities, ordered by the start of their lives
  std::size_t next_spawn_ = 0;
  std::vector<Memory> alive_;  // ordered by entity
  std::vector<FeedItem> items_;
};

}  // namespace reckoner::scenario
