// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include <glm/vec2.hpp>

#include <reckoner/net/archetype.hpp>
#include <reckoner/reckoning/state.hpp>

// What the server and the players agree on: kinds of entities, the map, and how weapons work. Metres,
// seconds.
namespace arena {

enum Kind : std::size_t { kFighter, kPlatform, kBolt, kDoor };  // indices of archetypes()
enum FighterField : std::size_t { kHealth, kScore };
enum DoorField : std::size_t { kOpen };
std::vector<reckoner::Archetype> archetypes();

inline constexpr double kHalfSideM = 16.0;  // the arena is a square around the origin
inline constexpr double kBodyRadiusM = 0.45;
inline constexpr double kBoltMps = 24.0;
inline constexpr double kBoltLifeS = 1.0;
inline constexpr double kBeamRangeM = 30.0;
inline constexpr double kBoltPauseS = 0.3, kBeamPauseS = 0.8;  // between two shots
inline constexpr double kPadRadiusM = 1.0;
inline constexpr glm::dvec2 kDeckHalfM{3.0, 2.5};  // of the platform

struct Box {
  glm::dvec2 middle, half;
};
inline constexpr std::array<Box, 4> kDoors{{{{-6.0, 8.0}, {1.5, 0.25}},
                                            {{6.0, 8.0}, {1.5, 0.25}},
                                            {{-6.0, -8.0}, {1.5, 0.25}},
                                            {{6.0, -8.0}, {1.5, 0.25}}}};
/// The walls inside the arena.
std::span<const Box> walls();
/// Everything that stops bodies, bolts and beams inside the arena: walls and closed doors.
std::vector<Box> solids(const std::array<bool, kDoors.size()>& open);

struct Pad {
  glm::dvec2 at, exit;
};
inline constexpr std::array<Pad, 4> kPads{{{{-14.0, -14.0}, {12.0, 12.0}},
                                           {{14.0, 14.0}, {-12.0, -12.0}},
                                           {{14.0, -14.0}, {-12.0, 12.0}},
                                           {{-14.0, 14.0}, {12.0, -12.0}}}};
/// Where a body that stands at `at` comes out; nullopt if it is not on a pad.
std::optional<glm::dvec2> exit_of_pad(const glm::dvec3& at);

/// The platform goes to and fro in the middle hall and turns a little.
reckoner::State platform_state(double time_s);
/// Whether a place, relative to the platform, is on its deck.
bool on_deck(const glm::dvec3& local);

/// How far a ray gets before it meets a solid or the arena's edge, m. `direction` has length 1.
double clear_way_m(const glm::dvec2& from, const glm::dvec2& direction, std::span<const Box> solids);
/// How far along the ray a disc is met, m; nullopt if the ray passes it or points away.
std::optional<double> meets_disc_m(const glm::dvec2& from, const glm::dvec2& direction,
                                   const glm::dvec2& middle, double radius_m);

glm::dvec2 direction_of(double heading_rad);
glm::quat facing(double heading_rad);
double heading_of(const glm::quat& orientation);

/// A bolt `age_s` after a fighter at `shooter` fired it.
reckoner::State bolt_state(const glm::dvec3& shooter, double heading_rad, double age_s = 0.0);

}  // namespace arena
