// SPDX-License-Identifier: MIT
#pragma once

#include "harness/arena/arena_record.hpp"
#include "harness/sim/link_script.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <reckoner/client/playout.hpp>

namespace reckoner::harness {

// An arena game with everything that games ask of the library at once: bots that dash and jump, avatars that
// players own, riders on a moving platform, teleport pads, projectiles, and beams whose hits the server
// judges by lag compensation. It measures what the players see.

/// The calls of the library that the game makes. Without one of them it does what games do that do not know
/// it.
struct ArenaCalls {
  bool arrival_times = true;  ///< the transport says when datagrams arrived; otherwise they arrive when read
  bool floors = true;         ///< Archetype::floor
  bool short_lived = true;  ///< Server::spawn_short_lived() for projectiles; otherwise spawn() and despawn()
  bool prediction = true;   ///< Client::predict_spawn(); needs `short_lived`
  bool pending = true;      ///< beams wait while Server::rewind_status() is pending
};

struct ArenaOptions {
  LinkPair links;
  PlayoutMode mode = PlayoutMode::present;
  ArenaCalls calls;
  std::size_t players = 8;
  std::size_t bots = 64;
  std::size_t riders = 8;
  double seconds = 60.0;  ///< in virtual time, with the warm-up
  std::uint64_t seed = 1;
};

/// Plays the game in virtual time. Deterministic.
[[nodiscard]] std::vector<ArenaFigure> run_arena(const ArenaOptions& options);

}  // namespace reckoner::harness
