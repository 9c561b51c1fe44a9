// SPDX-License-Identifier: MIT
#include "reckoning/src/prediction/gap_fit.hpp"

#include "reckoning/src/blend/interpolate.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <glm/geometric.hpp>
#include <glm/mat3x3.hpp>
#include <glm/matrix.hpp>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

// One candidate other than the game's own state: the degree of its polynomial, the duration of the fit, and
// whether the polynomial also replaces the position. Short fits follow turns, long fits average noise. On the
// recorded traces, more candidates bring no gain.
struct Window {
  int degree;
  double seconds;
  bool smooths_position;
};
constexpr std::array<Window, 4> kWindows{
    {{2, 3.0 / 60, false}, {2, 4.0 / 60, false}, {1, 3.0 / 60, true}, {2, 8.0 / 60, true}}};

constexpr double kMaxWindowTicks = 12.0;  // longest window, ticks; most of the history remains for the gap
constexpr double kMemoryGaps = 40.0;      // number of publishes over which candidates are compared

// A gap that is shorter than this, s, has no bend. For short gaps a cubic is as good, and an acceleration for
// extrapolation is more useful.
constexpr double kShortestBentGapS = 0.06;

// The candidates are compared over gaps of at least this number of ticks.
constexpr std::size_t kShortestLearnedTicks = 2;

using PolynomialWeights = std::array<double, 3>;

double polynomial_weight(const PolynomialWeights& w, std::size_t ticks_ago) {
  const auto j = static_cast<double>(ticks_ago);
  return w[0] + j * (w[1] + j * w[2]);
}

template <class Errors>
std::size_t best_of(const Errors& errors) {
  return static_cast<std::size_t>(std::min_element(errors.begin(), errors.end()) - errors.begin());
}

}  // namespace

GapFit::GapFit(double tick_rate_hz) : tick_rate_hz_(tick_rate_hz) {
  static_assert(kWindows.size() + 1 == kCandidates);
  for (std::size_t i = 0; i < kWindows.size(); ++i)
    candidates_[i + 1] = make_candidate(i, tick_rate_hz);
}

// Least squares on evenly spaced points, evaluated at the last point (A. Savitzky and M. Golay 1964).
GapFit::Candidate GapFit::make_candidate(std::size_t index, double tick_rate_hz) {
  const Window& window = kWindows[index];
  const double ticks =
      std::clamp(std::round(window.seconds * tick_rate_hz), double(window.degree), kMaxWindowTicks);
  std::array<double, 5> sums{};  // sums of the powers of the time x = -j, in ticks
  for (double j = 0.0; j <= ticks; ++j) {
    double power = 1.0;
    for (double& sum : sums) {
      sum += power;
      power *= -j;
    }
  }
  glm::dmat3 normal{sums[0], sums[1], sums[2], sums[1], sums[2], sums[3], sums[2], sums[3], sums[4]};
  if (window.degree == 1) normal[0][2] = normal[1][2] = normal[2][0] = normal[2][1] = 0.0;
  const glm::dmat3 inverse = glm::inverse(normal);
  const double curve = window.degree == 1 ? 0.0 : 1.0;
  Candidate c;
  c.ticks = static_cast<std::size_t>(ticks);
  c.smooths_position = window.smooths_position;
  c.value = {inverse[0][0], -inverse[1][0], curve * inverse[2][0]};
  c.derivative = {inverse[0][1] * tick_rate_hz, -inverse[1][1] * tick_rate_hz,
                  curve * inverse[2][1] * tick_rate_hz};
  return c;
}

void GapFit::observe(const State& truth) {
  past_[next_] = {truth.pose(), truth.velocity, truth.angular_velocity};
  next_ = (next_ + 1) % kPast;
  filled_ = std::min(filled_ + 1, kPast);
}

std::size_t GapFit::ticks_in(double gap_s) const {
  return static_cast<std::size_t>(std::max(0.0, std::round(gap_s * tick_rate_hz_)));
}

// The state that the candidate gives for `ticks_ago` ticks ago. While too little history is known, this is
// the game's own state.
GapFit::End GapFit::end(std::size_t candidate, std::size_t ticks_ago) const {
  const Candidate& c = candidates_[candidate];
  const Past& then = past(ticks_ago);
  if (c.ticks == 0 || ticks_ago + c.ticks >= filled_) return {then.pose.position, then.velocity};
  End end{then.pose.position, glm::dvec3{0.0}};
  for (std::size_t j = 1; j <= c.ticks; ++j) {
    const glm::dvec3 step = past(ticks_ago + j).pose.position - then.pose.position;
    if (c.smooths_position) end.position += step * polynomial_weight(c.value, j);
    end.velocity += step * polynomial_weight(c.derivative, j);
  }
  return end;
}

State GapFit::smoothed(const State& truth) const {
  State state = truth;
  if (filled_ == 0) return state;
  if (truth.velocity != glm::vec3{0.0f}) {
    const End best = end(best_, 0);
    state.position = best.position;
    state.velocity = glm::vec3{best.velocity};
  }
  const std::size_t ticks = candidates_[best_turn_].ticks;
  if (ticks == 0 || ticks >= filled_ || truth.angular_velocity == glm::vec3{0.0f}) return state;
  if (turns_too_far(ticks)) return state;
  const TurnEnd best = turn_end(turns(ticks + 1), best_turn_, 0);
  state.orientation = glm::quat{glm::normalize(rotation_exp(best.turn) * glm::dquat{truth.orientation})};
  state.angular_velocity = glm::vec3{rotation_rate_to_angular_velocity(best.turn, best.rate)};
  return state;
}

// True if the entity turns nearly half a revolution in `ticks`. Then a rotation vector no longer shows the
// direction of the rotation.
bool GapFit::turns_too_far(std::size_t ticks) const {
  constexpr double kMaxRad = 0.9 * std::numbers::pi;
  const double rate = glm::length(glm::dvec3{past(0).angular_velocity});
  return !(rate * static_cast<double>(ticks) < kMaxRad * tick_rate_hz_);
}

// The orientations of the last `count` ticks, relative to the newest orientation.
GapFit::Turns GapFit::turns(std::size_t count) const {
  Turns turns{};
  const glm::dquat back = glm::conjugate(glm::dquat{past(0).pose.orientation});
  for (std::size_t j = 1; j < count; ++j)
    turns[j] = rotation_log(glm::normalize(glm::dquat{past(j).pose.orientation} * back));
  return turns;
}

// Like end(), for orientations. The polynomial uses rotation vectors, which add up over such a short time.
GapFit::TurnEnd GapFit::turn_end(const Turns& turns, std::size_t candidate, std::size_t ticks_ago) const {
  const Candidate& c = candidates_[candidate];
  TurnEnd end{turns[ticks_ago]};
  if (c.ticks == 0 || ticks_ago + c.ticks >= filled_) {
    end.rate =
        angular_velocity_to_rotation_rate(turns[ticks_ago], glm::dvec3{past(ticks_ago).angular_velocity});
    return end;
  }
  for (std::size_t j = 1; j <= c.ticks; ++j) {
    const glm::dvec3 step = turns[ticks_ago + j] - turns[ticks_ago];
    if (c.smooths_position) end.turn += step * polynomial_weight(c.value, j);
    end.rate += step * polynomial_weight(c.derivative, j);
  }
  return end;
}

// Like strayed() for positions, but in rad.
double GapFit::strayed(const Turns& turns, std::size_t candidate, std::size_t gap_ticks) const {
  const double gap_s = static_cast<double>(gap_ticks) / tick_rate_hz_;
  const TurnEnd from = turn_end(turns, candidate, gap_ticks);
  const TurnEnd to = turn_end(turns, candidate, 0);
  const auto curve = hermite_piece(from.turn, to.turn, from.rate * gap_s, to.rate * gap_s);
  double sum = 0.0;
  for (std::size_t j = 0; j < gap_ticks; ++j) {
    const double u = 1.0 - static_cast<double>(j) / static_cast<double>(gap_ticks);
    const glm::dvec3 error = turns[j] - curve.position(u);
    sum += glm::dot(error, error);
  }
  return std::sqrt(sum / static_cast<double>(gap_ticks));
}

double GapFit::GapError::relative_to(const GapError& allowed) const {
  return std::max(m / allowed.m, rad / allowed.rad);
}

GapFit::GapError GapFit::worst_error(const Motion& published, const State& truth, double time_s,
                                     double longest_gap_s) const {
  const double gap_s = time_s - published.time_s;
  const Motion now{smoothed(truth), time_s, published.teleports};
  GapError worst = interpolation_error(published, now, ticks_in(gap_s));
  if (ticks_in(gap_s) < ticks_in(longest_gap_s)) return worst;
  const State predicted = state_at(published, time_s);
  worst.m = std::max(worst.m, glm::distance(predicted.position, truth.position));
  worst.rad = std::max(worst.rad, angle_between(predicted.orientation, truth.orientation));
  return worst;
}

bool GapFit::is_sudden(const Motion& published, const State& truth, double time_s, double longest_gap_s,
                       const GapError& allowed) const {
  // A sudden motion makes the shown velocity jump, so the gain must be worth that.
  constexpr double kClearlySmaller = 0.9;
  constexpr double kTooSmall = 0.5;
  const double gap_s = time_s - published.time_s;
  const std::size_t ticks = ticks_in(gap_s);
  if (ticks >= ticks_in(longest_gap_s) || ticks > filled_) return false;
  Motion now{smoothed(truth), time_s, published.teleports};
  const double without = interpolation_error(published, now, ticks).relative_to(allowed);
  if (without < kTooSmall) return false;
  now.transition.sudden = true;
  return interpolation_error(published, now, ticks).relative_to(allowed) < kClearlySmaller * without;
}

// The largest error of the curve between two motions. Compares the orientations at a quarter, a half and
// three quarters of the gap.
GapFit::GapError GapFit::interpolation_error(const Motion& from, const Motion& to,
                                             std::size_t gap_ticks) const {
  GapError worst;
  const PathDeviations path = path_deviations(from, to, gap_ticks);
  for (std::size_t j = 0; j < path.count; ++j)
    worst.m = std::max(worst.m, glm::length(path.left(j, gap_ticks)));
  std::size_t last = 0;
  for (std::size_t quarter = 1; quarter <= 3; ++quarter) {
    const std::size_t j = quarter * gap_ticks / 4;
    if (j == last || j >= path.count) continue;
    last = j;
    const State shown = interpolate_gap(from, to, to.time_s - static_cast<double>(j) / tick_rate_hz_);
    worst.rad = std::max(worst.rad, angle_between(shown.orientation, past(j).pose.orientation));
  }
  return worst;
}

glm::dvec3 GapFit::PathDeviations::left(std::size_t ticks_ago, std::size_t gap_ticks) const {
  const double u = 1.0 - static_cast<double>(ticks_ago) / static_cast<double>(gap_ticks);
  return by[ticks_ago] - bend * bend_share(u);
}

bool GapFit::bends_over(std::size_t gap_ticks) const {
  return gap_ticks >= 2 && static_cast<double>(gap_ticks) >= kShortestBentGapS * tick_rate_hz_;
}

GapFit::PathDeviations GapFit::path_deviations(const Motion& from, const Motion& to,
                                               std::size_t gap_ticks) const {
  PathDeviations path;
  path.count = std::min(gap_ticks, filled_);
  glm::dvec3 along{0.0};
  double across = 0.0;
  Motion start = from;
  const Motion end = curve_end(from, to);
  start.time_s = curve_starts(from, to).position_s;
  if (start.time_s > from.time_s) start.state = state_at(from, start.time_s);
  for (std::size_t j = 0; j < path.count; ++j) {
    const double then_s = to.time_s - static_cast<double>(j) / tick_rate_hz_;
    path.by[j] = past(j).pose.position - (then_s < start.time_s ? state_at(from, then_s).position
                                                                : interpolate_position(start, end, then_s));
    const double share = bend_share(1.0 - static_cast<double>(j) / static_cast<double>(gap_ticks));
    along += path.by[j] * share;
    across += share * share;
  }
  // If part of the path in the gap is unknown, the bend would be a guess there.
  if (path.count == gap_ticks && bends_over(gap_ticks) && start.time_s == from.time_s &&
      !end.transition.sudden)
    path.bend = along / across;
  return path;
}

std::optional<glm::vec3> GapFit::bend(const Motion& published, const State& truth, double time_s) const {
  const std::size_t ticks = ticks_in(time_s - published.time_s);
  if (!bends_over(ticks) || ticks > filled_) return std::nullopt;
  const Motion now{smoothed(truth), time_s, published.teleports};
  return glm::vec3{bending_acceleration(published, now, path_deviations(published, now, ticks).bend)};
}

bool GapFit::is_steady(double span_s, const GapError& slack) const {
  const std::size_t ticks = std::max<std::size_t>(ticks_in(span_s), 2);
  if (ticks >= filled_) return false;
  const Past& now = past(0);
  for (std::size_t j = 1; j <= ticks; ++j) {
    const double ago_s = static_cast<double>(j) / tick_rate_hz_;
    const glm::dvec3 expected = now.pose.position - glm::dvec3{now.velocity} * ago_s;
    if (glm::distance(expected, past(j).pose.position) > slack.m) return false;
    const glm::dquat turned =
        rotation_exp(glm::dvec3{now.angular_velocity} * -ago_s) * glm::dquat{now.pose.orientation};
    if (angle_between(glm::quat{turned}, past(j).pose.orientation) > slack.rad) return false;
  }
  return true;
}

// Root mean square deviation of the true path from the curve with this candidate at both ends of the gap, m.
// Of a gap of two ticks, only one position inside it is known. A curve that may bend leads through it with
// every candidate, so the deviations are those of the curve without its bend.
double GapFit::strayed(std::size_t candidate, std::size_t gap_ticks) const {
  const auto motion = [&](std::size_t ticks_ago) {
    const End e = end(candidate, ticks_ago);
    Motion m;
    m.state.position = e.position;
    m.state.velocity = glm::vec3{e.velocity};
    m.time_s = -static_cast<double>(ticks_ago) / tick_rate_hz_;
    return m;
  };
  PathDeviations path = path_deviations(motion(gap_ticks), motion(0), gap_ticks);
  if (gap_ticks <= kShortestLearnedTicks) path.bend = glm::dvec3{0.0};
  double sum = 0.0;
  for (std::size_t j = 0; j < path.count; ++j) {
    const glm::dvec3 error = path.left(j, gap_ticks);
    sum += glm::dot(error, error);
  }
  return std::sqrt(sum / static_cast<double>(gap_ticks));
}

void GapFit::learn(double gap_s) {
  // Nothing is known inside a gap of one tick. If ticks are long, most gaps are of this kind. Then learn from
  // the last two ticks.
  const bool long_ticks = kShortestBentGapS * tick_rate_hz_ < 1.0;
  const std::size_t ticks = std::max(ticks_in(gap_s), long_ticks ? kShortestLearnedTicks : 0);
  if (ticks < kShortestLearnedTicks || ticks >= filled_) return;
  for (std::size_t i = 0; i < kCandidates; ++i)
    errors_[i] += (strayed(i, ticks) - errors_[i]) / kMemoryGaps;
  best_ = best_of(errors_);
  const auto most_ticks = static_cast<std::size_t>(kMaxWindowTicks);
  if (turns_too_far(ticks + most_ticks)) {
    turn_errors_ = {};
    best_turn_ = 0;
    return;
  }
  const Turns turned = turns(std::min(filled_, ticks + most_ticks + 1));
  for (std::size_t i = 0; i < kCandidates; ++i)
    turn_errors_[i] += (strayed(turned, i, ticks) - turn_errors_[i]) / kMemoryGaps;
  best_turn_ = best_of(turn_errors_);
}

}  // namespace reckoner
