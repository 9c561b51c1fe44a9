// SPDX-License-Identifier: MIT
#include "server/src/world/route_follower.hpp"

#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

constexpr double kRejoinS = 0.1;
constexpr double kRejoinShare = 0.5;  // share of the thresholds

// The search covers this distance around the expected point, plus four times the displacement of a tick.
constexpr double kReachM = 0.5;

// A smaller displacement than this in one tick counts as rest, because the search is not exact to the last
// bit.
constexpr double kRestM = 1e-6;

// A constant speed explains the last quarter of a second if no distance differs from it by more than this
// share of the threshold. An acceleration that is too small to exceed this share moves the entity by at most
// a fifth of the threshold in one second.
constexpr double kSteadyRouteShare = 1.0 / 200.0;
constexpr std::size_t kFewestToJudge = 4;

// The acceleration is measured over twice this number of ticks. The number is small so that a speed ramp is
// noticed soon.
constexpr std::size_t kSpan = 3;
// An acceleration below this share of the threshold per s^2 is rounding noise.
constexpr double kMinAccelerationShare = 1.0;

}  // namespace

RouteFollower::RouteFollower(RouteId id, const Route& route, const Archetype& archetype, double tick_rate_hz)
    : id_(id),
      route_(&route),
      threshold_m_(archetype.threshold_m),
      threshold_rad_(archetype.threshold_rad),
      faces_along_(archetype.has_orientation),
      tick_s_(1.0 / tick_rate_hz) {}

void RouteFollower::forget() {
  filled_ = 0;
  ticks_near_ = 0;
  on_route_ = false;
}

void RouteFollower::observe(const State& truth) {
  exact_ = given_;
  given_.reset();
  if (exact_) {
    add_distance(filled_ == 0 ? exact_->distance : route_->unwrapped(exact_->distance, expected()));
    on_route_ = true;
    return;
  }
  const Route::Nearest found = find_nearest(truth);
  const double distance = unwrapped_distance(found.distance, truth);
  if (!is_near(found, distance, truth)) {
    forget();
    strayed_ = true;
    return;
  }
  if (filled_ == 0) first_speed_ = glm::dot(glm::dvec3{truth.velocity}, heading(distance));
  add_distance(distance);
  if (on_route_) return;
  ++ticks_near_;
  if (strayed_ && ticks_near_ * tick_s_ < kRejoinS) return;
  on_route_ = true;
  strayed_ = false;
}

Route::Nearest RouteFollower::find_nearest(const State& truth) const {
  if (filled_ == 0) return route_->nearest(truth.position);
  const double displacement_m = filled_ > 1 ? std::abs(past(0) - past(1)) : std::abs(first_speed_) * tick_s_;
  return route_->nearest(truth.position, expected(), kReachM + 4.0 * displacement_m);
}

// The direction of travel of an entity that moves forwards at `distance`.
glm::dvec3 RouteFollower::heading(double distance) const {
  return glm::dvec3{route_->state_at({distance, 1.0, 0.0}, 0.0).velocity};
}

// Converts a distance on the route to a distance that continues from the last distance. A ping-pong route
// passes every point twice, once in each direction. The expected distance decides between the two directions.
// At the start, the orientation or the velocity of the entity decides.
double RouteFollower::unwrapped_distance(double distance, const State& truth) const {
  if (route_->wrap() != RouteWrap::ping_pong)
    return filled_ == 0 ? distance : route_->unwrapped(distance, expected());
  const double back = route_->period() - distance;
  if (filled_ == 0) {
    const glm::dvec3 looks = faces_along_ ? glm::dvec3{truth.orientation * glm::vec3{1.0f, 0.0f, 0.0f}}
                                          : glm::dvec3{truth.velocity};
    return glm::dot(looks, heading(distance)) >= 0.0 ? distance : back;
  }
  const double there = route_->unwrapped(distance, expected());
  const double returning = route_->unwrapped(back, expected());
  return std::abs(there - expected()) <= std::abs(returning - expected()) ? there : returning;
}

bool RouteFollower::is_near(const Route::Nearest& found, double distance, const State& truth) const {
  const double share = strayed_ ? kRejoinShare : 1.0;
  if (!(found.distance_to_point <= share * threshold_m_)) return false;
  if (!faces_along_) return true;
  const State there = route_->state_at({distance, 0.0, 0.0}, 0.0);
  return angle_between(truth.orientation, there.orientation) <= share * threshold_rad_;
}

void RouteFollower::add_distance(double distance) {
  past_[next_] = distance;
  next_ = (next_ + 1) % kPast;
  filled_ = std::min(filled_ + 1, kPast);
}

std::optional<double> RouteFollower::steady_speed() const {
  if (filled_ < kFewestToJudge) return std::nullopt;
  const double per_tick = (past(0) - past(filled_ - 1)) / static_cast<double>(filled_ - 1);
  const double most_off = std::max(kSteadyRouteShare * threshold_m_, 2.0 * route_->arc().tolerance());
  for (std::size_t i = 1; i + 1 < filled_; ++i) {
    if (std::abs(past(0) - static_cast<double>(i) * per_tick - past(i)) > most_off) return std::nullopt;
  }
  return per_tick / tick_s_;
}

RouteState RouteFollower::route_state() const {
  if (exact_) return *exact_;
  const double now = past(0);
  if (filled_ == 1) return {now, first_speed_, 0.0};
  const double last = now - past(1);
  if (std::abs(last) < kRestM && (filled_ == 2 || std::abs(past(1) - past(2)) < kRestM))
    return {now, 0.0, 0.0};
  if (const auto speed = steady_speed()) return {now, *speed, 0.0};
  const std::size_t span = std::min(kSpan, (filled_ - 1) / 2);
  if (span == 0) return {now, last / tick_s_, 0.0};
  // A parabola through three distances that are `span` ticks apart.
  const double h = static_cast<double>(span) * tick_s_;
  const double acceleration = (now - 2.0 * past(span) + past(2 * span)) / (h * h);
  const double speed = (3.0 * now - 4.0 * past(span) + past(2 * span)) / (2.0 * h);
  if (std::abs(acceleration) < kMinAccelerationShare * threshold_m_) return {now, speed, 0.0};
  return {now, speed, acceleration};
}

Motion RouteFollower::motion(double time_s) const {
  Motion motion{State{}, time_s, 0, route_, route_state(), faces_along_};
  motion.state = state_along(motion, motion.along);
  return motion;
}

}  // namespace reckoner
