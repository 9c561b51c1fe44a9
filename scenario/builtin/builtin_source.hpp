// SPDX-License-Identifier: MIT
#pragma once

#include "reckoning/src/motion/portable_math.hpp"
#include "scenario/source.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::scenario {

inline constexpr double kGravityMps2 = 9.81;  ///< gravity of the Earth, m/s^2

/// Base class of the built-in scenarios. By default, an entity lives from 0 s for ever, without teleports and
/// gaps. Its name is `noun` followed by a number.
class BuiltinSource : public Source {
 public:
  BuiltinSource(const std::string& noun, std::size_t count, std::uint64_t seed) : seed_(seed) {
    entities_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      entities_.push_back(
          {.name = noun + std::to_string(i + 1), .last_s = std::numeric_limits<double>::infinity()});
    }
  }

  std::size_t size() const override { return entities_.size(); }
  const SourceEntity& entity(std::size_t index) const override { return entities_[index]; }
  bool teleports_within(std::size_t, double, double) const override { return false; }
  bool in_gap(std::size_t, double) const override { return false; }
  double start_s() const override { return 0.0; }
  double end_s() const override { return std::numeric_limits<double>::infinity(); }

 protected:
  std::uint64_t seed() const { return seed_; }
  SourceEntity& mutable_entity(std::size_t index) { return entities_[index]; }

  /// Side, m, of a square in which each entity has `area_m2` on average.
  double square_side_m(double area_m2) const {
    return std::sqrt(area_m2 * static_cast<double>(entities_.size()));
  }

 private:
  std::uint64_t seed_;
  std::vector<SourceEntity> entities_;
};

/// Rotation about the z axis by `heading` rad, from the x axis towards the y axis.
inline glm::quat heading_orientation(double heading) {
  return {static_cast<float>(portable::cos(0.5 * heading)), 0.0f, 0.0f,
          static_cast<float>(portable::sin(0.5 * heading))};
}

/// Wraps an angle into [-pi, pi], rad.
inline double wrapped_angle(double angle) {
  return std::remainder(angle, 2.0 * std::numbers::pi);
}

/// Rises from 0 to 1 with zero slope at both ends. `u` is clamped to [0, 1].
inline double smooth_step(double u) {
  if (u <= 0.0) return 0.0;
  return u >= 1.0 ? 1.0 : u * u * (3.0 - 2.0 * u);
}

/// The period of fixed length that contains a time, and the time since its start. Period 0 starts at time 0.
struct Period {
  std::int64_t index;
  double since_s;
};
inline Period period_at(double time_s, double length_s) {
  const double index = std::floor(time_s / length_s);
  return {static_cast<std::int64_t>(index), time_s - index * length_s};
}

std::unique_ptr<Source> make_orbit(std::size_t count, std::uint64_t seed);
std::unique_ptr<Source> make_traffic(std::size_t count, std::uint64_t seed);
std::unique_ptr<Source> make_crowd(std::size_t count, std::uint64_t seed);
std::unique_ptr<Source> make_hop(std::size_t count, std::uint64_t seed);
std::unique_ptr<Source> make_patrol(std::size_t count, std::uint64_t seed);
std::unique_ptr<Source> make_duel(std::size_t count, std::uint64_t seed);
std::unique_ptr<Source> make_owned(std::size_t count, std::uint64_t seed);
std::unique_ptr<Source> make_visitors(std::size_t count, std::uint64_t seed);
std::unique_ptr<Source> make_ship(std::size_t count, std::uint64_t seed);
std::unique_ptr<Source> make_ashore(std::size_t count, std::uint64_t seed);
std::unique_ptr<Source> make_football(std::size_t count, std::uint64_t seed);

/// Simulates a scene of physics_scenarios() with the lengths of PhysicsSceneOptions. `count` 0 selects the
/// scene's own number of bodies. Fails if the scene cannot have this number, or in a build without a physics
/// engine.
Result<std::unique_ptr<Source>> make_physics_scene(std::string_view name, std::size_t count,
                                                   std::uint64_t seed);

}  // namespace reckoner::scenario
