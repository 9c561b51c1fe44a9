// SPDX-License-Identifier: MIT
#pragma once

#include "harness/arena/arena.hpp"
#include "harness/arena/fighter.hpp"
#include "net/src/wire/byte_stream.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/net/archetype.hpp>

namespace reckoner::harness {

// What the arena's server and its players agree on.

inline constexpr double kArenaTickHz = 60.0;
inline constexpr double kFighterMaxMps = 16.0;
inline constexpr double kShotMps = 40.0;
inline constexpr double kShotHeightM = 1.2;  // above the feet of the shooter

enum ArenaArchetype : std::size_t { kFighterArchetype, kPlatformArchetype, kShotArchetype };

inline std::vector<Archetype> arena_archetypes(const ArenaCalls& calls) {
  Archetype fighter;
  fighter.name = "fighter";
  fighter.max_speed_mps = kFighterMaxMps;
  fighter.fields = {{"health", IntegerField{0, 100, 100}}};
  if (calls.floors) fighter.floor = std::make_shared<const Floor>();
  Archetype platform;
  platform.name = "platform";
  Archetype shot;
  shot.name = "shot";
  shot.has_orientation = false;
  shot.max_speed_mps = 2.0 * kShotMps;
  return {fighter, platform, shot};
}

/// The state of a projectile `age_s` after a fighter fired it.
inline State shot_state(const glm::dvec3& shooter, double heading, double age_s) {
  State state;
  state.velocity = {static_cast<float>(kShotMps * std::cos(heading)),
                    static_cast<float>(kShotMps * std::sin(heading)), 0.0f};
  state.position = shooter + glm::dvec3(0.0, 0.0, kShotHeightM) + age_s * glm::dvec3(state.velocity);
  return state;
}

/// How long a projectile flies until it reaches the wall of the arena, s.
inline double time_to_wall_s(const State& shot) {
  const auto along = [](double position, double velocity) {
    return velocity == 0.0 ? kMaxShortLifeS
                           : (std::copysign(kArenaHalfSideM, velocity) - position) / velocity;
  };
  return std::max(0.0,
                  std::min(along(shot.position.x, shot.velocity.x), along(shot.position.y, shot.velocity.y)));
}

/// A player's request to the server.
struct ArenaRequest {
  enum class Kind : std::uint8_t { shot, beam };
  using Bytes = std::array<std::byte, 38>;

  Kind kind = Kind::shot;
  std::uint8_t player = 0;
  std::uint32_t number = 0;  ///< counts the player's shots and beams apart
  glm::dvec3 position{0.0};  ///< of the shooter
  double heading = 0.0;      ///< rad

  [[nodiscard]] Bytes bytes() const {
    Bytes out;
    wire::ByteWriter writer(out);
    writer.number(static_cast<std::uint8_t>(kind)).number(player).number(number);
    for (const double value : {position.x, position.y, position.z, heading})
      writer.number(std::bit_cast<std::uint64_t>(value));
    return out;
  }
  [[nodiscard]] static std::optional<ArenaRequest> parse(std::span<const std::byte> bytes) {
    wire::ByteReader reader(bytes);
    ArenaRequest request;
    request.kind = Kind{reader.number<std::uint8_t>()};
    request.player = reader.number<std::uint8_t>();
    request.number = reader.number<std::uint32_t>();
    for (double* const value :
         {&request.position.x, &request.position.y, &request.position.z, &request.heading})
      *value = std::bit_cast<double>(reader.number<std::uint64_t>());
    return reader.failed() ? std::nullopt : std::optional{request};
  }
};

/// The number of a projectile, as the server sends it to the clients.
inline std::array<std::byte, 4> projectile_bytes(std::uint32_t number) {
  std::array<std::byte, 4> out;
  wire::ByteWriter(out).number(number);
  return out;
}
inline std::optional<std::uint32_t> parse_projectile(std::span<const std::byte> bytes) {
  wire::ByteReader reader(bytes);
  const auto number = reader.number<std::uint32_t>();
  return reader.failed() ? std::nullopt : std::optional{number};
}

}  // namespace reckoner::harness
