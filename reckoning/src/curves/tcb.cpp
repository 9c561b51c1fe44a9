// SPDX-License-Identifier: MIT
#include "reckoning/src/curves/tcb_keys.hpp"
#include "reckoning/src/motion/rotation.hpp"

#include <cmath>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

double to_unit_range(double x) {
  if (!(x > 0.0)) return 0.0;
  return x < 1.0 ? x : 1.0;
}

}  // namespace

Easing::Easing(double ease_from, double ease_to) : a_(to_unit_range(ease_from)), b_(to_unit_range(ease_to)) {
  const double sum = a_ + b_;
  if (sum > 1.0) {
    a_ /= sum;
    b_ = 1.0 - a_;
  }
  k_ = 1.0 / (2.0 - a_ - b_);
}

double Easing::value(double t) const {
  t = to_unit_range(t);
  if (t < a_) return k_ * t * t / a_;
  if (t < 1.0 - b_ || b_ == 0.0) return t < 1.0 ? k_ * (2.0 * t - a_) : 1.0;
  return 1.0 - k_ * (1.0 - t) * (1.0 - t) / b_;
}

double Easing::rate(double t) const {
  t = to_unit_range(t);
  if (t < a_) return 2.0 * k_ * t / a_;
  if (t < 1.0 - b_ || b_ == 0.0) return 2.0 * k_;
  return 2.0 * k_ * (1.0 - t) / b_;
}

double Easing::second_rate(double t) const {
  t = to_unit_range(t);
  if (t < a_) return 2.0 * k_ / a_;
  if (t < 1.0 - b_ || b_ == 0.0) return 0.0;
  return -2.0 * k_ / b_;
}

double Easing::inverse(double value) const {
  value = to_unit_range(value);
  if (value < k_ * a_) return std::sqrt(value * a_ / k_);
  if (value < 1.0 - k_ * b_ || b_ == 0.0) return to_unit_range(0.5 * (value / k_ + a_));
  return 1.0 - std::sqrt((1.0 - value) * b_ / k_);
}

TcbWeights tcb_weights(const TcbShape& shape, double before, double after) {
  const double loose = 0.5 * (1.0 - shape.tension);
  // Tangents are derivatives with respect to the segment's parameter, so they are scaled by the durations.
  // Then, with continuity 0, the velocity in time is equal on both sides of a key.
  const double in = loose * 2.0 * before / (before + after);
  const double out = loose * 2.0 * after / (before + after);
  const double c = shape.continuity;
  const double b = shape.bias;
  return {in * (1.0 - c) * (1.0 + b), in * (1.0 + c) * (1.0 - b), out * (1.0 + c) * (1.0 + b),
          out * (1.0 - c) * (1.0 - b)};
}

template <CurveVector V>
Result<TcbSpline<V>> TcbSpline<V>::make(std::span<const TcbKey<V>> keys, const TcbOptions& options) {
  if (std::string error = tcb_keys::error(keys); !error.empty()) return Error{std::move(error)};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!curve_math::usable(keys[i].value)) {
      return Error{"key " + std::to_string(i) + ": value is not finite or too large"};
    }
  }
  const bool closed = options.closing_time.has_value();
  if (closed && keys.size() < 3) return Error{"a closed TCB spline needs at least 3 keys"};
  if (closed && !(*options.closing_time > 0.0 && curve_math::usable(*options.closing_time))) {
    return Error{"the closing time must be above 0 and finite"};
  }

  const std::size_t count = closed ? keys.size() : keys.size() - 1;
  std::vector<double> times;
  for (const TcbKey<V>& key : keys)
    times.push_back(key.time);
  if (closed) {
    times.push_back(keys.back().time + *options.closing_time);
    if (!(times.back() > keys.back().time))
      return Error{"the closing time is too small compared with the key times"};
  }
  std::vector<V> steps;
  std::vector<double> durations;
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < count; ++i) {
    const TcbKey<V>& next = keys[(i + 1) % keys.size()];
    steps.push_back(V(next.value - keys[i].value));
    durations.push_back(times[i + 1] - times[i]);
    segments.push_back({times[i], durations[i], Easing(keys[i].ease_from, next.ease_to)});
  }

  const auto tangents = tcb_keys::tangents(keys, steps, durations);
  std::vector<CubicPiece<V>> pieces;
  for (std::size_t i = 0; i < count; ++i) {
    const V& to = keys[(i + 1) % keys.size()].value;
    pieces.push_back(hermite_piece(keys[i].value, to, tangents[i].leaves, tangents[i].arrives));
  }
  if (count == 0) pieces.push_back({keys[0].value});
  CubicPath<V> path(std::move(pieces), closed ? keys.front().value : keys.back().value, closed);
  return TcbSpline(std::move(path), std::move(times), std::move(segments));
}

template <CurveVector V>
typename TcbSpline<V>::Location TcbSpline<V>::locate(double time) const {
  if (!(time > times_.front())) return {0, 0.0};
  if (time >= times_.back()) return {segments_.size() - 1, 1.0};
  const auto after = std::upper_bound(times_.begin(), times_.end(), time);
  const auto index = static_cast<std::size_t>(after - times_.begin()) - 1;
  return {index, (time - segments_[index].start) / segments_[index].duration};
}

template <CurveVector V>
double TcbSpline<V>::path_parameter(double time) const {
  if (segments_.empty()) return 0.0;
  const Location at = locate(time);
  return static_cast<double>(at.index) + segments_[at.index].easing.value(at.u);
}

template <CurveVector V>
double TcbSpline<V>::time_at(double path_parameter) const {
  if (segments_.empty() || !(path_parameter > 0.0)) return times_.front();
  if (path_parameter >= path_.end_parameter()) return times_.back();
  const auto index = static_cast<std::size_t>(path_parameter);
  const Segment& segment = segments_[index];
  return segment.start +
         segment.duration * segment.easing.inverse(path_parameter - static_cast<double>(index));
}

template <CurveVector V>
V TcbSpline<V>::velocity(double time) const {
  if (segments_.empty()) return V(0.0);
  const Location at = locate(time);
  const Segment& segment = segments_[at.index];
  const V slope = path_.pieces()[at.index].derivative(segment.easing.value(at.u));
  return slope * (segment.easing.rate(at.u) / segment.duration);
}

template <CurveVector V>
V TcbSpline<V>::acceleration(double time) const {
  if (segments_.empty()) return V(0.0);
  const Location at = locate(time);
  const Segment& segment = segments_[at.index];
  const CubicPiece<V>& piece = path_.pieces()[at.index];
  const double e = segment.easing.value(at.u);
  const double rate = segment.easing.rate(at.u) / segment.duration;
  const double second = segment.easing.second_rate(at.u) / (segment.duration * segment.duration);
  return piece.second_derivative(e) * (rate * rate) + piece.derivative(e) * second;
}

template class RECKONER_RECKONING_API TcbSpline<double>;
template class RECKONER_RECKONING_API TcbSpline<glm::dvec2>;
template class RECKONER_RECKONING_API TcbSpline<glm::dvec3>;

namespace {

struct CumulativeWeights {
  double b1, b2, b3;
};

// weights() returns the cumulative Bernstein polynomials of degree 3, weight_rates() their derivatives.
CumulativeWeights weights(double u) {
  const double r = 1.0 - u;
  return {1.0 - r * r * r, u * u * (3.0 - 2.0 * u), u * u * u};
}
CumulativeWeights weight_rates(double u) {
  const double r = 1.0 - u;
  return {3.0 * r * r, 6.0 * u * r, 3.0 * u * u};
}

}  // namespace

Result<OrientationSpline> OrientationSpline::make(std::span<const OrientationKey> keys) {
  if (std::string error = tcb_keys::error(keys); !error.empty()) return Error{std::move(error)};
  std::vector<glm::dquat> orientations;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const glm::dquat& q = keys[i].orientation;
    const double norm = std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!std::isfinite(norm) || !(norm > kSamePoint)) {
      return Error{"key " + std::to_string(i) + ": orientation is zero or not finite"};
    }
    orientations.emplace_back(q.w / norm, q.x / norm, q.y / norm, q.z / norm);
  }

  std::vector<glm::dvec3> steps;
  std::vector<double> durations;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    steps.push_back(rotation_log(glm::conjugate(orientations[i]) * orientations[i + 1]));
    durations.push_back(keys[i + 1].time - keys[i].time);
  }
  const auto tangents = tcb_keys::tangents(keys, steps, durations);

  OrientationSpline out;
  out.start_ = keys.front().time;
  out.end_ = keys.back().time;
  out.last_ = orientations.back();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Segment s;
    s.start = keys[i].time;
    s.duration = durations[i];
    s.easing = Easing(keys[i].ease_from, keys[i + 1].ease_to);
    s.from = orientations[i];
    s.w1 = tangents[i].leaves / 3.0;
    s.w3 = tangents[i].arrives / 3.0;
    // The part of the step that remains between its first part and its last part.
    s.w2 = rotation_log(rotation_exp(-s.w1) * rotation_exp(steps[i]) * rotation_exp(-s.w3));
    out.segments_.push_back(s);
  }
  return out;
}

OrientationSpline::Location OrientationSpline::locate(double time) const {
  if (!(time > start_)) return {&segments_.front(), 0.0};
  if (time >= end_) return {&segments_.back(), 1.0};
  const auto after = std::upper_bound(segments_.begin(), segments_.end(), time,
                                      [](double t, const Segment& s) { return t < s.start; });
  const Segment& segment = *(after - 1);
  return {&segment, (time - segment.start) / segment.duration};
}

glm::dquat OrientationSpline::orientation(double time) const {
  if (segments_.empty() || time >= end_) return last_;
  const auto [segment, u] = locate(time);
  const CumulativeWeights b = weights(segment->easing.value(u));
  return glm::normalize(segment->from * rotation_exp(segment->w1 * b.b1) * rotation_exp(segment->w2 * b.b2) *
                        rotation_exp(segment->w3 * b.b3));
}

glm::dvec3 OrientationSpline::angular_velocity(double time) const {
  if (segments_.empty()) return glm::dvec3(0.0);
  const auto [segment, u] = locate(time);
  const double e = segment->easing.value(u);
  const CumulativeWeights b = weights(e);
  const CumulativeWeights rate = weight_rates(e);
  // Each factor rotates about its own fixed axis. The factors to its left rotate that axis into the world.
  const glm::dquat q1 = segment->from * rotation_exp(segment->w1 * b.b1);
  const glm::dquat q2 = q1 * rotation_exp(segment->w2 * b.b2);
  const glm::dvec3 w = q1 * (segment->w1 * rate.b1) + q2 * (segment->w2 * rate.b2) +
                       q2 * (rotation_exp(segment->w3 * b.b3) * (segment->w3 * rate.b3));
  return w * (segment->easing.rate(u) / segment->duration);
}

}  // namespace reckoner
