// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/portable_math.hpp"
#include "scenario/builtin/builtin_source.hpp"
#include "scenario/builtin/random.hpp"

#include <glm/geometric.hpp>
#include <glm/vec2.hpp>

namespace reckoner::scenario {
namespace {

constexpr double kStrideS = 0.5;         // time from one place to the next
constexpr double kMaxOffsetM = 1.5;      // along each axis, a place is at most this far from home
constexpr double kPairDistanceM = 12.0;  // distance between the homes of the two players of a pair
constexpr double kDistanceBetweenPairsM = 60.0;
constexpr double kJumpChance = 0.3;   // probability that the player jumps during a stride
constexpr double kStandChance = 0.2;  // probability that the player stands during a stride

// Pairs of players who face each other, strafe at up to about 8 m/s, stand and jump. The horizontal path is a
// C1 cubic through random places. As in games, the vertical velocity jumps at take-off and landing.
class Duel final : public BuiltinSource {
 public:
  Duel(const char* noun, std::size_t count, std::uint64_t seed) : BuiltinSource(noun, count, seed) {}

  Pose pose(std::size_t index, double time_s) const override {
    const auto [stride, since_s] = stride_at(index, time_s);
    const double left_s = kStrideS - since_s;
    const bool jumps = chance(index, stride, 7) < kJumpChance;
    const double z = jumps ? 0.5 * kGravityMps2 * since_s * left_s : 0.0;
    const glm::dvec2 at = ground(index, time_s);
    const glm::dvec2 aim = ground(index ^ 1u, time_s) - at;
    return {{at.x, at.y, z}, heading_orientation(portable::atan2(aim.y, aim.x))};
  }

 private:
  double chance(std::size_t index, std::int64_t stride, int what) const {
    return hash_uniform(seed(), index, stride, what);
  }

  // A random offset, so that players do not all start their strides at the same moment.
  Period stride_at(std::size_t index, double time_s) const {
    return period_at(time_s + kStrideS * hash_uniform(seed(), index), kStrideS);
  }

  glm::dvec2 home(std::size_t index) const {
    const std::size_t pair = index / 2;
    return {kPairDistanceM * (index % 2 == 0 ? -0.5 : 0.5),
            static_cast<double>(pair) * kDistanceBetweenPairsM};
  }

  glm::dvec2 place(std::size_t index, std::int64_t stride) const {
    // A standing player stays at the end of the previous stride.
    while (chance(index, stride, 2) < kStandChance)
      --stride;
    const glm::dvec2 drawn{chance(index, stride, 0) - 0.5, chance(index, stride, 1) - 0.5};
    return home(index) + 2.0 * kMaxOffsetM * drawn;
  }

  glm::dvec2 ground(std::size_t index, double time_s) const {
    const auto [stride, since_s] = stride_at(index, time_s);
    const glm::dvec2 from = place(index, stride);
    const glm::dvec2 to = place(index, stride + 1);
    // Catmull-Rom tangents, scaled by the duration of a stride.
    const glm::dvec2 out = 0.5 * (to - place(index, stride - 1));
    const glm::dvec2 in = 0.5 * (place(index, stride + 2) - from);
    const double u = since_s / kStrideS;
    const double left = 1.0 - u;
    return from + (to - from) * (u * u * (3.0 - 2.0 * u)) + (out * left - in * u) * (u * left);
  }
};

}  // namespace

std::unique_ptr<Source> make_duel(std::size_t count, std::uint64_t seed) {
  return std::make_unique<Duel>("player", count, seed);
}

std::unique_ptr<Source> make_owned(std::size_t count, std::uint64_t seed) {
  return std::make_unique<Duel>("avatar", count, seed);
}

}  // namespace reckoner::scenario
