// SPDX-License-Identifier: MIT
#include "net/src/link/clock_change.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner {
namespace {

using Bound = ClockChangeDetector::Bound;

// The smallest of n random delays is smaller than that of m earlier ones by about their spread divided by m.
// This number of times that amount is improbable.
constexpr double kRecord = 8.0;
// The smallest of n random delays is not longer than their spread times this number, divided by n^1.5. This
// is valid even if the other direction has just become faster.
constexpr double kLate = 8.0;

constexpr double kQuietS = 0.005;

// Two models of the offset are compared: a step, and a constant growth. Growth must explain the bounds
// clearly better, because a wrong rate does more harm than a second step.
constexpr double kGrowthShare = 0.8;
constexpr double kLeastQuanta = 1.75;
constexpr double kLeastGrowthS = 0.25;
constexpr double kCertainS = 0.1;
constexpr double kProvisionalS = 0.05;  // a clock that is further off must be corrected at once
constexpr std::size_t kLeastBounds = 7;
constexpr double kStandsShare = 0.1;
constexpr std::size_t kLeastToGrow = 3;  // number of lower bounds since the beginning of a growth

// Typical random delay: the median distance of a bound from the straight line through its neighbours.
std::optional<double> spread_s(std::span<const Bound> bounds) {
  if (bounds.size() < 3) return std::nullopt;
  std::array<double, 128> distances;
  const std::size_t count = bounds.size() - 2;
  for (std::size_t i = 0; i < count; ++i) {
    const Bound &a = bounds[i], &b = bounds[i + 1], &c = bounds[i + 2];
    const double span_s = c.remote_s - a.remote_s;
    const double share = span_s > 0.0 ? (b.remote_s - a.remote_s) / span_s : 0.5;
    distances[i] = std::abs(b.offset_s - a.offset_s - share * (c.offset_s - a.offset_s));
  }
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(distances.begin(), middle, distances.begin() + static_cast<std::ptrdiff_t>(count));
  return *middle;
}

// The smaller growth of the newest two intervals between lower bounds. A step changes only one of them.
double newest_drift(std::span<const Bound> lower) {
  if (lower.size() < 3) return 0.0;
  const auto drift = [](const Bound& a, const Bound& b) {
    return b.remote_s > a.remote_s ? (b.offset_s - a.offset_s) / (b.remote_s - a.remote_s) : 0.0;
  };
  const Bound* const newest = &lower.back();
  const double a = drift(newest[-2], newest[-1]), b = drift(newest[-1], newest[0]);
  if (a * b <= 0.0) return 0.0;
  return std::abs(a) < std::abs(b) ? a : b;
}

// True if the local clock stood still between the newest two lower bounds.
bool stands(std::span<const Bound> lower) {
  if (lower.size() < 2) return false;
  const Bound &before = *(lower.end() - 2), &newest = lower.back();
  return newest.local_s - before.local_s < kStandsShare * (newest.remote_s - before.remote_s);
}

// The best bound before and since a time.
struct Best {
  double before_s;
  double since_s;
  std::size_t count_before = 0;
  std::size_t count_since = 0;
};

// By how much the offset has certainly grown, or shrunk (negative), between the bounds before and since a
// time, s. 0 if that is not certain.
double shift_s(const Best& lower, const Best& upper, const std::optional<double>& lower_spread_s,
               const std::optional<double>& upper_spread_s) {
  double grown_s = 0.0;
  double shrunk_s = 0.0;
  if (lower.count_since > 0 && upper.count_before > 0) grown_s = lower.since_s - upper.before_s;
  if (upper.count_since > 0 && lower.count_before > 0) shrunk_s = lower.before_s - upper.since_s;
  const bool comparable = lower_spread_s && upper_spread_s && lower.count_before > 0 &&
                          lower.count_since > 0 && upper.count_before > 0 && upper.count_since > 0;
  // A single bound may be late by any time, except on a quiet connection.
  const bool several = comparable && (*upper_spread_s < kQuietS || upper.count_since >= 2);
  if (several) {
    const auto record_s = [](double spread, std::size_t count) {
      return kRecord * spread / static_cast<double>(count);
    };
    const auto late_s = [](double spread, std::size_t count) {
      const auto n = static_cast<double>(count);
      return kLate * spread / (n * std::sqrt(n));
    };
    const double lower_grown_s =
        lower.since_s - lower.before_s - record_s(*lower_spread_s, lower.count_before);
    const double upper_grown_s = upper.since_s - upper.before_s - late_s(*upper_spread_s, upper.count_since);
    const double upper_shrunk_s =
        upper.before_s - upper.since_s - record_s(*upper_spread_s, upper.count_before);
    const double lower_shrunk_s = lower.before_s - lower.since_s - late_s(*lower_spread_s, lower.count_since);
    grown_s = std::max(grown_s, std::min(lower_grown_s, upper_grown_s));
    shrunk_s = std::max(shrunk_s, std::min(lower_shrunk_s, upper_shrunk_s));
  }
  if (grown_s >= shrunk_s) return std::max(0.0, grown_s);
  return -std::max(0.0, shrunk_s);
}

// Least squares of the offset over a given course. Both directions have the same course; each has its own
// distance from it, which is its delay.
class Fit {
 public:
  void add(double course, double offset_s) {
    count_ += 1.0;
    course_ += course;
    square_ += course * course;
    offset_ += offset_s;
    product_ += course * offset_s;
    offset_square_ += offset_s * offset_s;
  }
  void end_direction() {
    if (count_ > 0.0) {
      variance_ += square_ - course_ * course_ / count_;
      covariance_ += product_ - course_ * offset_ / count_;
      total_ += offset_square_ - offset_ * offset_ / count_;
    }
    count_ = course_ = square_ = offset_ = product_ = offset_square_ = 0.0;
  }
  // The factor of the course.
  [[nodiscard]] double factor() const { return variance_ > 0.0 ? covariance_ / variance_ : 0.0; }
  [[nodiscard]] double variance() const { return variance_; }
  // The sum of the squares that remain.
  [[nodiscard]] double rest() const { return std::max(0.0, total_ - factor() * covariance_); }

 private:
  double count_ = 0.0, course_ = 0.0, square_ = 0.0, offset_ = 0.0, product_ = 0.0, offset_square_ = 0.0;
  double variance_ = 0.0, covariance_ = 0.0, total_ = 0.0;
};

struct Model {
  double since_s = 0.0;
  double factor = 0.0;
  double rest = std::numeric_limits<double>::infinity();
};

template <class Course>
void try_model(Model& best, std::span<const Bound> lower, std::span<const Bound> upper, double since_s,
               double origin_s, double margin_s, Course course) {
  Fit fit;
  for (const std::span<const Bound> direction : {lower, upper}) {
    for (const Bound& b : direction) {
      // A time stamp that was in flight at a step may belong to either side.
      const bool in_flight =
          direction.data() == upper.data() && b.remote_s >= since_s && b.remote_s < since_s + margin_s;
      if (!in_flight) fit.add(course(b.remote_s), b.offset_s - origin_s);
    }
    fit.end_direction();
  }
  if (fit.rest() < best.rest) best = {since_s, fit.factor(), fit.rest()};
}

}  // namespace

ClockChangeDetector::Bin* ClockChangeDetector::bin_at(double remote_s) {
  constexpr double kLargestS = 1e15;
  if (!(std::abs(remote_s) < kLargestS)) return nullptr;
  const auto number = static_cast<std::int64_t>(std::floor(remote_s / kBinS));
  const auto size = static_cast<std::int64_t>(kBins);
  if (newest_ != kNone && number <= newest_ - size) return nullptr;
  newest_ = std::max(newest_, number);
  Bin& bin = bins_[static_cast<std::size_t>(((number % size) + size) % size)];
  if (bin.number != number) {
    bin = {};
    bin.number = number;
  }
  return &bin;
}

void ClockChangeDetector::add_lower(const Bound& bound) {
  Bin* bin = bin_at(bound.remote_s);
  if (bin == nullptr || (bin->has_lower && bound.offset_s <= bin->lower.offset_s)) return;
  bin->lower = bound;
  assumed_lower_s_ = -std::numeric_limits<double>::infinity();
  bin->has_lower = true;
  contradicts_ = contradicts_ || bound.offset_s > smallest_upper_s_ + tolerance_s_;
}

void ClockChangeDetector::add_upper(const Bound& bound) {
  Bin* bin = bin_at(bound.remote_s);
  if (bin == nullptr || (bin->has_upper && bound.offset_s >= bin->upper.offset_s)) return;
  bin->upper = bound;
  assumed_upper_s_ = std::numeric_limits<double>::infinity();
  bin->has_upper = true;
  contradicts_ = contradicts_ || bound.offset_s < largest_lower_s_ - tolerance_s_;
}

void ClockChangeDetector::collect(Bounds& lower, Bounds& upper, double since_s) const {
  lower.count = upper.count = 0;
  if (newest_ == kNone) return;
  const auto size = static_cast<std::int64_t>(kBins);
  for (std::int64_t number = newest_ - size + 1; number <= newest_; ++number) {
    const Bin& bin = bins_[static_cast<std::size_t>(((number % size) + size) % size)];
    if (bin.number != number) continue;
    if (bin.has_lower && bin.lower.remote_s >= since_s) lower.items[lower.count++] = bin.lower;
    if (!bin.has_upper || bin.upper.remote_s - round_trip_s_ < since_s) continue;
    upper.items[upper.count] = bin.upper;
    upper.items[upper.count++].remote_s -= round_trip_s_;
  }
}

std::optional<ClockChangeDetector::Change> ClockChangeDetector::find(double tolerance_s, double quantum_s) {
  searched_ = newest_;
  contradicts_ = false;
  tolerance_s_ = tolerance_s;
  Bounds lower_bounds, upper_bounds;
  collect(lower_bounds, upper_bounds);
  const std::span<const Bound> lower = lower_bounds.all(), upper = upper_bounds.all();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  largest_lower_s_ = -kInfinity;
  smallest_upper_s_ = kInfinity;
  for (const Bound& b : lower)
    largest_lower_s_ = std::max(largest_lower_s_, b.offset_s);
  for (const Bound& b : upper)
    smallest_upper_s_ = std::min(smallest_upper_s_, b.offset_s);
  if (lower.empty()) return std::nullopt;
  // Fewer bounds cannot tell a step from a growth. A clock that stands still leaves no doubt.
  const double remote_span_s = lower.back().remote_s - lower.front().remote_s;
  const double local_span_s = lower.back().local_s - lower.front().local_s;
  const bool few = lower.size() <= kLeastToGrow || lower.size() + upper.size() < kLeastBounds;
  if (few && local_span_s > kStandsShare * remote_span_s) return std::nullopt;
  const double newest_s = std::max(lower.back().remote_s, upper.empty() ? -kInfinity : upper.back().remote_s);

  const auto lower_spread_s = spread_s(lower), upper_spread_s = spread_s(upper);
  double shifted_s = 0.0;
  // Compares the bounds since each time with all earlier ones.
  std::array<double, kBins> lower_since_s, upper_since_s;
  double best_s = -kInfinity;
  for (std::size_t i = lower.size(); i-- > 0;)
    lower_since_s[i] = best_s = std::max(best_s, lower[i].offset_s);
  best_s = kInfinity;
  for (std::size_t i = upper.size(); i-- > 0;)
    upper_since_s[i] = best_s = std::min(best_s, upper[i].offset_s);
  Best low{-kInfinity, -kInfinity}, up{kInfinity, kInfinity};
  std::size_t first_since = 0;
  const double margin_s = quantum_s + 2.0 * upper_spread_s.value_or(0.0);
  for (std::size_t i = 0; i + 1 < lower.size(); ++i) {
    low = {std::max(low.before_s, lower[i].offset_s), lower_since_s[i + 1], i + 1, lower.size() - i - 1};
    // Time stamps that were in flight at the change may belong to either side.
    const double begins_s = lower[i + 1].remote_s;
    while (up.count_before < upper.size() && upper[up.count_before].remote_s < begins_s)
      up.before_s = std::min(up.before_s, upper[up.count_before++].offset_s);
    first_since = std::max(first_since, up.count_before);
    while (first_since < upper.size() && upper[first_since].remote_s < begins_s + margin_s)
      ++first_since;
    up.count_since = upper.size() - first_since;
    up.since_s = up.count_since > 0 ? upper_since_s[first_since] : kInfinity;
    const double by_s = shift_s(low, up, lower_spread_s, upper_spread_s);
    if (std::abs(by_s) > std::abs(shifted_s)) shifted_s = by_s;
  }
  // The newest lower bound may contradict upper bounds that are older than all other lower ones.
  for (const Bound& b : upper) {
    const double by_s = lower.back().offset_s - b.offset_s;
    if (b.remote_s <= lower.back().remote_s && by_s > std::abs(shifted_s)) shifted_s = by_s;
  }
  if (largest_lower_s_ - assumed_upper_s_ > std::abs(shifted_s))
    shifted_s = largest_lower_s_ - assumed_upper_s_;
  if (assumed_lower_s_ - smallest_upper_s_ > std::abs(shifted_s))
    shifted_s = smallest_upper_s_ - assumed_lower_s_;
  if (std::abs(shifted_s) <= tolerance_s) return std::nullopt;

  const double noise_s = upper_spread_s.value_or(0.0);
  Model step, growth;
  const double origin_s = lower.back().offset_s;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    const double since_s = lower[i].remote_s;
    try_model(step, lower, upper, since_s, origin_s, margin_s,
              [&](double time_s) { return time_s > since_s ? 1.0 : 0.0; });
    if (i + kLeastToGrow >= lower.size()) continue;
    try_model(growth, lower, upper, since_s, origin_s, 0.0,
              [&](double time_s) { return std::max(0.0, time_s - since_s); });
  }
  const bool grows = growth.rest < kGrowthShare * step.rest;
  const Model& model = grows ? growth : step;
  const double explained_s = grows ? growth.factor * (newest_s - growth.since_s) : step.factor;
  // The models use all bounds, not only the best. They must agree.
  if (std::abs(explained_s) < 0.5 * tolerance_s || (explained_s > 0.0) != (shifted_s > 0.0)) {
    // A clock that stands and jumps again and again fits neither. While it stands, its newest bounds count.
    const bool contradicts = largest_lower_s_ - smallest_upper_s_ > kCertainS;
    if (!contradicts || !stands(lower)) return std::nullopt;
    return Change{.since_s = newest_s, .noise_s = noise_s};
  }
  if (grows) {
    // Too little growth would give a wrong rate.
    if (newest_s - model.since_s < kLeastGrowthS || std::abs(explained_s) < kLeastQuanta * quantum_s) {
      if (std::abs(explained_s) < kProvisionalS) return std::nullopt;
      return Change{.since_s = newest_s - quantum_s,
                    .is_provisional = true,
                    .rough_drift = newest_drift(lower),
                    .noise_s = noise_s};
    }
    return Change{.since_s = model.since_s, .drift = model.factor, .noise_s = noise_s};
  }
  // The step came after the bound at `since_s`.
  const auto next =
      std::find_if(lower.begin(), lower.end(), [&](const Bound& b) { return b.remote_s > model.since_s; });
  const double since_s = next != lower.end() ? std::nextafter(model.since_s, kInfinity) : newest_s;
  return Change{.since_s = since_s, .rough_drift = newest_drift(lower), .noise_s = noise_s};
}

double ClockChangeDetector::drift() const {
  constexpr std::size_t kLeastLower = 8, kLeastUpper = 4;
  constexpr double kLeastSpanS = 1.0;
  constexpr double kLeastDriftS = 0.008;
  constexpr double kDeviations = 3.0;  // standard deviations
  constexpr double kLeastShare = 0.3;  // of each direction, in the growth of both
  Bounds lower, upper;
  collect(lower, upper);
  if (lower.count < kLeastLower || upper.count < kLeastUpper) return 0.0;
  const double origin_s = lower.items[0].remote_s, base_s = lower.items[0].offset_s;
  const double span_s = lower.items[lower.count - 1].remote_s - origin_s;
  if (span_s < kLeastSpanS) return 0.0;
  Fit both, down, up;
  for (const Bound& b : lower.all()) {
    both.add(b.remote_s - origin_s, b.offset_s - base_s);
    down.add(b.remote_s - origin_s, b.offset_s - base_s);
  }
  both.end_direction();
  down.end_direction();
  for (const Bound& b : upper.all()) {
    both.add(b.remote_s - origin_s, b.offset_s - base_s);
    up.add(b.remote_s - origin_s, b.offset_s - base_s);
  }
  both.end_direction();
  up.end_direction();
  const double drift = both.factor();
  const auto freedom = static_cast<double>(lower.count + upper.count - 3);
  const double deviation = std::sqrt(both.rest() / freedom / both.variance());
  const bool agree = down.factor() / drift > kLeastShare && up.factor() / drift > kLeastShare;
  const bool clear = std::abs(drift) > kDeviations * deviation && std::abs(drift) * span_s > kLeastDriftS;
  return agree && clear ? drift : 0.0;
}

std::optional<double> ClockChangeDetector::newest_lower_s() const {
  const Bin* newest = nullptr;
  for (const Bin& bin : bins_)
    if (bin.has_lower && (newest == nullptr || bin.number > newest->number)) newest = &bin;
  return newest != nullptr ? std::optional(newest->lower.remote_s) : std::nullopt;
}

void ClockChangeDetector::forget_before(double remote_s) {
  for (Bin& bin : bins_) {
    bin.has_lower = bin.has_lower && bin.lower.remote_s >= remote_s;
    bin.has_upper = bin.has_upper && bin.upper.remote_s - round_trip_s_ >= remote_s;
  }
  largest_lower_s_ = assumed_lower_s_ = -std::numeric_limits<double>::infinity();
  smallest_upper_s_ = assumed_upper_s_ = std::numeric_limits<double>::infinity();
}

void ClockChangeDetector::rescale(double factor, double local_s) {
  const auto convert = [&](Bound& bound) {
    const double corrected_local_s = local_s - (local_s - bound.local_s) * factor;
    bound.offset_s += bound.local_s - corrected_local_s;
    bound.local_s = corrected_local_s;
  };
  for (Bin& bin : bins_) {
    if (bin.has_lower) convert(bin.lower);
    if (bin.has_upper) convert(bin.upper);
  }
}

}  // namespace reckoner
