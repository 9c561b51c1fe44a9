// SPDX-License-Identifier: MIT
#include "reckoning/src/blend/interpolate.hpp"

#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <numbers>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

// A time between two motions: the time from the first motion to the second, s, and the share u of it that has
// passed, 0 to 1.
struct Between {
  double duration_s;
  double u;
};

Between place(const Motion& from, const Motion& to, double time_s) {
  const double duration_s = to.time_s - from.time_s;
  return {duration_s, (time_s - from.time_s) / duration_s};
}

bool is_quiet(const Motion& from, double duration_s) {
  return duration_s > static_cast<double>(from.transition.quiet.gap_s);
}

// True if `to` is sudden and follows `from` directly. Senders do not send sudden motions after a quiet gap,
// so motions in between were lost then.
bool starts_suddenly(const Motion& from, const Motion& to) {
  return to.transition.sudden && !is_quiet(from, to.time_s - from.time_s);
}

// The rate at the start of the quadratic curve that leads to `whole` and ends with `end_rate`, in
// `duration_s`.
glm::dvec3 quadratic_start(const glm::dvec3& whole, const glm::dvec3& end_rate, double duration_s) {
  return 2.0 / duration_s * whole - end_rate;
}

CubicPiece<glm::dvec3> path(const Motion& from, const Motion& to, double duration_s) {
  return hermite_piece(from.state.position, to.state.position, start_velocity(from, to) * duration_s,
                       glm::dvec3{to.state.velocity} * duration_s);
}

// At u = 1 the second derivative of u^2 (1 - u)^2 is 2. So b is half of the difference between the wanted
// second derivative and the second derivative of the cubic.
glm::dvec3 bend(const CubicPiece<glm::dvec3>& cubic, const Motion& from, const Motion& to,
                double duration_s) {
  if (!bends(from, to)) return glm::dvec3{0.0};
  return 0.5 * (glm::dvec3{to.state.acceleration} * (duration_s * duration_s) - cubic.second_derivative(1.0));
}

// True if the extrapolation was valid until shortly before a sudden change. At the end of a quiet gap it is
// off by `off`, and its rate by `rate_off`; the sender promised an error of at most `promised`. False if
// motions in between were lost.
bool was_valid(double off, double rate_off, double promised) {
  // The sender notices a change and sends its motion within this time. Meanwhile the error grows.
  constexpr double kNoticedS = 0.05;
  return off <= 2.0 * promised + rate_off * kNoticedS;
}

// True if the entity turned on with about the angular velocity of `from`, and perhaps by more than half a
// turn.
bool spins_on(const Motion& from, const Motion& to, double duration_s) {
  // For less rotation than this, the shortest rotation between the motions is the right one.
  constexpr double kShortestRad = 0.75 * std::numbers::pi;
  const glm::dvec3 before{from.state.angular_velocity};
  const glm::dvec3 after{to.state.angular_velocity};
  if (!is_quiet(from, duration_s)) {
    return 0.5 * duration_s * glm::length(before + after) > kShortestRad && glm::dot(before, after) > 0.0;
  }
  if (!(duration_s * glm::length(before) > kShortestRad)) return false;
  const glm::dquat spun = rotation_exp(before * duration_s) * glm::dquat{from.state.orientation};
  return was_valid(angle_between(glm::quat{spun}, to.state.orientation), glm::distance(before, after),
                   static_cast<double>(from.transition.quiet.error_rad));
}

// Sets the orientation and the angular velocity of `out`. The orientation is spin(t) exp(r(t)) start: the
// entity spins steadily with the angular velocity of `from`, or not at all, and r follows a Hermite cubic. At
// the end, r is the shortest rotation vector that leads to the orientation of `to`.
void turn(const Motion& from, const Motion& to, const Between& at, State& out) {
  const glm::dvec3 before{from.state.angular_velocity};
  const glm::dvec3 after{to.state.angular_velocity};
  const glm::dquat start{from.state.orientation};
  const glm::dquat end{to.state.orientation};
  const glm::dquat none = glm::identity<glm::dquat>();
  const bool spins = !starts_suddenly(from, to) && spins_on(from, to, at.duration_s);
  const glm::dquat spin_end = spins ? rotation_exp(before * at.duration_s) : none;
  const glm::dquat spin_now = spins ? rotation_exp(before * (at.u * at.duration_s)) : none;
  const glm::dvec3 spin_rate = spins ? before : glm::dvec3{0.0};

  const glm::dquat unspin_end = glm::conjugate(spin_end);
  const glm::dvec3 whole = rotation_log(glm::normalize(unspin_end * end * glm::conjugate(start)));
  const glm::dvec3 end_rate = angular_velocity_to_rotation_rate(whole, unspin_end * (after - spin_rate));
  const glm::dvec3 start_rate =
      starts_suddenly(from, to) ? quadratic_start(whole, end_rate, at.duration_s) : before - spin_rate;
  const CubicPiece<glm::dvec3> turns =
      hermite_piece(glm::dvec3{0.0}, whole, start_rate * at.duration_s, end_rate * at.duration_s);
  const glm::dvec3 r = turns.position(at.u);
  out.orientation = glm::quat{glm::normalize(spin_now * rotation_exp(r) * start)};
  out.angular_velocity = glm::vec3{
      spin_rate + spin_now * rotation_rate_to_angular_velocity(r, turns.derivative(at.u) / at.duration_s)};
}

}  // namespace

glm::dvec3 start_velocity(const Motion& from, const Motion& to) {
  if (!starts_suddenly(from, to)) return glm::dvec3{from.state.velocity};
  return quadratic_start(to.state.position - from.state.position, glm::dvec3{to.state.velocity},
                         to.time_s - from.time_s);
}

Motion curve_end(const Motion& from, const Motion& to) {
  Motion end = to;
  end.transition.sudden = starts_suddenly(from, to);
  return end;
}

CurveStarts curve_starts(const Motion& from, const Motion& to) {
  // Over a shorter time, rounding errors of position and velocity would decide.
  constexpr double kShortestS = 1.0 / 30.0;
  // A change within a larger share of the gap is not sudden, and the whole curve is better: with constant
  // jerk the formula gives two thirds, although the motion changed all the time.
  constexpr double kSudden = 0.35;
  const double gap_s = to.time_s - from.time_s;
  if (!is_quiet(from, gap_s) || bends(from, to) || starts_suddenly(from, to))
    return {from.time_s, from.time_s};
  const State expected = state_at(from, to.time_s);
  const auto start = [&](double off, double rate_off, double promised) {
    const double span_s = std::max(kShortestS, 2.0 * off / rate_off);  // not finite without a change of rate
    return was_valid(off, rate_off, promised) && span_s < kSudden * gap_s ? to.time_s - span_s : from.time_s;
  };
  return {start(glm::distance(expected.position, to.state.position),
                glm::distance(glm::dvec3{expected.velocity}, glm::dvec3{to.state.velocity}),
                static_cast<double>(from.transition.quiet.error_m)),
          start(angle_between(expected.orientation, to.state.orientation),
                glm::distance(glm::dvec3{expected.angular_velocity}, glm::dvec3{to.state.angular_velocity}),
                static_cast<double>(from.transition.quiet.error_rad))};
}

bool was_valid_until(const Motion& from, const Motion& to) {
  if (from.route != nullptr || to.route != nullptr || from.frame != to.frame ||
      from.teleports != to.teleports)
    return true;
  const State expected = state_at(from, to.time_s);
  return was_valid(glm::distance(expected.position, to.state.position),
                   glm::distance(glm::dvec3{expected.velocity}, glm::dvec3{to.state.velocity}),
                   static_cast<double>(from.transition.quiet.error_m));
}

State interpolate_gap(const Motion& from, const Motion& to, double time_s) {
  const CurveStarts starts = curve_starts(from, to);
  if (starts.position_s == from.time_s && starts.orientation_s == from.time_s)
    return interpolate(from, to, time_s);
  // The state whose curve begins at `start_s`.
  const auto since = [&](double start_s) {
    if (time_s < start_s || start_s >= to.time_s) return state_at(from, time_s);
    Motion start = from;
    start.state = state_at(from, start_s);
    start.time_s = start_s;
    return interpolate(start, curve_end(from, to), time_s);
  };
  State out = since(starts.position_s);
  const State turned = since(starts.orientation_s);
  out.orientation = turned.orientation;
  out.angular_velocity = turned.angular_velocity;
  return out;
}

State interpolate(const Motion& from, const Motion& to, double time_s) {
  const Between at = place(from, to, time_s);
  const CubicPiece<glm::dvec3> positions = path(from, to, at.duration_s);
  State out;
  const glm::dvec3 b = bend(positions, from, to, at.duration_s);
  out.position = positions.position(at.u) + b * bend_share(at.u);
  const double slope = 2.0 * at.u * (1.0 - at.u) * (1.0 - 2.0 * at.u);  // derivative of bend_share()
  out.velocity = glm::vec3{(positions.derivative(at.u) + b * slope) / at.duration_s};
  turn(from, to, at, out);
  return out;
}

glm::dvec3 interpolate_position(const Motion& from, const Motion& to, double time_s) {
  const Between at = place(from, to, time_s);
  const CubicPiece<glm::dvec3> positions = path(from, to, at.duration_s);
  return positions.position(at.u) + bend(positions, from, to, at.duration_s) * bend_share(at.u);
}

glm::dvec3 bending_acceleration(const Motion& from, const Motion& to, const glm::dvec3& b) {
  const double duration_s = to.time_s - from.time_s;
  const glm::dvec3 cubic = path(from, to, duration_s).second_derivative(1.0);
  return (cubic + 2.0 * b) / (duration_s * duration_s);
}

}  // namespace reckoner
