// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/portable_math.hpp"
#include "scenario/builtin/builtin_source.hpp"
#include "scenario/builtin/random.hpp"

#include <glm/geometric.hpp>
#include <glm/vec2.hpp>

namespace reckoner::scenario {
namespace {

constexpr double kHopS = 1.0;
constexpr double kGroundS = 0.3;           // time on the ground in each hop; the rest of the hop is flight
constexpr std::int64_t kHopsInStage = 10;  // hops between two teleports
constexpr double kStageSideM = 4.0;
constexpr double kWorldSideM = 200.0;

// A character that hops from point to point under gravity. On the ground, its horizontal velocity changes at
// a constant rate. Only the vertical velocity is discontinuous, at take-off and landing, as in games. The
// character teleports to another place every ten hops.
class Hop final : public BuiltinSource {
 public:
  Hop(std::size_t count, std::uint64_t seed) : BuiltinSource("hopper", count, seed) {}

  Pose pose(std::size_t index, double time_s) const override {
    const auto [hop, since_s] = period_at(shifted(index, time_s), kHopS);
    const std::int64_t stage = stage_of(hop);
    // Hop h is the flight between the ground phases around its start and its end. The polyline through the
    // points has its corners in the middle of the ground phases. Each corner is rounded during its ground
    // phase.
    const glm::dvec2 here = point(index, stage, hop);
    const glm::dvec2 velocity = (point(index, stage, hop + 1) - here) / kHopS;
    // Motion before a teleport does not affect the motion after it.
    const bool first = hop == stage * kHopsInStage;
    const bool last = hop + 1 == (stage + 1) * kHopsInStage;
    const glm::dvec2 before = first ? velocity : (here - point(index, stage, hop - 1)) / kHopS;
    const glm::dvec2 after =
        last ? velocity : (point(index, stage, hop + 2) - point(index, stage, hop + 1)) / kHopS;
    glm::dvec2 at = here + velocity * since_s;
    double heading = portable::atan2(velocity.y, velocity.x);
    constexpr double kHalfS = 0.5 * kGroundS;
    const double left_s = kHopS - since_s;
    if (since_s < kHalfS) round_corner(before, velocity, since_s, at, heading);
    if (left_s < kHalfS) round_corner(velocity, after, -left_s, at, heading);
    const double flown_s = since_s - kHalfS;
    const double landing_s = left_s - kHalfS;
    const double z = flown_s > 0.0 && landing_s > 0.0 ? 0.5 * kGravityMps2 * flown_s * landing_s : 0.0;
    return {{at.x, at.y, z}, heading_orientation(heading)};
  }

  bool teleports_within(std::size_t index, double from_s, double to_s) const override {
    // Rounds the times as pose() does, so that the jump and the declared teleport have equal times.
    return stage_of(period_at(shifted(index, from_s), kHopS).index) !=
           stage_of(period_at(shifted(index, to_s), kHopS).index);
  }

 private:
  double shifted(std::size_t index, double time_s) const {
    return time_s + static_cast<double>(kHopsInStage) * kHopS * hash_uniform(seed(), index);
  }

  static std::int64_t stage_of(std::int64_t hop) {
    return period_at(static_cast<double>(hop), static_cast<double>(kHopsInStage)).index;
  }

  glm::dvec2 point(std::size_t index, std::int64_t stage, std::int64_t hop) const {
    const auto centred = [this](auto... values) { return hash_uniform(seed(), values...) - 0.5; };
    const glm::dvec2 home{centred(index, stage, 0), centred(index, stage, 1)};
    const glm::dvec2 offset{centred(index, stage, hop, 2), centred(index, stage, hop, 3)};
    return home * kWorldSideM + offset * kStageSideM;
  }

  // Replaces a corner between two velocities by the parabola that is tangent to both sides. `away_s` is the
  // time since the corner; it is negative before the corner. Its absolute value is at most half the ground
  // time.
  static void round_corner(const glm::dvec2& before, const glm::dvec2& after, double away_s, glm::dvec2& at,
                           double& heading) {
    constexpr double kHalfS = 0.5 * kGroundS;
    const double inside_s = kHalfS - std::abs(away_s);
    at += (after - before) * (inside_s * inside_s / (4.0 * kHalfS));
    const double from = portable::atan2(before.y, before.x);
    const double to = portable::atan2(after.y, after.x);
    heading = from + wrapped_angle(to - from) * smooth_step(0.5 + 0.5 * away_s / kHalfS);
  }
};

}  // namespace

std::unique_ptr<Source> make_hop(std::size_t count, std::uint64_t seed) {
  return std::make_unique<Hop>(count, seed);
}

}  // namespace reckoner::scenario
