// SPDX-License-Identifier: MIT
#include "harness/stress/load/recording/resource_use.hpp"

#include "reckoning/src/statistics/quantile.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner::harness {

ResourceUse resource_use(double now_s) {
  return {now_s, process_cpu_time(), machine_idle_s()};
}

void add_use(nlohmann::ordered_json& json, const ResourceUse& before, const ResourceUse& now,
             double excluded_user_s) {
  const double user_s = std::max(0.0, now.cpu.user_s - before.cpu.user_s - excluded_user_s);
  const double system_s = now.cpu.system_s - before.cpu.system_s;
  json["cpu_s"] = user_s + system_s;
  json["cpu_user_s"] = user_s;
  json["cpu_system_s"] = system_s;
  if (!now.idle_s || !before.idle_s) return;
  const double all_s = static_cast<double>(machine_cores()) * (now.time_s - before.time_s);
  json["machine_idle"] = std::clamp((*now.idle_s - *before.idle_s) / all_s, 0.0, 1.0);
}

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
