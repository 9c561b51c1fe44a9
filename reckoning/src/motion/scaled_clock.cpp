// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <limits>

#include <reckoner/reckoning/scaled_clock.hpp>

namespace reckoner {
namespace {

// False for NaN. No clock shows other times.
bool is_time(double time_s) {
  constexpr double kLargestS = 1e13;
  return std::abs(time_s) <= kLargestS;
}

}  // namespace

bool ScaledClock::set_scale(double to, double now_s, double over_s) {
  const bool sane = to >= 0.0 && to <= kMaxScale && is_time(now_s) && over_s >= 0.0 && is_time(over_s);
  if (!sane) return false;
  *this = {
      .real_s = now_s, .game_s = at(now_s), .scale = scale_at(now_s), .next_scale = to, .ease_s = over_s};
  if (over_s <= 0.0) scale = to;
  return true;
}

double ScaledClock::at(double now_s) const {
  const double since_s = now_s - real_s;
  if (since_s <= 0.0) return game_s + scale * since_s;
  // The scale changes linearly within ease_s, then stays constant.
  const double easing_s = std::min(since_s, ease_s);
  const double mean = ease_s > 0.0 ? scale + 0.5 * (next_scale - scale) * (easing_s / ease_s) : scale;
  return game_s + mean * easing_s + next_scale * (since_s - easing_s);
}

double ScaledClock::scale_at(double now_s) const {
  if (now_s <= real_s) return scale;
  if (now_s >= real_s + ease_s) return next_scale;
  return scale + (next_scale - scale) * ((now_s - real_s) / ease_s);
}

double ScaledClock::real_time_of(double wanted_s) const {
  const double ahead_s = wanted_s - game_s;
  if (ahead_s <= 0.0) return real_s;
  const double eased_s = 0.5 * (scale + next_scale) * ease_s;  // game time that passes during the change
  if (ahead_s > eased_s) {
    if (next_scale <= 0.0) return std::numeric_limits<double>::infinity();
    return real_s + ease_s + (ahead_s - eased_s) / next_scale;
  }
  // Solves ahead = scale u + (next - scale) u^2 / (2 ease) with the form of the root that has no
  // cancellation.
  const double half_rise = 0.5 * (next_scale - scale) / ease_s;
  const double root = std::sqrt(std::max(0.0, scale * scale + 4.0 * half_rise * ahead_s));
  return real_s + 2.0 * ahead_s / (scale + root);
}

}  // namespace reckoner
