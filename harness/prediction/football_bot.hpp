// SPDX-License-Identifier: MIT
#pragma once

#include "harness/prediction/football_game.hpp"
#include "scenario/builtin/random.hpp"

#include <cstdint>

namespace reckoner::harness::football {

/// A player: chases the ball, shoots at the goal, sometimes rams an opponent. Changes its keys a few times a
/// second, as players do. Equal seeds and worlds give equal keys.
class Bot {
 public:
  Bot(std::size_t car, std::uint64_t seed) : car_(car), random_(seed, 100 + car) {}

  /// The keys at `time_s`, as the player sees the world.
  [[nodiscard]] Keys keys(const World& seen, double time_s);

 private:
  enum class Plan { ball, ram, away };
  void decide(const World& seen);
  [[nodiscard]] glm::dvec3 target(const World& seen) const;

  std::size_t car_;
  scenario::Random random_;
  Keys keys_;
  Plan plan_ = Plan::ball;
  std::size_t opponent_ = 0;
  glm::dvec3 away_{0.0};
  double plan_until_s_ = 0.0;
  double keys_until_s_ = 0.0;
};

}  // namespace reckoner::harness::football
