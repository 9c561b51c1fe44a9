// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include <glm/geometric.hpp>
#include <glm/vec2.hpp>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/state.hpp>

// What the server and the players agree on: kinds of entities, the map, and how weapons work. Metres,
// seconds.
namespace arena {

/// Indices of archetypes(). Players, bots and riders are fighters; they differ in their top speed.
enum Kind : std::size_t { kPlayer, kBot, kRider, kPlatform, kBolt, kDoor, kBall };
inline bool is_fighter(std::size_t kind) {
  return kind <= kRider;
}
enum FighterField : std::size_t { kHealth, kScore };
enum DoorField : std::size_t { kOpen };
std::vector<reckoner::Archetype> archetypes();

inline constexpr double kTickHz = 60.0;
/// Server time of a tick (ServerConfig::epoch_s is 0), s.
inline double tick_time_s(reckoner::Tick tick) {
  return tick / kTickHz;
}

inline constexpr double kHalfSideM = 16.0;  // the arena is a square around the origin
inline constexpr double kBodyRadiusM = 0.45, kBallRadiusM = 0.6;
inline constexpr double kWalkMps = 5.0, kDashMps = 14.0;  // bots do not dash; riders walk at half the speed
inline constexpr glm::dvec2 kDeckHalfM{3.0, 2.5};         // of the platform

enum Weapon : std::uint32_t { kBoltGun, kBeamGun, kWeapons };
inline constexpr std::array<double, kWeapons> kPauseS{0.3, 0.8};  // between two shots
inline constexpr double kBoltMps = 24.0, kBoltLifeS = 1.0, kBeamRangeM = 30.0;

struct Box {
  glm::dvec2 middle, half;
};
constexpr Box wall(double x, double y, double half_m) {
  return {{x, y}, {half_m, 0.25}};
}
inline constexpr std::array kDoors{wall(-6, 8, 1.5), wall(6, 8, 1.5), wall(-6, -8, 1.5), wall(6, -8, 1.5)};
inline constexpr std::array kWalls{wall(-11.75, 8, 4.25),  wall(0, 8, 4.5),  wall(11.75, 8, 4.25),
                                   wall(-11.75, -8, 4.25), wall(0, -8, 4.5), wall(11.75, -8, 4.25)};
using OpenDoors = std::array<bool, kDoors.size()>;
/// Everything that stops bodies, bolts and beams inside the arena: walls and closed doors.
std::vector<Box> solids(const OpenDoors& open);
/// Whether a fighter at a place opens a door, or keeps it open.
inline bool opens(const glm::dvec2& at, const Box& door, bool is_open) {
  return glm::distance(at, door.middle) < (is_open ? 3.2 : 2.8);
}
/// How a disc overlaps something: which direction leads out, and how far.
struct Touch {
  glm::dvec2 out{0.0};  ///< of length 1
  double depth_m = 0.0;
};
/// Nullopt if the disc does not touch the box, or its middle is inside.
std::optional<Touch> touches_box(const glm::dvec2& middle, double radius_m, const Box& box);

inline constexpr double kPadRadiusM = 1.0;
inline constexpr std::array<glm::dvec2, 4> kPads{{{-14, -14}, {14, 14}, {14, -14}, {-14, 14}}};
/// Where a body that steps onto a pad comes out: before the pad in the opposite corner.
constexpr glm::dvec2 exit_of(const glm::dvec2& pad) {
  return {pad.x * -6.0 / 7.0, pad.y * -6.0 / 7.0};
}

/// The platform goes to and fro in the middle hall and turns a little.
reckoner::State platform_state(double time_s);
/// Whether a place, relative to the platform, is on its deck.
inline bool on_deck(const glm::dvec3& local) {
  return std::abs(local.x) < kDeckHalfM.x && std::abs(local.y) < kDeckHalfM.y;
}

/// How far a ray gets before it meets a solid or the arena's edge, m. `direction` has length 1.
double clear_path_m(const glm::dvec2& from, const glm::dvec2& direction, std::span<const Box> solids);
/// How far along the ray a disc is met, m; nullopt if the ray passes it or points away.
std::optional<double> meets_disc_m(const glm::dvec2& from, const glm::dvec2& direction,
                                   const glm::dvec2& middle, double radius_m);

inline glm::dvec2 direction_of(double heading_rad) {
  return {std::cos(heading_rad), std::sin(heading_rad)};
}
inline double heading_of(const glm::dvec2& direction) {
  return std::atan2(direction.y, direction.x);
}
inline double heading_of(const glm::quat& orientation) {
  return heading_of(glm::dvec2(orientation * glm::vec3{1.0f, 0.0f, 0.0f}));
}
inline glm::quat facing(double heading_rad) {
  return glm::angleAxis(static_cast<float>(heading_rad), glm::vec3{0.0f, 0.0f, 1.0f});
}

/// A bolt `age_s` after a fighter at `shooter` fired it.
reckoner::State bolt_state(const glm::dvec3& shooter, double heading_rad, double age_s = 0.0);

}  // namespace arena
