// SPDX-License-Identifier: MIT
#include "scenario/builtin/roamers.hpp"

#include "scenario/builtin/builtin_source.hpp"
#include "scenario/builtin/random.hpp"

#include <cmath>

namespace reckoner::scenario {
namespace {

constexpr double kShortestLegS = 2.0;
constexpr double kLongestLegS = 5.0;
constexpr double kLookAboutRad = 1.2;  // largest angle between the heading and the roamer's main direction

enum Draw : int { kHomeX, kHomeY, kLegLength, kPhase, kX, kY, kFacing, kLook };

}  // namespace

Roamers::Roamers(std::size_t count, std::uint64_t seed, std::size_t others)
    : seed_(seed), side_m_(std::sqrt(kAreaEachM2 * static_cast<double>(count + others))), legs_(count) {}

glm::dvec2 Roamers::home(std::size_t number) const {
  return side_m_ * glm::dvec2{hash_uniform(seed_, number, static_cast<int>(kHomeX)) - 0.5,
                              hash_uniform(seed_, number, static_cast<int>(kHomeY)) - 0.5};
}

double Roamers::leg_s(std::size_t number) const {
  return kShortestLegS +
         (kLongestLegS - kShortestLegS) * hash_uniform(seed_, number, static_cast<int>(kLegLength));
}

glm::dvec2 Roamers::place(std::size_t number, std::int64_t leg) const {
  return home(number) +
         kMaxOffsetM * glm::dvec2{2.0 * hash_uniform(seed_, number, static_cast<int>(kX), leg) - 1.0,
                                  2.0 * hash_uniform(seed_, number, static_cast<int>(kY), leg) - 1.0};
}

double Roamers::heading(std::size_t number, std::int64_t leg) const {
  const double facing = 2.0 * std::numbers::pi * hash_uniform(seed_, number, static_cast<int>(kFacing));
  return facing + kLookAboutRad * (2.0 * hash_uniform(seed_, number, static_cast<int>(kLook), leg) - 1.0);
}

// Starts a cubic leg. At each place, the velocity is parallel to the straight line from the previous place to
// the next one.
void Roamers::start_leg(std::size_t number, double time_s) {
  const double length_s = leg_s(number);
  const double phase_s = length_s * hash_uniform(seed_, number, static_cast<int>(kPhase));
  const std::int64_t index = period_at(time_s + phase_s, length_s).index;
  const glm::dvec2 before = place(number, index - 1), from = place(number, index);
  const glm::dvec2 to = place(number, index + 1), after = place(number, index + 2);
  const glm::dvec2 v0 = (to - before) / (2.0 * length_s);
  const glm::dvec2 v1 = (after - from) / (2.0 * length_s);
  const glm::dvec2 chord = (to - from) / length_s;

  Leg& leg = legs_[number];
  leg.begin_s = static_cast<double>(index) * length_s - phase_s;
  leg.end_s = leg.begin_s + length_s;
  leg.at = from;
  leg.rate = v0;
  leg.quadratic = (3.0 * chord - 2.0 * v0 - v1) / length_s;
  leg.sixth_third = (v0 + v1 - 2.0 * chord) / (length_s * length_s);
  leg.heading = heading(number, index);
  leg.turn = heading(number, index + 1) - leg.heading;
}

State Roamers::state(std::size_t number, double time_s) {
  Leg& leg = legs_[number];
  if (!(time_s >= leg.begin_s && time_s < leg.end_s)) start_leg(number, time_s);
  const double t = time_s - leg.begin_s;
  const glm::dvec2 at = leg.at + t * (leg.rate + t * (leg.quadratic + t * leg.sixth_third));
  const glm::dvec2 velocity = leg.rate + t * (2.0 * leg.quadratic + 3.0 * t * leg.sixth_third);
  const glm::dvec2 acceleration = 2.0 * leg.quadratic + 6.0 * t * leg.sixth_third;
  const double length_s = leg.end_s - leg.begin_s;
  const double u = t / length_s;

  State state;
  state.position = {at.x, at.y, 0.0};
  state.velocity = {static_cast<float>(velocity.x), static_cast<float>(velocity.y), 0.0f};
  state.acceleration = {static_cast<float>(acceleration.x), static_cast<float>(acceleration.y), 0.0f};
  state.orientation = heading_orientation(leg.heading + leg.turn * smooth_step(u));
  state.angular_velocity.z = static_cast<float>(leg.turn * 6.0 * u * (1.0 - u) / length_s);
  return state;
}

}  // namespace reckoner::scenario
