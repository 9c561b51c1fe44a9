// SPDX-License-Identifier: MIT
#include "tcb_keys.hpp"

#include <reckoner/reckoning/curves/tcb.hpp>

namespace reckoner {

TcbWeights tcb_weights(const TcbShape& shape, double before, double after) {
  const double loose = 0.5 * (1.0 - shape.tension);
  // Tangents are per segment; what is to be equal on both sides of a key is the velocity, per unit of time.
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
    return Error{"the closing time is not above 0 and finite"};
  }

  const std::size_t count = closed ? keys.size() : keys.size() - 1;
  std::vector<double> times;
  for (const TcbKey<V>& key : keys)
    times.push_back(key.time);
  if (closed) {
    times.push_back(keys.back().time + *options.closing_time);
    if (!(times.back() > keys.back().time)) return Error{"the closing time is lost in rounding"};
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
typename TcbSpline<V>::Place TcbSpline<V>::locate(double time) const {
  if (!(time > times_.front())) return {0, 0.0};
  if (time >= times_.back()) return {segments_.size() - 1, 1.0};
  const auto after = std::upper_bound(times_.begin(), times_.end(), time);
  const auto index = static_cast<std::size_t>(after - times_.begin()) - 1;
  return {index, (time - segments_[index].start) / segments_[index].duration};
}

template <CurveVector V>
double TcbSpline<V>::path_parameter(double time) const {
  if (segments_.empty()) return 0.0;
  const Place at = locate(time);
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
  const Place at = locate(time);
  const Segment& segment = segments_[at.index];
  const V slope = path_.pieces()[at.index].derivative(segment.easing.value(at.u));
  return slope * (segment.easing.rate(at.u) / segment.duration);
}

template <CurveVector V>
V TcbSpline<V>::acceleration(double time) const {
  if (segments_.empty()) return V(0.0);
  const Place at = locate(time);
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

}  // namespace reckoner
