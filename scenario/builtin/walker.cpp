// SPDX-License-Identifier: MIT
#include "scenario/builtin/walker.hpp"

#include "reckoning/src/motion/portable_math.hpp"
#include "scenario/builtin/builtin_source.hpp"
#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace reckoner::scenario {
namespace {

constexpr double kJoinS = 0.15;  // half the duration of a change of velocity
constexpr std::int64_t kBlockLegs = 8;
constexpr double kRestChance = 0.15;  // probability that the walker stays in place for a whole block
// Probability that the walker stays for one leg; drawn for every second leg.
constexpr double kSkipChance = 0.3;
constexpr double kPauseChance = 0.35;  // probability that the walker waits at the start of a leg
// The length of a pause as a fraction of the leg. Because a leg lasts at least 1.5 s, two changes of velocity
// never overlap.
constexpr double kShortestPause = 0.27;
constexpr double kLongestPause = 0.45;
constexpr double kHalfSideMps = 0.9;  // half the side of the walker's square divided by the duration of a leg
constexpr double kEyeHeightM = 1.7;

enum WalkerDraw : int {
  kWalkerX,
  kWalkerY,
  kWalkerRest,
  kWalkerSkip,
  kWalkerPause,
  kWalkerPauseLength,
  kWalkerLook
};

double draw(const Walker& walker, std::int64_t leg, WalkerDraw what) {
  return hash_uniform(walker.seed, walker.number, leg, static_cast<int>(what));
}

// Position at the start of `leg`.
glm::dvec2 point(const Walker& walker, std::int64_t leg) {
  const std::int64_t block = period_at(static_cast<double>(leg), static_cast<double>(kBlockLegs)).index;
  if (draw(walker, block, kWalkerRest) < kRestChance) {
    leg = block * kBlockLegs;
  } else if ((leg & 1) != 0 && draw(walker, leg, kWalkerSkip) < kSkipChance) {
    --leg;
  }
  return walker.home +
         kHalfSideMps * walker.leg_s *
             glm::dvec2{2.0 * draw(walker, leg, kWalkerX) - 1.0, 2.0 * draw(walker, leg, kWalkerY) - 1.0};
}

// A section of straight motion at constant velocity.
struct Stretch {
  double begin_s;
  glm::dvec2 from;
  glm::dvec2 velocity;
  double heading;
};

// The two stretches of a leg: a pause, which may be empty, and then a walk.
std::array<Stretch, 2> stretches(const Walker& walker, std::int64_t leg) {
  const double begin_s = static_cast<double>(leg) * walker.leg_s;
  const glm::dvec2 from = point(walker, leg);
  const glm::dvec2 step = point(walker, leg + 1) - from;
  const bool pauses = draw(walker, leg, kWalkerPause) < kPauseChance;
  const double pause =
      pauses ? kShortestPause + (kLongestPause - kShortestPause) * draw(walker, leg, kWalkerPauseLength)
             : 0.0;
  const bool walks = step.x != 0.0 || step.y != 0.0;
  const double look = 2.0 * std::numbers::pi * draw(walker, leg, kWalkerLook);
  const double ahead = walks ? portable::atan2(step.y, step.x) : look;
  return {Stretch{begin_s, from, glm::dvec2{0.0}, look},
          Stretch{begin_s + pause * walker.leg_s, from, step / ((1.0 - pause) * walker.leg_s), ahead}};
}

// The stretches of `leg`, the leg before it and the leg after it. Empty stretches are left out. The stretches
// of one later leg are enough, because only its start matters.
struct Nearby {
  std::array<Stretch, 6> list;
  std::size_t count = 0;

  Nearby(const Walker& walker, std::int64_t leg) {
    for (std::int64_t i = leg - 1; i <= leg + 1; ++i) {
      const std::array<Stretch, 2> two = stretches(walker, i);
      if (two[1].begin_s > two[0].begin_s) list[count++] = two[0];
      list[count++] = two[1];
    }
  }
};

}  // namespace

Pose Walker::pose(double time_s) const {
  const double t = time_s + phase_s;
  const Nearby nearby(*this, period_at(t, leg_s).index);
  std::size_t now = 0;
  while (now + 1 < nearby.count && nearby.list[now + 1].begin_s <= t)
    ++now;
  const Stretch& stretch = nearby.list[now];
  glm::dvec2 at = stretch.from + stretch.velocity * (t - stretch.begin_s);
  double heading = stretch.heading;
  // Near a corner, this replaces the polyline by its average over +-0.15 s. The average is the parabola that
  // is tangent to both sides.
  for (std::size_t i = std::max<std::size_t>(now, 1); i <= now + 1 && i < nearby.count; ++i) {
    const Stretch& before = nearby.list[i - 1];
    const Stretch& after = nearby.list[i];
    const double away_s = t - after.begin_s;
    if (std::abs(away_s) >= kJoinS) continue;
    const double inside_s = kJoinS - std::abs(away_s);
    at += (after.velocity - before.velocity) * (inside_s * inside_s / (4.0 * kJoinS));
    heading = before.heading +
              wrapped_angle(after.heading - before.heading) * smooth_step(0.5 + 0.5 * away_s / kJoinS);
  }
  return {{at.x, at.y, kEyeHeightM}, heading_orientation(heading)};
}

Walker draw_walker(std::uint64_t seed, std::uint64_t number, double side_m) {
  Random random(seed, number);
  Walker walker{.seed = seed, .number = number};
  walker.home = {random.uniform(-0.5, 0.5) * side_m, random.uniform(-0.5, 0.5) * side_m};
  walker.leg_s = random.uniform(1.5, 3.0);
  walker.phase_s = random.uniform(0.0, 1000.0);
  return walker;
}

}  // namespace reckoner::scenario
