// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

constexpr double kPi = 3.14159265358979323846;

template <CurveVector V>
std::vector<V> without_repeats(std::span<const V> points, bool closed) {
  std::vector<V> out;
  out.reserve(points.size());
  for (const V& point : points) {
    if (out.empty() || !curve_math::same(point, out.back())) out.push_back(point);
  }
  while (closed && out.size() > 1 && curve_math::same(out.front(), out.back()))
    out.pop_back();
  return out;
}

template <CurveVector V>
V three_quarters(const V& near, const V& far) {
  return V(0.75 * near + 0.25 * far);
}

// Replaces every edge by its points Q and R (chaikin() in curves.hpp defines them).
template <CurveVector V>
std::vector<V> cut_edges(const std::vector<V>& points, bool closed) {
  const std::size_t n = points.size();
  std::vector<V> out;
  out.reserve(2 * n);
  if (!closed) out.push_back(points.front());
  for (std::size_t i = 0; i + (closed ? 0 : 1) < n; ++i) {
    const V& next = points[(i + 1) % n];
    out.push_back(three_quarters(points[i], next));
    out.push_back(three_quarters(next, points[i]));
  }
  if (!closed) out.push_back(points.back());
  return out;
}

// Replaces every corner that turns by at least `limit`. The R of the edge before it and the Q of the edge
// after it take its place.
template <CurveVector V>
std::vector<V> cut_corners(const std::vector<V>& points, bool closed, double limit) {
  const std::size_t n = points.size();
  std::vector<V> out;
  out.reserve(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const bool end = !closed && (i == 0 || i + 1 == n);
    const V& before = points[(i + n - 1) % n];
    const V& after = points[(i + 1) % n];
    if (end || curve_math::angle_between(V(points[i] - before), V(after - points[i])) < limit) {
      out.push_back(points[i]);
      continue;
    }
    out.push_back(three_quarters(points[i], before));
    out.push_back(three_quarters(points[i], after));
  }
  return out;
}

// The neighbourhood of one point, for the test whether the point is a spike.
template <CurveVector V>
class Neighbourhood {
 public:
  Neighbourhood(const std::vector<V>& points, bool closed, std::size_t i)
      : points_(points), n_(points.size()) {
    in_ = heading(i + n_ - 1);
    out_ = heading(i);
    bridge_ = V(points[(i + 1) % n_] - points[(i + n_ - 1) % n_]);
    has_before_ = closed || i >= 2;
    has_after_ = closed || i + 2 < n_;
    if (has_before_) before_ = heading(i + n_ - 2);
    if (has_after_) after_ = heading(i + 1);
  }

  [[nodiscard]] double turn() const { return curve_math::angle_between(in_, out_); }

  [[nodiscard]] bool is_spike(double limit) const {
    if (!(turn() > limit) || !(has_before_ || has_after_)) return false;
    const double half = 0.5 * limit;
    if (has_before_ && has_after_) {
      // Both neighbours of the spike coincide. So without the spike only one turn remains: between the step
      // before the neighbours and the step after them.
      if (curve_math::length(bridge_) < kSamePoint) return curve_math::angle_between(before_, after_) <= half;
      return curve_math::angle_between(before_, bridge_) <= half &&
             curve_math::angle_between(bridge_, after_) <= half;
    }
    if (has_after_) {
      return curve_math::angle_between(bridge_, after_) <= half &&
             curve_math::angle_between(out_, after_) > half;
    }
    return curve_math::angle_between(before_, bridge_) <= half &&
           curve_math::angle_between(before_, in_) > half;
  }

 private:
  [[nodiscard]] V heading(std::size_t from) const { return V(points_[(from + 1) % n_] - points_[from % n_]); }

  const std::vector<V>& points_;
  std::size_t n_;
  V before_{0.0}, in_{0.0}, out_{0.0}, after_{0.0};
  V bridge_{0.0};  // from one neighbour to the other, without the point
  bool has_before_ = false;
  bool has_after_ = false;
};

std::string options_error(const ChaikinOptions& options) {
  if (options.passes < 0 || options.passes > kMaxChaikinPasses) {
    return "Chaikin passes must be 0 to " + std::to_string(kMaxChaikinPasses) + ", got " +
           std::to_string(options.passes);
  }
  if (options.angle_limit && !(*options.angle_limit >= 0.0 && *options.angle_limit <= kPi)) {
    return "the angle limit must be between 0 and 180 degrees";
  }
  if (options.outlier_limit && !(*options.outlier_limit > 0.0 && *options.outlier_limit < kPi)) {
    return "the outlier limit must be between 0 and 180 degrees";
  }
  return {};
}

}  // namespace

template <CurveVector V>
std::vector<V> reject_outliers(std::vector<V> points, bool closed, double limit) {
  const std::size_t least = closed ? 5 : 4;
  while (points.size() >= least) {
    const std::size_t n = points.size();
    std::size_t worst = n;
    double worst_turn = 0.0;
    for (std::size_t i = closed ? 0 : 1; i + (closed ? 0 : 1) < n; ++i) {
      const Neighbourhood<V> around(points, closed, i);
      if (around.turn() > worst_turn && around.is_spike(limit)) {
        worst = i;
        worst_turn = around.turn();
      }
    }
    if (worst == n) break;
    points.erase(points.begin() + static_cast<std::ptrdiff_t>(worst));
    points = without_repeats<V>(points, closed);
  }
  return points;
}

template <CurveVector V>
Result<std::vector<V>> chaikin(std::span<const V> points, const ChaikinOptions& options) {
  if (std::string error = options_error(options); !error.empty()) return Error{std::move(error)};
  if (std::string error = points_error(points, 0); !error.empty()) return Error{std::move(error)};
  std::vector<V> line = without_repeats(points, options.closed);
  if (options.outlier_limit) line = reject_outliers(std::move(line), options.closed, *options.outlier_limit);
  for (int pass = 0; pass < options.passes && line.size() >= 3; ++pass) {
    std::vector<V> cut = options.angle_limit ? cut_corners(line, options.closed, *options.angle_limit)
                                             : cut_edges(line, options.closed);
    if (cut.size() > options.max_points)
      return Error{"corner cutting would give more than " + std::to_string(options.max_points) + " points"};
    line = std::move(cut);
  }
  return line;
}

template RECKONER_RECKONING_API std::vector<double> reject_outliers(std::vector<double>, bool, double);
template RECKONER_RECKONING_API std::vector<glm::dvec2> reject_outliers(std::vector<glm::dvec2>, bool,
                                                                        double);
template RECKONER_RECKONING_API std::vector<glm::dvec3> reject_outliers(std::vector<glm::dvec3>, bool,
                                                                        double);
template RECKONER_RECKONING_API Result<std::vector<double>> chaikin(std::span<const double>,
                                                                    const ChaikinOptions&);
template RECKONER_RECKONING_API Result<std::vector<glm::dvec2>> chaikin(std::span<const glm::dvec2>,
                                                                        const ChaikinOptions&);
template RECKONER_RECKONING_API Result<std::vector<glm::dvec3>> chaikin(std::span<const glm::dvec3>,
                                                                        const ChaikinOptions&);

}  // namespace reckoner
