// SPDX-License-Identifier: MIT
#include "bot.hpp"

namespace arena {
namespace {

constexpr double kKeepAwayM = 1.8;

// The walls divide the arena into three halls: -1, 0 and 1.
int hall_of(const glm::dvec2& at) {
  return at.y > 8.0 ? 1 : at.y < -8.0 ? -1 : 0;
}

// Where to walk next towards the goal: a door, if the goal is in another hall.
glm::dvec2 next_point(const glm::dvec2& from, const glm::dvec2& goal) {
  const int here = hall_of(from), there = hall_of(goal);
  if (here == there) return goal;
  const double wall_y = here == 0 ? 8.0 * there : 8.0 * here;
  const glm::dvec2 door{from.x < 0.0 ? -6.0 : 6.0, wall_y};
  const double across = there > here ? 1.0 : -1.0;
  const bool before_door = std::abs(from.x - door.x) < 0.9;  // then straight through it
  return door + glm::dvec2(0.0, before_door ? across * 1.5 : -across * 1.2);
}

glm::dvec2 away_from(const glm::dvec2& self, const glm::dvec2& other, double reach_m) {
  const glm::dvec2 apart = self - other;
  const double apart_m = glm::length(apart);
  if (apart_m >= reach_m || apart_m == 0.0) return {0.0, 0.0};
  return apart / apart_m * (1.0 - apart_m / reach_m);
}

}  // namespace

Controls chase(const reckoner::State& self, const glm::dvec2& goal) {
  const glm::dvec2 to = next_point(glm::dvec2(self.position), goal) - glm::dvec2(self.position);
  const double far_m = glm::length(to);
  if (far_m < 0.1) return {.aim_rad = heading_of(self.orientation)};
  return {.walk = to / far_m, .aim_rad = heading_of(to), .dash = far_m < 3.0};
}

Controls Bot::roam(const reckoner::State& self, std::span<const glm::dvec2> others,
                   const glm::dvec2& platform, double step_s) {
  const glm::dvec2 at(self.position);
  goal_left_s_ -= step_s;
  if (goal_left_s_ <= 0.0 || glm::distance(at, goal_) < 1.0) {
    goal_ = {uniform(random_, -15.0, 15.0), uniform(random_, -15.0, 15.0)};
    goal_left_s_ = uniform(random_, 4.0, 10.0);
  }
  const glm::dvec2 to = next_point(at, goal_) - at;
  glm::dvec2 wish = 0.7 * to / std::max(glm::length(to), 1.0);
  for (const glm::dvec2& other : others)
    wish += 1.2 * away_from(at, other, kKeepAwayM);
  wish += 2.0 * away_from(at, platform, 5.0);
  Controls controls{.walk = wish, .aim_rad = heading_of(self.orientation)};
  const double turn = std::remainder(heading_of(wish) - controls.aim_rad, 2.0 * std::numbers::pi);
  if (glm::length(wish) > 0.1) controls.aim_rad += std::clamp(turn, -6.0 * step_s, 6.0 * step_s);
  return controls;
}

Controls Bot::ride(const reckoner::State& local, double step_s) {
  goal_left_s_ -= step_s;
  if (goal_left_s_ <= 0.0 && arrived_) {
    goal_ = {uniform(random_, -2.2, 2.2), uniform(random_, -1.7, 1.7)};
    arrived_ = false;
  }
  const glm::dvec2 to = goal_ - glm::dvec2(local.position);
  if (!arrived_ && glm::length(to) < 0.3) {
    arrived_ = true;
    goal_left_s_ = uniform(random_, 3.0, 8.0);
  }
  if (arrived_) return {.aim_rad = heading_of(local.orientation)};
  return {.walk = 0.5 * to / glm::length(to), .aim_rad = heading_of(to)};
}

}  // namespace arena
