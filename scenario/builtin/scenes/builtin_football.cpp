// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/portable_math.hpp"
#include "scenario/builtin/builtin_source.hpp"
#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <glm/geometric.hpp>
#include <glm/vec2.hpp>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::scenario {
namespace {

// A pitch has kPitchEntities entities: the ball, a platform beside the pitch, and cars. If there are fewer
// entities, the last cars are there but not in the source.
constexpr std::size_t kPitchEntities = 8;
constexpr std::size_t kBall = 0, kPlatform = 1, kFirstCar = 2;
constexpr int kCars = 6;

constexpr double kHalfLengthM = 50.0, kHalfWidthM = 32.0;  // of the pitch; there are walls at its sides
constexpr double kBetweenPitchesM = 160.0;
constexpr double kBallRadiusM = 0.9;
constexpr double kCarHeightM = 0.5;  // of the middle of a car on the ground
constexpr double kCarHalfWidthM = 1.5;
constexpr double kContactM = 2.4;  // between the middles of the ball and of a car that hits it

// Every kEventS, a car hits the ball. A round ends with a goal and has kEventsInRound events. The first of
// them is the kick-off, to which everything teleports.
constexpr double kEventS = 2.0;
constexpr std::int64_t kEventsInRound = 12;
constexpr double kMaxKickMps = 45.0;
constexpr double kRestitution = 0.6;  // of the ball on the ground

// In each round, the first car drives onto the platform. It is aboard from event kAboard to event kAshore.
constexpr int kRider = 0;
constexpr std::int64_t kAboard = 5, kAshore = 9;

double turn_at(double time_s, double period_s) {
  return 2.0 * std::numbers::pi * time_s / period_s;
}

double angle_of(const glm::dvec3& direction) {
  return portable::atan2(direction.y, direction.x);
}

/// Cars that play football: they drive at 10 to 40 m/s, boost, brake, jump, hit the ball and each
/// other, bounce off the walls and ride on a moving platform. The ball flies, bounces and rolls. Hits,
/// bounces and jumps change velocities at once, as in games. The server alone knows the motion; nobody owns a
/// car.
///
/// Between two events, a car follows the cubic that has its places and velocities at these events. So the
/// motion is a pure function of time, without a simulation.
class Football final : public BuiltinSource {
 public:
  Football(std::size_t count, std::uint64_t seed) : BuiltinSource("", count, seed) {
    std::array<int, 3> counts{};
    for (std::size_t i = 0; i < count; ++i) {
      constexpr std::array<const char*, 3> kNames{"ball", "platform", "car"};
      const std::size_t kind = std::min(i % kPitchEntities, kFirstCar);
      mutable_entity(i).name = kNames[kind] + std::to_string(++counts[kind]);
      mutable_entity(i).has_orientation = kind != kBall;
    }
  }

  Pose pose(std::size_t index, double time_s) const override {
    const Pitch pitch = pitch_of(index);
    const double t = local_time(pitch, time_s);
    if (index % kPitchEntities == kBall) return in_world(pitch, ball_pose(pitch, t));
    if (index % kPitchEntities == kPlatform) return in_world(pitch, platform_pose(pitch, t));
    return in_world(pitch, car_pose(pitch, car_of(index), t));
  }

  bool teleports_within(std::size_t index, double from_s, double to_s) const override {
    if (index % kPitchEntities == kPlatform) return false;
    const Pitch pitch = pitch_of(index);
    // Rounds the times as pose() does, so that the jump and the declared teleport have equal times.
    return round_of(event_at(local_time(pitch, from_s)).index) !=
           round_of(event_at(local_time(pitch, to_s)).index);
  }

  bool has_frames() const override { return true; }

  std::optional<std::size_t> frame_of(std::size_t index, double time_s) const override {
    if (!changes_frame(index)) return std::nullopt;
    const Period leg = event_at(local_time(pitch_of(index), time_s));
    return is_aboard(leg.index) ? std::optional{index - index % kPitchEntities + kPlatform} : std::nullopt;
  }

  bool changes_frame(std::size_t index) const override {
    return index % kPitchEntities == kFirstCar + static_cast<std::size_t>(kRider);
  }

  // For a car on the platform, uses the exact pose there instead of converting it to the world and back.
  Pose pose_in(std::size_t index, std::optional<std::size_t> frame, double time_s) const override {
    if (!frame || frame != frame_of(index, time_s)) return BuiltinSource::pose_in(index, frame, time_s);
    const Pitch pitch = pitch_of(index);
    return pose_aboard(pitch, event_at(local_time(pitch, time_s)));
  }

 private:
  using Pitch = std::int64_t;
  enum class Draw : int { time, hitter, contact, goal, wall, bounces, challenge, place, side, jump, ride };
  enum class End : std::uint8_t {
    before,
    after
  };  // of an event: before or after the teleport to the kick-off

  static Pitch pitch_of(std::size_t index) { return static_cast<Pitch>(index / kPitchEntities); }
  static int car_of(std::size_t index) { return static_cast<int>(index % kPitchEntities - kFirstCar); }
  template <class... Values>
  double draw(Pitch pitch, Draw what, Values... values) const {
    return hash_uniform(seed(), pitch, static_cast<int>(what), values...);
  }
  template <class... Values>
  double centred(Pitch pitch, Draw what, Values... values) const {
    return 2.0 * draw(pitch, what, values...) - 1.0;
  }

  // Not all pitches have their kick-offs at one time.
  double local_time(Pitch pitch, double time_s) const {
    return time_s + kEventS * static_cast<double>(kEventsInRound) * draw(pitch, Draw::time);
  }
  static Pose in_world(Pitch pitch, Pose pose) {
    pose.position.y += kBetweenPitchesM * static_cast<double>(pitch);
    return pose;
  }

  static Period event_at(double t) { return period_at(t, kEventS); }
  static std::int64_t round_of(std::int64_t event) {
    return period_at(static_cast<double>(event), static_cast<double>(kEventsInRound)).index;
  }
  static std::int64_t in_round(std::int64_t event) { return event - kEventsInRound * round_of(event); }
  static bool is_kick_off(std::int64_t event) { return in_round(event) == 0; }
  // True if the rider is on the platform during the leg from this event to the next one.
  static bool is_aboard(std::int64_t event) {
    return in_round(event) >= kAboard && in_round(event) < kAshore;
  }
  // True if the rider's place at this event is on the platform, or beside it.
  static bool is_near_platform(std::int64_t event) {
    return in_round(event) >= kAboard - 1 && in_round(event) <= kAshore + 1;
  }

  // The car that hits the ball at an event.
  int hitter(Pitch pitch, std::int64_t event) const {
    const auto drawn = static_cast<int>(draw(pitch, Draw::hitter, event) * kCars);
    return drawn == kRider && is_near_platform(event) ? kRider + 1 : drawn;
  }
  // The car that meets the hitter at the ball; none if it is not below kCars.
  int challenger(Pitch pitch, std::int64_t event) const {
    const int other = hitter(pitch, event) ^ 1;
    const bool away = other == kRider && is_near_platform(event);
    return !away && draw(pitch, Draw::challenge, event) < 0.35 ? other : kCars;
  }

  // A place in the part of the pitch where a car plays. Two cars play in each part.
  glm::dvec3 in_zone(Pitch pitch, int car, Draw what, std::int64_t event) const {
    const int part = car / 2 - 1;
    const double middle = 26.0 * part;
    return {middle + 10.0 * centred(pitch, what, car, event, 0), 12.0 * centred(pitch, what, car, event, 1),
            kCarHeightM};
  }

  // Where the ball is at an event, on the ground.
  glm::dvec2 ball_place(Pitch pitch, std::int64_t event, End end) const {
    if (is_kick_off(event) && end == End::before) {
      const double side = draw(pitch, Draw::goal, event, 0) < 0.5 ? -1.0 : 1.0;
      return {side * (kHalfLengthM - kBallRadiusM), 6.0 * centred(pitch, Draw::goal, event, 1)};
    }
    if (in_round(event) <= 1) return {0.0, 0.0};  // it rests until the first car has reached it
    return glm::dvec2(in_zone(pitch, hitter(pitch, event), Draw::contact, event));
  }

  // How the ball leaves an event.
  struct Kick {
    glm::dvec2 velocity{0.0};
    double wall_m = 0.0;  // y of the wall that the ball bounces off; 0: none
  };
  Kick kick(Pitch pitch, std::int64_t event) const {
    if (is_kick_off(event)) return {};
    const glm::dvec2 from = ball_place(pitch, event, End::after);
    const glm::dvec2 to = ball_place(pitch, event + 1, End::before);
    const double drawn = draw(pitch, Draw::wall, event);
    if (drawn < 0.4) {
      // The straight line to the mirror image of the target.
      const double wall_m = (drawn < 0.2 ? -1.0 : 1.0) * (kHalfWidthM - kBallRadiusM);
      const glm::dvec2 velocity = (glm::dvec2{to.x, 2.0 * wall_m - to.y} - from) / kEventS;
      if (glm::length(velocity) < kMaxKickMps) return {velocity, wall_m};
    }
    return {(to - from) / kEventS};
  }

  Pose ball_pose(Pitch pitch, double t) const {
    const auto [event, since_s] = event_at(t);
    const Kick kicked = kick(pitch, event);
    glm::dvec2 at = ball_place(pitch, event, End::after) + kicked.velocity * since_s;
    const bool is_back = kicked.wall_m > 0.0 ? at.y > kicked.wall_m : at.y < kicked.wall_m;
    if (kicked.wall_m != 0.0 && is_back) at.y = 2.0 * kicked.wall_m - at.y;
    return {{at.x, at.y, kBallRadiusM + ball_height(pitch, event, since_s)}, {1.0f, 0.0f, 0.0f, 0.0f}};
  }

  // The ball rolls, or bounces up to three times. Each flight is shorter than the one before by the
  // restitution.
  double ball_height(Pitch pitch, std::int64_t event, double since_s) const {
    const auto flights = static_cast<int>(4.0 * draw(pitch, Draw::bounces, event));
    if (is_kick_off(event) || flights == 0) return 0.0;
    double sum = 0.0;
    for (double share = 1.0, i = 0.0; i < flights; share *= kRestitution, i += 1.0)
      sum += share;
    double flight_s = kEventS / sum;
    for (int i = 1; i < flights && since_s > flight_s; ++i) {
      since_s -= flight_s;
      flight_s *= kRestitution;
    }
    return std::max(0.0, 0.5 * kGravityMps2 * since_s * (flight_s - since_s));
  }

  // The platform moves to and fro beside the pitch, up and down, and turns.
  Pose platform_pose(Pitch pitch, double t) const {
    t += 100.0 * draw(pitch, Draw::time, 1);
    return {{-26.0 + 12.0 * portable::sin(turn_at(t, 11.0)), kHalfWidthM + 12.0,
             1.2 + 0.8 * portable::sin(turn_at(t, 7.3))},
            heading_orientation(platform_heading(t))};
  }
  static double platform_heading(double t) { return 0.35 * portable::sin(turn_at(t, 9.1)); }

  // On the platform, in its frame: the rider drives from one place to the next.
  glm::dvec3 ride_place(Pitch pitch, std::int64_t event) const {
    return {4.0 * centred(pitch, Draw::ride, event, 0), 4.0 * centred(pitch, Draw::ride, event, 1),
            kCarHeightM};
  }
  double ride_heading(Pitch pitch, std::int64_t event) const {
    const double t = kEventS * static_cast<double>(event) + 100.0 * draw(pitch, Draw::time, 1);
    if (in_round(event) == kAboard || in_round(event) == kAshore)
      return heading(pitch, kRider, event, End::before) - platform_heading(t);
    return std::numbers::pi * centred(pitch, Draw::ride, event, 2);
  }
  Pose pose_aboard(Pitch pitch, const Period& leg) const {
    const double share = smooth_step(leg.since_s / kEventS);
    const double from = ride_heading(pitch, leg.index), to = ride_heading(pitch, leg.index + 1);
    return {glm::mix(ride_place(pitch, leg.index), ride_place(pitch, leg.index + 1), share),
            heading_orientation(from + wrapped_angle(to - from) * share)};
  }
  // Where a place of the platform is.
  glm::dvec3 carried(Pitch pitch, const glm::dvec3& place, double t) const {
    return out_of_frame(platform_pose(pitch, t), Pose{place, {1.0f, 0.0f, 0.0f, 0.0f}}).position;
  }

  bool rides(int car, std::int64_t event) const {
    return car == kRider && in_round(event) >= kAboard && in_round(event) <= kAshore;
  }
  // True if the car bounces off a wall at the event.
  bool bumps(Pitch pitch, int car, std::int64_t event) const {
    const bool is_busy = is_kick_off(event) || hitter(pitch, event) == car ||
                         challenger(pitch, event) == car || (car == kRider && is_near_platform(event));
    return !is_busy && draw(pitch, Draw::side, car, event) < 0.15;
  }

  glm::dvec3 place(Pitch pitch, int car, std::int64_t event, End end) const {
    if (is_kick_off(event) && end == End::after) {
      const double team = car % 2 == 0 ? -1.0 : 1.0;
      const int row = car / 2;
      return {team * (14.0 + 10.0 * row), 12.0 * (row - 1) + centred(pitch, Draw::place, car, event, 2),
              kCarHeightM};
    }
    if (rides(car, event))
      return carried(pitch, ride_place(pitch, event), kEventS * static_cast<double>(event));
    if (!is_kick_off(event) && (hitter(pitch, event) == car || challenger(pitch, event) == car)) {
      const glm::dvec2 direction = glm::normalize(kick(pitch, event).velocity + glm::dvec2{1e-6, 0.0});
      const double side = hitter(pitch, event) == car ? -1.0 : 1.0;
      return {ball_place(pitch, event, End::after) + side * kContactM * direction, kCarHeightM};
    }
    glm::dvec3 drawn = in_zone(pitch, car, Draw::place, event);
    if (bumps(pitch, car, event)) drawn.y = (drawn.y < 0.0 ? -1.0 : 1.0) * (kHalfWidthM - kCarHalfWidthM);
    if (car == kRider && is_near_platform(event)) drawn.y = 22.0;  // beside the platform
    return drawn;
  }

  // The mean velocity from an event to the next one.
  glm::dvec3 mean_velocity(Pitch pitch, int car, std::int64_t event) const {
    return (place(pitch, car, event + 1, End::before) - place(pitch, car, event, End::after)) / kEventS;
  }

  // The velocity just before an event.
  glm::dvec3 velocity_before(Pitch pitch, int car, std::int64_t event) const {
    if (rides(car, event)) {
      const glm::dvec3 there = ride_place(pitch, event);
      const double t = kEventS * static_cast<double>(event);
      constexpr double kStepS = 1e-3;
      return (carried(pitch, there, t + kStepS) - carried(pitch, there, t - kStepS)) / (2.0 * kStepS);
    }
    const glm::dvec3 mean = mean_velocity(pitch, car, event - 1);
    if (is_kick_off(event) || bumps(pitch, car, event)) return mean;
    if (hitter(pitch, event) == car) return 1.2 * mean;  // with boost
    if (challenger(pitch, event) == car) return 1.2 * mean;
    return 0.5 * (mean + mean_velocity(pitch, car, event));
  }
  // The velocity just after an event.
  glm::dvec3 velocity_after(Pitch pitch, int car, std::int64_t event) const {
    if (is_kick_off(event)) return {0.0, 0.0, 0.0};
    const glm::dvec3 before = velocity_before(pitch, car, event);
    if (rides(car, event)) return before;
    if (hitter(pitch, event) == car) return 0.5 * before;
    if (challenger(pitch, event) == car) return -0.25 * before;
    if (bumps(pitch, car, event)) return {before.x, -0.4 * before.y, 0.0};
    return before;
  }

  double heading(Pitch pitch, int car, std::int64_t event, End end) const {
    if (is_kick_off(event) && end == End::after) return car % 2 == 0 ? 0.0 : std::numbers::pi;
    if (rides(car, event))  // as it came, or as it will leave
      return angle_of(mean_velocity(pitch, car, in_round(event) == kAboard ? event - 1 : event));
    return angle_of(velocity_before(pitch, car, event));
  }

  Pose car_pose(Pitch pitch, int car, double t) const {
    const Period leg = event_at(t);
    if (car == kRider && is_aboard(leg.index))
      return out_of_frame(platform_pose(pitch, t), pose_aboard(pitch, leg));
    // The cubic with these ends (Hermite).
    const glm::dvec3 from = place(pitch, car, leg.index, End::after);
    const glm::dvec3 to = place(pitch, car, leg.index + 1, End::before);
    const glm::dvec3 out = velocity_after(pitch, car, leg.index) * kEventS;
    const glm::dvec3 in = velocity_before(pitch, car, leg.index + 1) * kEventS;
    const double u = leg.since_s / kEventS, left = 1.0 - u;
    glm::dvec3 at = from + (to - from) * (u * u * (3.0 - 2.0 * u)) + (out * left - in * u) * (u * left);
    if (car != kRider || !is_near_platform(leg.index)) {  // the platform is behind a gate in the wall
      at.x = std::clamp(at.x, -(kHalfLengthM - kCarHalfWidthM), kHalfLengthM - kCarHalfWidthM);
      at.y = std::clamp(at.y, -(kHalfWidthM - kCarHalfWidthM), kHalfWidthM - kCarHalfWidthM);
    }
    at.z = std::max(at.z, kCarHeightM) + jump(pitch, car, leg);
    const double start = heading(pitch, car, leg.index, End::after);
    const double turn = wrapped_angle(heading(pitch, car, leg.index + 1, End::before) - start);
    return {at, heading_orientation(start + turn * smooth_step(u))};
  }

  double jump(Pitch pitch, int car, const Period& leg) const {
    constexpr double kFlightS = 1.2;
    const bool stays_down = car == kRider && is_near_platform(leg.index);
    if (stays_down || leg.since_s > kFlightS || draw(pitch, Draw::jump, car, leg.index) > 0.2) return 0.0;
    return 0.5 * kGravityMps2 * leg.since_s * (kFlightS - leg.since_s);
  }
};

}  // namespace

std::unique_ptr<Source> make_football(std::size_t count, std::uint64_t seed) {
  return std::make_unique<Football>(count, seed);
}

}  // namespace reckoner::scenario
