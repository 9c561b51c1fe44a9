// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

// Two points count as equally near if their squared distances differ by less than this share.
constexpr double kSameDistance = 1e-13;
// An interval of a piece that is shorter than this counts as a point.
constexpr double kShortest = 1e-11;

// Part of a cubic, as a Bézier curve relative to the given point. In the path's parameter, the part begins at
// `start` and is `width` long.
template <CurveVector V>
struct Stretch {
  std::array<V, 4> b;
  double start;
  double width;
};

template <CurveVector V>
Stretch<V> stretch_of(const CubicPiece<V>& piece, double index, double u0, double u1, const V& point) {
  const double w = u1 - u0;
  const V c0 = piece.position(u0) - point;
  const V c1 = piece.derivative(u0) * w;
  const V c2 = piece.second_derivative(u0) * (0.5 * w * w);
  const V c3 = piece.c3 * (w * w * w);
  return {{c0, V(c0 + c1 / 3.0), V(c0 + (2.0 * c1 + c2) / 3.0), V(c0 + c1 + c2 + c3)}, index + u0, w};
}

// Splits at the middle by De Casteljau's algorithm.
template <CurveVector V>
std::pair<Stretch<V>, Stretch<V>> halves(const Stretch<V>& s) {
  const V p01 = 0.5 * (s.b[0] + s.b[1]), p12 = 0.5 * (s.b[1] + s.b[2]), p23 = 0.5 * (s.b[2] + s.b[3]);
  const V p012 = 0.5 * (p01 + p12), p123 = 0.5 * (p12 + p23);
  const V middle = 0.5 * (p012 + p123);
  const double half = 0.5 * s.width;
  return {{{s.b[0], p01, p012, middle}, s.start, half}, {{middle, p123, p23, s.b[3]}, s.start + half, half}};
}

// A lower bound for the squared distance in the stretch: the smallest Bernstein coefficient of the squared
// distance.
template <CurveVector V>
double least_squared_distance(const std::array<V, 4>& b) {
  using curve_math::dot;
  return std::min({dot(b[0], b[0]), dot(b[0], b[1]), (2.0 * dot(b[0], b[2]) + 3.0 * dot(b[1], b[1])) / 5.0,
                   (dot(b[0], b[3]) + 9.0 * dot(b[1], b[2])) / 10.0,
                   (2.0 * dot(b[1], b[3]) + 3.0 * dot(b[2], b[2])) / 5.0, dot(b[2], b[3]), dot(b[3], b[3])});
}

// Bernstein coefficients (degree 5) of the dot product of position and derivative, divided by 3. Except for a
// constant factor, this is the slope of the squared distance.
template <CurveVector V>
std::array<double, 6> slope_coefficients(const std::array<V, 4>& b) {
  using curve_math::dot;
  const std::array<V, 3> d{V(b[1] - b[0]), V(b[2] - b[1]), V(b[3] - b[2])};
  return {dot(b[0], d[0]),
          (3.0 * dot(b[1], d[0]) + 2.0 * dot(b[0], d[1])) / 5.0,
          (3.0 * dot(b[2], d[0]) + 6.0 * dot(b[1], d[1]) + dot(b[0], d[2])) / 10.0,
          (dot(b[3], d[0]) + 6.0 * dot(b[2], d[1]) + 3.0 * dot(b[1], d[2])) / 10.0,
          (2.0 * dot(b[3], d[1]) + 3.0 * dot(b[2], d[2])) / 5.0,
          dot(b[3], d[2])};
}

enum class Slope { one_sign, falls_then_rises, rises_then_falls, undecided };

// Descartes' rule of signs: in the stretch, a polynomial has at most as many roots as its Bernstein
// coefficients have sign changes.
Slope classify_slope(const std::array<double, 6>& coefficients) {
  int changes = 0;
  double sign = 0.0;
  double first = 0.0;
  for (const double c : coefficients) {
    if (c == 0.0) continue;
    if (sign == 0.0) first = c;
    if (sign * c < 0.0) ++changes;
    sign = c < 0.0 ? -1.0 : 1.0;
  }
  if (changes == 0) return Slope::one_sign;
  if (changes > 1) return Slope::undecided;
  return first < 0.0 ? Slope::falls_then_rises : Slope::rises_then_falls;
}

// The position (0 to 1) of the only minimum of the squared distance in the stretch, by bracketed Newton
// iteration.
template <CurveVector V>
double minimum_parameter(const std::array<V, 4>& b) {
  using curve_math::dot;
  const V c1 = 3.0 * (b[1] - b[0]);
  const CubicPiece<V> piece{b[0], c1, V(3.0 * (b[2] - b[1]) - c1), V(b[3] - b[0] - 3.0 * (b[2] - b[1]))};
  double low = 0.0;
  double high = 1.0;
  double u = 0.5;
  for (int i = 0; i < 80; ++i) {
    const V p = piece.position(u);
    const V d = piece.derivative(u);
    const double slope = dot(p, d);
    if (slope == 0.0) break;
    (slope < 0.0 ? low : high) = u;
    const double newton = u - slope / (dot(d, d) + dot(p, piece.second_derivative(u)));
    const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
    if (std::abs(next - u) < 1e-15) break;
    u = next;
  }
  return u;
}

template <CurveVector V>
class Search {
 public:
  void offer(double parameter, const V& from_point) {
    const double squared = curve_math::dot(from_point, from_point);
    if (squared < best_squared_) {
      best_squared_ = squared;
      best_ = parameter;
    }
  }

  void offer_ends(const Stretch<V>& s) {
    offer(s.start, s.b[0]);
    offer(s.start + s.width, s.b[3]);
  }

  void look_through(const Stretch<V>& whole) {
    std::array<Stretch<V>, 48> waiting;  // at most one per halving
    std::size_t count = 0;
    waiting[count++] = whole;
    while (count > 0) {
      const Stretch<V> s = waiting[--count];
      if (least_squared_distance(s.b) >= best_squared_ * (1.0 - kSameDistance)) continue;
      const Slope slope = classify_slope(slope_coefficients(s.b));
      if (slope == Slope::one_sign || slope == Slope::rises_then_falls)
        continue;  // the minimum is at an end, and all ends were checked before
      if (slope == Slope::falls_then_rises) {
        const double u = minimum_parameter(s.b);
        const V p01 = s.b[0] + u * (s.b[1] - s.b[0]), p12 = s.b[1] + u * (s.b[2] - s.b[1]);
        const V p23 = s.b[2] + u * (s.b[3] - s.b[2]);
        const V p012 = p01 + u * (p12 - p01), p123 = p12 + u * (p23 - p12);
        offer(s.start + u * s.width, V(p012 + u * (p123 - p012)));
        continue;
      }
      if (s.width < kShortest) continue;
      const auto [first, second] = halves(s);
      offer(second.start, second.b[0]);
      waiting[count++] = second;
      waiting[count++] = first;
    }
  }

  [[nodiscard]] double best() const { return best_; }

 private:
  double best_squared_ = std::numeric_limits<double>::infinity();
  double best_ = 0.0;
};

}  // namespace

template <CurveVector V>
NearestPoint<V> nearest(const CubicPath<V>& path, const V& point, double from, double to) {
  const double end = path.end_parameter();
  from = from > 0.0 ? std::min(from, end) : 0.0;
  to = to >= from ? std::min(to, end) : from;
  const auto pieces = path.pieces();
  const auto first = std::min(static_cast<std::size_t>(from), pieces.size() - 1);
  const auto last = std::min(static_cast<std::size_t>(to), pieces.size() - 1);

  const auto part = [&](std::size_t i) {
    const auto index = static_cast<double>(i);
    return stretch_of(pieces[i], index, std::max(0.0, from - index), std::min(1.0, to - index), point);
  };
  Search<V> search;
  // Check all ends first: a good bound lets the search skip more pieces.
  for (std::size_t i = first; i <= last; ++i)
    search.offer_ends(part(i));
  for (std::size_t i = first; i <= last; ++i)
    search.look_through(part(i));

  const double parameter = std::clamp(search.best(), from, to);
  const V position = path.position(parameter);
  return {parameter, position, curve_math::length(position - point)};
}

template RECKONER_RECKONING_API NearestPoint<double> nearest(const CubicPath<double>&, const double&, double,
                                                             double);
template RECKONER_RECKONING_API NearestPoint<glm::dvec2> nearest(const CubicPath<glm::dvec2>&,
                                                                 const glm::dvec2&, double, double);
template RECKONER_RECKONING_API NearestPoint<glm::dvec3> nearest(const CubicPath<glm::dvec3>&,
                                                                 const glm::dvec3&, double, double);

}  // namespace reckoner
