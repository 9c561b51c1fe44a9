// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/config/settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

inline constexpr std::size_t kMaxArchetypes = 256;         ///< maximum number of archetypes
inline constexpr std::size_t kMaxArchetypeNameBytes = 32;  ///< maximum length of an archetype's name, bytes

/// The settings of an archetype that are numbers.
inline constexpr std::array kArchetypeSettings{
    setting<&Archetype::threshold_m>(
        "threshold_m", "threshold-m", "m", 1e-6, 1e6, "",
        "largest error of a position that clients show before an update is sent, m"),
    setting<&Archetype::threshold_rad>(
        "threshold_rad", "threshold-rad", "rad", 1e-6, 1e6, "",
        "largest error of an orientation that clients show before an update is sent, rad"),
    setting<&Archetype::max_speed_mps>("max_speed_mps", "", "m/s", 1e-6, 1e12, "",
                                       "faster motions are refused, m/s"),
    setting<&Archetype::world_size_m>("world_size_m", "", "m", 1e-6, 1e12, "",
                                      "positions further from the origin are refused, m"),
};

/// Returns an error if the number of archetypes is not allowed, otherwise nullopt.
[[nodiscard]] inline std::optional<Error> find_invalid_archetype_count(std::size_t count) {
  if (count >= 1 && count <= kMaxArchetypes) return std::nullopt;
  return Error{"there are " + std::to_string(count) + " archetypes; there must be from 1 to " +
               std::to_string(kMaxArchetypes)};
}

/// Returns an error if the archetype has a floor that is no plane, otherwise nullopt.
[[nodiscard]] inline std::optional<Error> find_invalid_floor(const Archetype& archetype) {
  if (!archetype.floor) return std::nullopt;
  const Floor& floor = *archetype.floor;
  const double length2 = floor.up.x * floor.up.x + floor.up.y * floor.up.y + floor.up.z * floor.up.z;
  if (!(std::abs(length2 - 1.0) < 1e-6))  // true for NaN
    return Error{"floor.up has the length " + std::to_string(std::sqrt(length2)) + "; it must be 1"};
  if (!std::isfinite(floor.height_m)) return Error{"floor.height_m is not finite"};
  return std::nullopt;
}

/// Returns an error if the archetype has walls with an invalid number, otherwise nullopt.
[[nodiscard]] inline std::optional<Error> find_invalid_walls(const Archetype& archetype) {
  if (!archetype.walls) return std::nullopt;
  const Walls& walls = *archetype.walls;
  if (!(walls.margin_m >= 0.0) || !std::isfinite(walls.margin_m))
    return Error{"walls.margin_m is " + number_text(walls.margin_m) + "; it must be 0 or more, m"};
  if (walls.boxes.size() > kMaxWallBoxes)
    return Error{"walls.boxes has " + std::to_string(walls.boxes.size()) + " boxes; it must have at most " +
                 std::to_string(kMaxWallBoxes)};
  for (std::size_t i = 0; i < walls.boxes.size(); ++i) {
    const WallBox& box = walls.boxes[i];
    const std::string name = "walls.boxes[" + std::to_string(i) + "]";
    const auto& q = box.orientation;
    const float length2 = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    for (int axis = 0; axis < 3; ++axis) {
      if (!std::isfinite(box.centre[axis])) return Error{name + ".centre is not finite"};
      if (!(box.half_size[axis] > 0.0) || !std::isfinite(box.half_size[axis]))
        return Error{name + ".half_size must be above 0 on each axis, m"};
    }
    if (!(std::abs(length2 - 1.0f) < 0.001f)) return Error{name + ".orientation is no unit quaternion"};
  }
  return std::nullopt;
}

/// Returns an error if the archetype's velocity source is none, otherwise nullopt.
[[nodiscard]] inline std::optional<Error> find_invalid_velocity(const Archetype& archetype) {
  if (archetype.velocity <= VelocitySource::estimated) return std::nullopt;
  return Error{"velocity is " + std::to_string(static_cast<unsigned>(archetype.velocity)) +
               "; it must be automatic, given or estimated"};
}

/// Returns the first error in a list of archetypes, or nullopt if all are valid.
[[nodiscard]] inline std::optional<Error> find_invalid_setting(const std::vector<Archetype>& archetypes) {
  if (auto error = find_invalid_archetype_count(archetypes.size())) return error;
  for (std::size_t i = 0; i < archetypes.size(); ++i) {
    const Archetype& archetype = archetypes[i];
    const std::string prefix = "archetypes[" + std::to_string(i) + "].";
    if (archetype.name.size() > kMaxArchetypeNameBytes)
      return Error{prefix + "name has " + std::to_string(archetype.name.size()) +
                   " bytes; it must have at most " + std::to_string(kMaxArchetypeNameBytes)};
    const auto has_this_name = [&](const Archetype& other) { return other.name == archetype.name; };
    const auto end = archetypes.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(archetypes.begin(), end, has_this_name))
      return Error{prefix + "name is '" + archetype.name + "', which an earlier archetype has"};
    if (auto error = find_invalid<Archetype>(kArchetypeSettings, archetype, prefix)) return error;
    if (auto error = find_invalid_floor(archetype)) return Error{prefix + error->message};
    if (auto error = find_invalid_walls(archetype)) return Error{prefix + error->message};
    if (auto error = find_invalid_velocity(archetype)) return Error{prefix + error->message};
    if (auto error = find_invalid_field(archetype.fields)) return Error{prefix + error->message};
  }
  return std::nullopt;
}

}  // namespace reckoner
