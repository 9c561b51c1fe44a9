// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace reckoner::harness {

/// Why the shown motion of an entity changed abruptly.
enum class Cause : std::uint8_t {
  loss,              ///< a datagram was lost, and a later one repaired the loss
  jitter,            ///< a datagram came much later than usual, or later than the client's delay allows
  clock,             ///< the client's estimate of server time was wrong, or was corrected
  late_spawn,        ///< the spawn of the entity came late
  budget,            ///< the server postponed the update, because the client's byte budget was used up
  threshold,         ///< the shown motion was off by an error that the server allows
  teleport,          ///< the game declared a teleport
  frame_change,      ///< the entity moved into the frame of another entity, or out of it
  owner_correction,  ///< the server corrected or changed the ownership of an entity that this client owns
  motion,            ///< the entity itself changed its motion, and the update came in time
  correction,        ///< the server corrected an entity that this client's game predicts
};

inline constexpr std::size_t kCauses = 11;
/// The causes before this one are those that explain-trials injects.
inline constexpr std::size_t kInjectedCauses = static_cast<std::size_t>(Cause::correction);

/// The name of a cause in reports and JSON.
[[nodiscard]] constexpr std::string_view name_of(Cause cause) {
  constexpr std::array<std::string_view, kCauses> kNames{
      "loss",      "jitter",   "clock",        "late spawn",       "byte budget",
      "threshold", "teleport", "frame change", "owner correction", "the motion itself",
      "correction"};
  return kNames[static_cast<std::size_t>(cause)];
}

}  // namespace reckoner::harness
