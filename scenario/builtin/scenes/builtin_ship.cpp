// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/portable_math.hpp"
#include "reckoning/src/motion/rotation.hpp"
#include "scenario/builtin/builtin_source.hpp"
#include "scenario/builtin/random.hpp"
#include "scenario/builtin/walker.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::scenario {
namespace {

// The role of an entity in a group of kGroup entities. The first entity is the ship. All others live on it.
enum class Role : std::uint8_t { ship, turret, gunner, rests, walks, boards };
constexpr std::size_t kGroup = 16;
constexpr std::array<Role, kGroup> kRoles{Role::ship,   Role::turret, Role::gunner, Role::rests,
                                          Role::walks,  Role::boards, Role::boards, Role::rests,
                                          Role::walks,  Role::walks,  Role::rests,  Role::boards,
                                          Role::boards, Role::rests,  Role::walks,  Role::walks};

// The ship's course is a figure of eight. The ship is slow in the two turns and at the crossing, and fast
// between them.
constexpr double kPeriodS = 80.0;
constexpr double kLengthM = 60.0, kWidthM = 24.0;
constexpr double kBetweenShipsM = 400.0;
constexpr double kDeckM = 3.0;  // height of the deck above the ship's centre, m
constexpr double kHalfDeckM = 12.0;

// A boarding person takes kCrossS to cross between ship and shore. There is one crossing every kStageS, when
// the ship is slow. A stage is the time from the middle of one crossing to the middle of the next.
constexpr double kCrossS = 3.0;
constexpr double kStageS = 20.0;

double turned(double time_s, double period_s) {
  return 2.0 * std::numbers::pi * time_s / period_s;
}

// Rises from 0 to 1 with zero first and second derivatives at both ends.
double smoother_step(double u) {
  u = std::clamp(u, 0.0, 1.0);
  return u * u * u * (10.0 + u * (6.0 * u - 15.0));
}

glm::dquat about(const glm::dvec3& axis, double angle) {
  return {portable::cos(0.5 * angle), axis * portable::sin(0.5 * angle)};
}

/// Ships that turn, accelerate, roll and pitch. Each ship has a turret with a gunner, people who rest or walk
/// on deck, and people who board and leave. If `moves` is false, the ships stand still on firm ground and all
/// entities are in the world's frame. This is the scenario for comparison.
class Ship final : public BuiltinSource {
 public:
  Ship(std::size_t count, std::uint64_t seed, bool moves)
      : BuiltinSource("", count, seed), moves_(moves), counts_{} {
    walkers_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      constexpr std::array<const char*, 6> kNames{"ship",    "turret",  "gunner",
                                                  "resting", "walking", "boarding"};
      const auto role = static_cast<std::size_t>(role_of(i));
      mutable_entity(i).name = kNames[role] + std::to_string(++counts_[role]);
      Walker& walker = walkers_[i];
      walker = {.seed = seed, .number = i};
      walker.home = {kHalfDeckM * (2.0 * draw(i, 0) - 1.0), 0.3 * kHalfDeckM * (2.0 * draw(i, 1) - 1.0)};
      walker.leg_s = 1.5 + 1.5 * draw(i, 2);
      walker.phase_s = 1000.0 * draw(i, 3);
    }
  }

  Pose pose(std::size_t index, double time_s) const override {
    const auto frame = home_frame(index);
    if (role_of(index) == Role::ship) return ship(index, time_s);
    if (role_of(index) == Role::boards) return boarder(index, time_s);
    return out_of_frame(pose(*frame, time_s), on_deck(index, time_s));
  }

  bool has_frames() const override { return true; }

  std::optional<std::size_t> frame_of(std::size_t index, double time_s) const override {
    if (!moves_) return std::nullopt;
    if (role_of(index) != Role::boards) return home_frame(index);
    return aboard(index, time_s) ? std::optional{ship_of(index)} : std::nullopt;
  }

  bool changes_frame(std::size_t index) const override { return role_of(index) == Role::boards; }

  bool rests_in_frame(std::size_t index) const override {
    return role_of(index) == Role::gunner || role_of(index) == Role::rests;
  }

  // For an entity on deck, uses the exact pose in the ship's frame instead of converting it to the world's
  // frame and back.
  Pose pose_in(std::size_t index, std::optional<std::size_t> frame, double time_s) const override {
    const bool at_home = frame && frame == home_frame(index);
    if (at_home && role_of(index) != Role::boards) return on_deck(index, time_s);
    if (at_home && across(index, time_s) == 1.0) return on_deck(index, time_s);
    return BuiltinSource::pose_in(index, frame, time_s);
  }

 private:
  static Role role_of(std::size_t index) { return kRoles[index % kGroup]; }
  static std::size_t ship_of(std::size_t index) { return index - index % kGroup; }
  static std::optional<std::size_t> home_frame(std::size_t index) {
    if (role_of(index) == Role::ship) return std::nullopt;
    return role_of(index) == Role::gunner ? ship_of(index) + 1 : ship_of(index);
  }
  double draw(std::size_t index, int what) const { return hash_uniform(seed(), index, what); }

  Pose ship(std::size_t index, double time_s) const {
    const std::size_t group = index / kGroup;
    const glm::dvec3 home{kBetweenShipsM * (static_cast<double>(group) + 0.1 * draw(index, 8)),
                          0.1 * kBetweenShipsM * draw(index, 9), 0.0};
    if (!moves_) return {home, {1.0f, 0.0f, 0.0f, 0.0f}};
    // The phase on the course. It changes at 0.2 to 1.8 times its mean rate.
    const double t = time_s + kStageS * std::floor(4.0 * draw(index, 10));
    const double course_phase = turned(t, kPeriodS) - 0.2 * portable::sin(4.0 * turned(t, kPeriodS));
    const glm::dvec2 ahead{kLengthM * portable::cos(course_phase),
                           2.0 * kWidthM * portable::cos(2.0 * course_phase)};
    const double roll = 0.05 * portable::sin(turned(t, 7.3)) + 0.02 * portable::sin(turned(t, 4.1));
    const double pitch = 0.03 * portable::sin(turned(t, 5.9));
    const glm::dquat turn = about({0.0, 0.0, 1.0}, portable::atan2(ahead.y, ahead.x)) *
                            about({0.0, 1.0, 0.0}, pitch) * about({1.0, 0.0, 0.0}, roll);
    return {
        home + glm::dvec3{kLengthM * portable::sin(course_phase), kWidthM * portable::sin(2.0 * course_phase),
                          0.3 * portable::sin(turned(t, 6.7))},
        glm::quat{turn}};
  }

  // The pose in the frame that home_frame() returns.
  Pose on_deck(std::size_t index, double time_s) const {
    const Walker& walker = walkers_[index];
    const glm::quat looks = heading_orientation(turned(draw(index, 4), 1.0));
    switch (role_of(index)) {
      case Role::turret:
        return {{0.6 * kHalfDeckM, 0.0, kDeckM + 1.0},
                heading_orientation(1.2 * portable::sin(turned(time_s, 9.0)) +
                                    0.3 * portable::sin(turned(time_s, 3.7)))};
      case Role::gunner:
        return {{-1.5, 0.4, 0.5}, looks};
      case Role::walks: {
        Pose pose = walker.pose(time_s);
        pose.position.z += kDeckM;
        return pose;
      }
      case Role::boards: {
        // The person walks along the rail, from the place where they came aboard to the place where they will
        // leave.
        const std::int64_t stage = stage_at(index, time_s);
        const double since_s = time_s - crossing_s(index, stage);
        const double walked =
            aboard(index, time_s) ? smoother_step(since_s / (0.3 * kStageS) - 1.0) : after_half(since_s);
        const double x = glm::mix(at_rail(index, stage), at_rail(index, stage + 1), walked);
        return {{x, 0.3 * kHalfDeckM, kDeckM + 1.7}, looks};
      }
      default:
        return {{walker.home.x, walker.home.y, kDeckM + 1.7}, looks};
    }
  }

  static std::int64_t number(std::size_t index) { return static_cast<std::int64_t>(index); }
  // A random offset, so that people do not all cross at the same moment.
  double slack_s(std::size_t index) const { return 2.0 * draw(index, 5) - 1.0; }
  double at_rail(std::size_t index, std::int64_t stage) const {
    return kHalfDeckM * (1.6 * hash_uniform(seed(), index, stage, 6) - 0.8);
  }
  // crossing_s(): the time when `stage` begins, which is the middle of a crossing. stage_at(): the index of
  // the stage that contains `time_s`.
  double crossing_s(std::size_t index, std::int64_t stage) const {
    return static_cast<double>(stage) * kStageS + slack_s(index);
  }
  std::int64_t stage_at(std::size_t index, double time_s) const {
    return period_at(time_s - slack_s(index), kStageS).index;
  }
  bool aboard(std::size_t index, double time_s) const {
    return ((stage_at(index, time_s) + number(index)) & 1) == 0;
  }

  // How far the person has come aboard: 0 ashore, 1 aboard, and a value between them during a crossing.
  double across(std::size_t index, double time_s) const {
    const std::int64_t stage = stage_at(index, time_s);
    const double in = smoother_step((time_s - crossing_s(index, stage)) / kCrossS + 0.5);
    const double out = smoother_step((time_s - crossing_s(index, stage + 1)) / kCrossS + 0.5);
    // 0.5 at both ends of this stage (the middle of a crossing), 1 between the two crossings.
    const double there = in - out;
    return aboard(index, time_s) ? there : 1.0 - there;
  }

  static double after_half(double since_s) { return since_s > 0.5 * kStageS ? 1.0 : 0.0; }

  // The place ashore where the person waits before the crossing or stands after it. It is beside the place
  // where the ship's rail is in the middle of the crossing.
  Pose ashore(std::size_t index, std::int64_t stage) const {
    const double then_s = crossing_s(index, stage);
    const glm::dvec3 beside{at_rail(index, stage), 0.3 * kHalfDeckM + 1.0, kDeckM + 1.7};
    return out_of_frame(ship(ship_of(index), then_s), Pose{beside, on_deck(index, then_s).orientation});
  }

  Pose boarder(std::size_t index, double time_s) const {
    const Pose deck = out_of_frame(ship(ship_of(index), time_s), on_deck(index, time_s));
    const double share = across(index, time_s);
    if (share == 1.0) return deck;
    const std::int64_t stage = stage_at(index, time_s);
    const double since_s = time_s - crossing_s(index, stage);
    const double run = aboard(index, time_s) ? after_half(since_s)
                                             : smooth_step((since_s - 0.5 * kCrossS) / (kStageS - kCrossS));
    const Pose from = ashore(index, stage);
    const Pose to = ashore(index, stage + 1);
    const glm::quat looks = slerp(from.orientation, to.orientation, run);
    return {glm::mix(glm::mix(from.position, to.position, run), deck.position, share),
            glm::normalize(slerp(looks, deck.orientation, share))};
  }

  bool moves_;
  std::array<int, 6> counts_;
  std::vector<Walker> walkers_;
};

}  // namespace

std::unique_ptr<Source> make_ship(std::size_t count, std::uint64_t seed) {
  return std::make_unique<Ship>(count, seed, true);
}

std::unique_ptr<Source> make_ashore(std::size_t count, std::uint64_t seed) {
  return std::make_unique<Ship>(count, seed, false);
}

}  // namespace reckoner::scenario
