// SPDX-License-Identifier: MIT
#include "scenario/builtin/builtin_source.hpp"
#include "scenario/builtin/random.hpp"

#include <glm/geometric.hpp>
#include <glm/vec2.hpp>

namespace reckoner::scenario {
namespace {

constexpr double kStrideS = 0.5;  // from one place to the next
constexpr double kReachM = 1.5;   // places are drawn so far from home along each axis
constexpr double kApartM = 12.0;  // the two of a pair
constexpr double kPairsApartM = 60.0;
constexpr double kJumpChance = 0.3;   // a stride is in the air
constexpr double kStandChance = 0.2;  // or leads nowhere

// Pairs of players who face each other, strafe from place to place at up to some 8 m/s, stand and jump. The
// horizontal path is the C1 cubic through drawn places; take-off and landing jump, as in games.
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
    return {{at.x, at.y, z}, heading_orientation(std::atan2(aim.y, aim.x))};
  }

 private:
  double chance(std::size_t index, std::int64_t stride, int what) const {
    return hash_uniform(seed(), index, stride, what);
  }

  // Not everybody steps at the same instant.
  Period stride_at(std::size_t index, double time_s) const {
    return period_at(time_s + kStrideS * hash_uniform(seed(), index), kStrideS);
  }

  glm::dvec2 home(std::size_t index) const {
    const std::size_t pair = index / 2;
    return {kApartM * (index % 2 == 0 ? -0.5 : 0.5), static_cast<double>(pair) * kPairsApartM};
  }

  glm::dvec2 place(std::size_t index, std::int64_t stride) const {
    // Who stands stays where the stride before led to.
    while (chance(index, stride, 2) < kStandChance)
      --stride;
    const glm::dvec2 drawn{chance(index, stride, 0) - 0.5, chance(index, stride, 1) - 0.5};
    return home(index) + 2.0 * kReachM * drawn;
  }

  glm::dvec2 ground(std::size_t index, double time_s) const {
    const auto [stride, since_s] = stride_at(index, time_s);
    const glm::dvec2 from = place(index, stride);
    const glm::dvec2 to = place(index, stride + 1);
    // As far on as from the place before to the place after, times the time: Catmull and Rom's tangents.
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
