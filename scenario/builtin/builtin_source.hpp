// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/source.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

namespace reckoner::scenario {

inline constexpr double kGravityMps2 = 9.81;  ///< of the Earth, m/s^2

/// What the built-in scenarios share: entities named after the scenario, alive for ever from 0 s unless the
/// scenario says otherwise, no teleports and no gaps.
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

  /// Side of a square (m) in which every entity has `area_m2` on average.
  double square_side_m(double area_m2) const {
    return std::sqrt(area_m2 * static_cast<double>(entities_.size()));
  }

 private:
  std::uint64_t seed_;
  std::vector<SourceEntity> entities_;
};

/// Turned by `heading` rad from the x axis towards the y axis.
inline glm::quat heading_orientation(double heading) {
  return {static_cast<float>(std::cos(0.5 * heading)), 0.0f, 0.0f,
          static_cast<float>(std::sin(0.5 * heading))};
}

/// The same angle in [-pi, pi].
inline double wrapped_angle(double angle) {
  return std::remainder(angle, 2.0 * std::numbers::pi);
}

/// 0 to 1 with no slope at either end; u is clamped.
inline double smooth_step(double u) {
  if (u <= 0.0) return 0.0;
  return u >= 1.0 ? 1.0 : u * u * (3.0 - 2.0 * u);
}

/// Which period of this length `time_s` lies in, from 0 at time 0, and how far into it.
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

}  // namespace reckoner::scenario
