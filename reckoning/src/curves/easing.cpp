// SPDX-License-Identifier: MIT
#include <cmath>

#include <reckoner/reckoning/curves/easing.hpp>

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

}  // namespace reckoner
