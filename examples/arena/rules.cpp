// SPDX-License-Identifier: MIT
#include "rules.hpp"

#include <algorithm>
#include <memory>

#include <glm/common.hpp>

namespace arena {
namespace {

constexpr double kMuzzleM = 0.7;  // before the middle of the shooter

// A ray is inside a box from `enter_m` to `leave_m`. If `enter_m` is larger, the ray misses the box.
struct Inside {
  double enter_m, leave_m;
};
Inside inside(const glm::dvec2& from, const glm::dvec2& direction, const Box& box) {
  // Distances to the two sides of each axis; infinite if the ray is parallel to them.
  const glm::dvec2 off = box.middle - from, a = (off - box.half) / direction,
                   b = (off + box.half) / direction;
  const glm::dvec2 enter = glm::min(a, b), leave = glm::max(a, b);
  return {std::max(enter.x, enter.y), std::min(leave.x, leave.y)};
}

}  // namespace

std::vector<reckoner::Archetype> archetypes() {
  std::vector<reckoner::Archetype> all(7);
  constexpr std::array kNames{"player", "bot", "rider", "platform", "bolt", "door", "ball"};
  // An extrapolated or blended fighter is never drawn faster than this. The server refuses a faster motion,
  // so there is some room: rounding, and others who push.
  constexpr std::array kTopMps{kDashMps + 2.0, kWalkMps + 1.0, 0.5 * kWalkMps + 1.0};
  for (std::size_t kind = 0; kind < all.size(); ++kind)
    all[kind].name = kNames[kind];
  for (const Kind kind : {kPlayer, kBot, kRider}) {
    all[kind].max_speed_mps = kTopMps[kind];
    all[kind].floor = std::make_shared<const reckoner::Floor>();  // never drawn below the ground
    all[kind].fields = {{"health", reckoner::IntegerField{.least = 0, .most = 100, .initial = 100}},
                        {"score", reckoner::IntegerField{.least = 0, .most = 9999}}};
  }
  all[kBolt].has_orientation = false;
  all[kBolt].max_speed_mps = 2.0 * kBoltMps;
  all[kBall].has_orientation = false;
  all[kBall].max_speed_mps = 25.0;
  all[kDoor].fields = {{"open", reckoner::BooleanField{}}};
  return all;
}

std::vector<Box> solids(const OpenDoors& open) {
  std::vector<Box> out(kWalls.begin(), kWalls.end());
  for (std::size_t i = 0; i < kDoors.size(); ++i) {
    if (!open[i]) out.push_back(kDoors[i]);
  }
  return out;
}

std::optional<Touch> touches_box(const glm::dvec2& middle, double radius_m, const Box& box) {
  const glm::dvec2 nearest = glm::clamp(middle, box.middle - box.half, box.middle + box.half);
  const double away_m = glm::distance(middle, nearest);
  if (away_m >= radius_m || away_m == 0.0) return std::nullopt;
  return Touch{(middle - nearest) / away_m, radius_m - away_m};
}

reckoner::State platform_state(double time_s) {
  return {.position = {9.0 * std::sin(0.4 * time_s), 0.0, 0.0},
          .velocity = {3.6 * std::cos(0.4 * time_s), 0.0, 0.0},
          .acceleration = {-1.44 * std::sin(0.4 * time_s), 0.0, 0.0},
          .orientation = facing(0.4 * std::sin(0.3 * time_s)),
          .angular_velocity = {0.0, 0.0, 0.12 * std::cos(0.3 * time_s)}};
}

double clear_path_m(const glm::dvec2& from, const glm::dvec2& direction, std::span<const Box> solids) {
  double clear_m = inside(from, direction, {glm::dvec2(0.0), glm::dvec2(kHalfSideM)}).leave_m;
  for (const Box& box : solids) {
    const auto [enter_m, leave_m] = inside(from, direction, box);
    if (enter_m <= leave_m && leave_m >= 0.0) clear_m = std::min(clear_m, enter_m);
  }
  return std::max(clear_m, 0.0);
}

std::optional<double> meets_disc_m(const glm::dvec2& from, const glm::dvec2& direction,
                                   const glm::dvec2& middle, double radius_m) {
  const glm::dvec2 to = middle - from;
  const double along_m = glm::dot(to, direction);
  if (along_m < 0.0 || glm::distance(to, along_m * direction) > radius_m) return std::nullopt;
  return along_m;
}

reckoner::State bolt_state(const glm::dvec3& shooter, double heading_rad, double age_s) {
  const glm::dvec2 direction = direction_of(heading_rad);
  return {.position = shooter + glm::dvec3((kMuzzleM + kBoltMps * age_s) * direction, 0.8),
          .velocity = glm::vec3(kBoltMps * direction, 0.0)};
}

}  // namespace arena
