// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/portable_math.hpp"
#include "scenario/builtin/builtin_source.hpp"
#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <array>

namespace reckoner::scenario {
namespace {

constexpr double kBlockM = 120.0;          // distance between crossings
constexpr double kLegS = 16.0;             // driving time between crossings
constexpr double kPassMps = 7.0;           // speed at a crossing where the car does not stop
constexpr double kAccelerationMps2 = 3.0;  // maximum acceleration along the road
constexpr double kTurnRadiusM = 16.0;      // lateral acceleration: 3.1 m/s^2 at 7 m/s, 6.8 m/s^2 at 10.4 m/s
constexpr double kLongestWaitS = 2.5;      // longest time that a car stands at a crossing
constexpr double kStopChance = 0.4;
constexpr double kHalfArcM = kTurnRadiusM * std::numbers::pi / 4.0;

// Distance at time `t` for a trapezoidal speed profile. The profile covers `distance` in `time_s` and leads
// from speed v0 to speed v1: the car accelerates to a cruising speed, keeps it, and then brakes to v1. The
// cruising speed v solves
//
//   v^2 - v (a T + v0 + v1) + a D + (v0^2 + v1^2) / 2 = 0
//
// With the constants of this file, v is real and is not less than v0 or v1.
double trapezoid(double v0, double v1, double distance, double time_s, double t) {
  constexpr double a = kAccelerationMps2;
  const double b = a * time_s + v0 + v1;
  const double c = a * distance + 0.5 * (v0 * v0 + v1 * v1);
  const double cruise = 0.5 * (b - std::sqrt(b * b - 4.0 * c));
  const double rise_s = (cruise - v0) / a;
  const double fall_s = (cruise - v1) / a;
  if (t < rise_s) return (v0 + 0.5 * a * t) * t;
  const double left_s = time_s - t;
  if (left_s < fall_s) return distance - (v1 + 0.5 * a * left_s) * left_s;
  return (v0 + 0.5 * a * rise_s) * rise_s + cruise * (t - rise_s);
}

// Each car drives around a rectangle of whole blocks for ever. A leg from crossing to crossing takes 16 s.
// Stops and waiting times are drawn at random for every leg.
class Traffic final : public BuiltinSource {
 public:
  Traffic(std::size_t count, std::uint64_t seed) : BuiltinSource("car", count, seed) {
    const double blocks = std::max(1.0, std::ceil(square_side_m(2500.0) / kBlockM));
    loops_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      Random random(seed, i);
      Loop loop;
      const auto crossings = static_cast<std::uint64_t>(blocks);
      loop.corner.x = kBlockM * static_cast<double>(random.below(crossings)) + random.uniform(-4.0, 4.0);
      loop.corner.y = kBlockM * static_cast<double>(random.below(crossings)) + random.uniform(-4.0, 4.0);
      loop.width = 1 + static_cast<std::int64_t>(random.below(3));
      loop.height = 1 + static_cast<std::int64_t>(random.below(3));
      loop.mirrored = random.chance(0.5);
      loop.phase_s = random.uniform(0.0, 1000.0);
      loops_.push_back(loop);
    }
  }

  Pose pose(std::size_t index, double time_s) const override {
    const Loop& loop = loops_[index];
    const auto [leg, since_s] = period_at(time_s + loop.phase_s, kLegS);
    const Corner from = corner_at(loop, leg);
    const Corner to = corner_at(loop, leg + 1);
    const double straight_m = kBlockM - (from.turns ? kTurnRadiusM : 0.0) - (to.turns ? kTurnRadiusM : 0.0);
    const double distance = straight_m + (from.turns ? kHalfArcM : 0.0) + (to.turns ? kHalfArcM : 0.0);
    const bool stopped = stops(index, leg);
    const double wait_s = stopped ? kLongestWaitS * hash_uniform(seed(), index, leg, 1) : 0.0;
    const double driven = trapezoid(stopped ? 0.0 : kPassMps, stops(index, leg + 1) ? 0.0 : kPassMps,
                                    distance, kLegS - wait_s, std::max(0.0, since_s - wait_s));
    return place(loop, from, to, distance, driven);
  }

 private:
  // The rectangle of one car. The car starts at `corner` in the direction of x and drives counter-clockwise,
  // or clockwise if `mirrored` is true.
  struct Loop {
    glm::dvec3 corner{0.0};
    std::int64_t width = 1;  // size along x, in blocks
    std::int64_t height = 1;
    bool mirrored = false;
    double phase_s = 0.0;
  };

  // The crossing at the start of a leg.
  struct Corner {
    glm::dvec3 at{0.0};  // position relative to the loop's corner, m
    // Side of the rectangle on which the leg lies: 0 along x, 1 along y, 2 back along x, 3 back along y.
    int side = 0;
    bool turns = false;  // true: the previous leg lies on another side
  };

  static Corner corner_at(const Loop& loop, std::int64_t leg) {
    const std::int64_t w = loop.width;
    const std::int64_t h = loop.height;
    const std::int64_t count = 2 * (w + h);
    const std::int64_t n = ((leg % count) + count) % count;
    const std::array<std::int64_t, 4> starts{0, w, w + h, 2 * w + h};
    int side = 3;
    while (n < starts[static_cast<std::size_t>(side)])
      --side;
    const std::int64_t along = n - starts[static_cast<std::size_t>(side)];
    const std::int64_t x = side == 0 ? along : side == 1 ? w : side == 2 ? w - along : 0;
    const std::int64_t y = side == 0 ? 0 : side == 1 ? along : side == 2 ? h : h - along;
    return {glm::dvec3{static_cast<double>(x), static_cast<double>(y), 0.0} * kBlockM, side, along == 0};
  }

  bool stops(std::size_t index, std::int64_t leg) const {
    return hash_uniform(seed(), index, leg, 0) < kStopChance;
  }

  // Pose at `driven` metres along the leg. The leg consists of the second half of a turn, a street and the
  // first half of the next turn.
  static Pose place(const Loop& loop, const Corner& from, const Corner& to, double distance, double driven) {
    constexpr double kRight = std::numbers::pi / 2.0;
    const double street = kRight * from.side;
    const glm::dvec3 ahead{std::round(portable::cos(street)), std::round(portable::sin(street)), 0.0};
    const glm::dvec3 left{-ahead.y, ahead.x, 0.0};
    glm::dvec3 at{0.0};
    double heading = street;
    if (from.turns && driven < kHalfArcM) {
      const double angle = (kHalfArcM - driven) / kTurnRadiusM;  // remaining part of the turn
      heading -= angle;
      at = from.at + ahead * (kTurnRadiusM * (1.0 - portable::sin(angle))) +
           left * (kTurnRadiusM * (1.0 - portable::cos(angle)));
    } else if (to.turns && distance - driven < kHalfArcM) {
      const double angle = (kHalfArcM - (distance - driven)) / kTurnRadiusM;  // completed part of the turn
      heading += angle;
      at = to.at - ahead * (kTurnRadiusM * (1.0 - portable::sin(angle))) +
           left * (kTurnRadiusM * (1.0 - portable::cos(angle)));
    } else {
      at = from.at + ahead * (driven + (from.turns ? kTurnRadiusM - kHalfArcM : 0.0));
    }
    if (loop.mirrored) {  // mirrored at the line x = y
      std::swap(at.x, at.y);
      heading = kRight - heading;
    }
    return {loop.corner + at, heading_orientation(heading)};
  }

  std::vector<Loop> loops_;
};

}  // namespace

std::unique_ptr<Source> make_traffic(std::size_t count, std::uint64_t seed) {
  return std::make_unique<Traffic>(count, seed);
}

}  // namespace reckoner::scenario
