// SPDX-License-Identifier: MIT
#pragma once

#include "harness/arena/arena_truth.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/net/ids.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::harness {

inline constexpr double kArenaWarmUpS = 5.0;  ///< the figures leave out this time after the start, s

/// The value of ArenaProjectile::shooter for shots of bots.
inline constexpr std::size_t kNoPlayer = std::numeric_limits<std::size_t>::max();

/// A projectile of the arena. Its number is its index in ArenaRecord::projectiles.
struct ArenaProjectile {
  double fired_s = 0.0;
  double end_s = 0.0;               ///< at the wall, or earlier at a fighter
  bool hit = false;                 ///< true: it ended at a fighter
  std::size_t shooter = kNoPlayer;  ///< index of the player
  std::uint32_t key = 0;            ///< the player's number of the shot
};

/// What a player's client drew when the player fired a beam. The server judges beams by lag compensation.
struct ArenaBeam {
  double client_s = 0.0;  ///< the client's estimate of server time
  std::vector<SeenPose> drawn;
};

/// A kind of fighter. Each has figures of its own.
enum class FighterKind : std::uint8_t { bot, rider, avatar };

/// Where a client drew a fighter.
struct DrawnFighter {
  FighterKind kind = FighterKind::bot;
  EntityId id;
  double frame_s = 0.0;             ///< true server time of the picture
  double instant_s = 0.0;           ///< true server time in present mode, the shown instant otherwise
  glm::dvec3 position{0.0};         ///< of a rider: relative to the platform
  std::optional<double> speed_mps;  ///< since the picture before
};

/// One figure of a run.
struct ArenaFigure {
  const char* key;   ///< in JSON
  const char* text;  ///< in the table, with the unit
  double value;
  int decimals;  ///< in the table
};

/// Everything that an arena run records. The server's game and the players write to it; figures() summarises.
class ArenaRecord {
 public:
  /// Records a drawn fighter. It is compared with the truth a moment later, in settle().
  void note_drawn(const DrawnFighter& drawn);
  /// Compares the drawn fighters of pictures that are at least 0.1 s old with the truth.
  void settle(double now_s);

  /// The figures of the run. `seconds` is the measured time, which the rates refer to.
  [[nodiscard]] std::vector<ArenaFigure> figures(double seconds, std::size_t players) const;

  ArenaTruth truth;
  std::vector<ArenaProjectile> projectiles;
  std::vector<std::vector<ArenaBeam>> beams;  ///< for each player

  // Samples, over all players.
  std::vector<double> below_floor_m;  ///< of every drawn fighter; 0 if it was not below
  std::vector<double> clock_error_ms;
  std::vector<double> appeared_ms;      ///< projectile after the message of the same time
  std::vector<double> own_appeared_ms;  ///< the player's own projectile, after the trigger
  std::vector<double> past_wall_ms, past_hit_ms;
  std::vector<double> grant_ms;  ///< from the event `given` to the first move() that was done
  std::vector<double> rewind_error_m;

  // Counts, over all players.
  std::size_t rewind_unknown = 0;
  std::size_t never_drawn = 0;   ///< projectiles that a client never drew
  std::size_t should_drawn = 0;  ///< projectiles that a client should have drawn
  std::size_t refused_moves = 0;
  std::size_t late_events = 0;  ///< entities drawn before their event `spawned` was polled
  std::size_t failed_predictions = 0;
  std::size_t corrected = 0;  ///< motions of owners that the server corrected or refused
  std::uint64_t bytes_down = 0, bytes_up = 0;

 private:
  void compare(const DrawnFighter& drawn);

  std::deque<DrawnFighter> drawn_;
  std::vector<double> bot_error_m_, rider_error_m_, avatar_error_m_, avatar_speed_mps_;
  std::size_t between_pads_ = 0;  // pictures in which a bot was drawn between the ends of a teleport
};

}  // namespace reckoner::harness
