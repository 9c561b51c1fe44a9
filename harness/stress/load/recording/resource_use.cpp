// SPDX-License-Identifier: MIT
#include "harness/stress/load/recording/resource_use.hpp"

#include "reckoning/src/statistics/quantile.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner::harness {
void TickLog::add(double late_s, double duration_s) {
  late_ms_.push_back(1000.0 * std::max(0.0, late_s));
  duration_ms_.push_back(1000.0 * duration_s);
  if (late_s >= tick_s_) ++late_ticks_;
}

nlohmann::ordered_json TickLog::json() const {
  std::vector<double> late_ms = late_ms_, duration_ms = duration_ms_;  // quantile() reorders them
  return {{"ticks", late_ms_.size()},
          {"tick_ms_p50", quantile(duration_ms, 0.5)},
          {"tick_ms_p99", quantile(duration_ms, 0.99)},
          {"late_ms_p50", quantile(late_ms, 0.5)},
          {"late_ms_p99", quantile(late_ms, 0.99)},
          {"late_ms_p999", quantile(late_ms, 0.999)},
          {"late_ms_max", quantile(late_ms, 1.0)},
          {"late_ticks", late_ticks_}};
}

}  // namespace reckoner::harness
