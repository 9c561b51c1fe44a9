// SPDX-License-Identifier: MIT
#include "harness/metrics/figures.hpp"

#include "harness/metrics/figures_json.hpp"
#include "reckoning/src/statistics/quantile.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner::harness {
namespace {

using Json = nlohmann::ordered_json;

Json error_json(const Distribution& d) {
  return Json{{"rms", d.rms}, {"p50", d.p50}, {"p95", d.p95}, {"p99", d.p99}, {"max", d.max}};
}

void add_traffic(Json& json, const Traffic& traffic, double entity_seconds, const std::string& suffix) {
  const double per = entity_seconds > 0.0 ? 1.0 / entity_seconds : 0.0;
  json["updates_per_s" + suffix] = per * static_cast<double>(traffic.updates);
  json["payload_bytes_per_s" + suffix] = per * static_cast<double>(traffic.payload_bytes);
  json["wire_bytes_per_s" + suffix] = per * static_cast<double>(traffic.wire_bytes);
}

Json step_json(const Distribution& d) {
  return Json{{"p95", d.p95}, {"p99", d.p99}, {"max", d.max}};
}

void add_frames(Json& json, const FrameFigures& f) {
  json["frame_entity_seconds"] = f.frame_s;
  json["frame_rest_error_m"] = error_json(f.frame_rest_error_m);
  json["frame_walk_error_m"] = error_json(f.frame_walk_error_m);
  json["firm_rest_error_m"] = error_json(f.firm_rest_error_m);
  json["firm_walk_error_m"] = error_json(f.firm_walk_error_m);
  json["frame_changes"] = f.frame_changes;
  json["frame_switch_velocity_step_mps"] = step_json(f.frame_switch_velocity_step_mps);
  json["frame_change_velocity_step_mps"] = step_json(f.frame_change_velocity_step_mps);
  json["other_velocity_step_mps"] = step_json(f.other_velocity_step_mps);
  json["poses_without_frame"] = f.without_frame;
}

}  // namespace

double percentile(std::span<const double> sorted, double fraction) {
  if (sorted.empty()) return 0.0;
  const double at = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double updates_per_s(const Figures& figures) {
  if (!figures.down || figures.entity_seconds <= 0.0) return 0.0;
  return static_cast<double>(figures.down->updates) / figures.entity_seconds;
}

double payload_bits_per_body_frame(const Figures& figures) {
  const double body_frames = figures.entity_seconds * figures.tick_rate_hz;
  if (!figures.down || body_frames <= 0.0) return 0.0;
  return 8.0 * static_cast<double>(figures.down->payload_bytes) / body_frames;
}

double upper_median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  return nth_value(values, values.size() / 2);
}

Distribution describe(std::vector<double> samples) {
  Distribution result;
  if (samples.empty()) return result;
  std::sort(samples.begin(), samples.end());
  double sum = 0.0;
  double squares = 0.0;
  for (const double sample : samples) {
    sum += sample;
    squares += sample * sample;
  }
  const auto count = static_cast<double>(samples.size());
  result.count = samples.size();
  result.mean = sum / count;
  result.rms = std::sqrt(squares / count);
  result.p50 = percentile(samples, 0.50);
  result.p95 = percentile(samples, 0.95);
  result.p99 = percentile(samples, 0.99);
  result.max = samples.back();
  return result;
}

Json figures_json(const Figures& figures) {
  Json json;
  // An entity that was never shown has no error.
  const auto measured_json = [&](const Distribution& d) {
    const bool hidden = figures.frames.expected > 0 && figures.frames.counted == 0;
    return hidden ? Json(nullptr) : error_json(d);
  };
  json["now_error_m"] = measured_json(figures.now_error_m);
  json["shown_error_m"] = measured_json(figures.shown_error_m);
  if (figures.angle_error_rad) json["angle_error_rad"] = measured_json(*figures.angle_error_rad);
  if (figures.shown_angle_error_rad)
    json["shown_angle_error_rad"] = measured_json(*figures.shown_angle_error_rad);
  json["excess_acceleration_mps2"] = figures.excess_acceleration_mps2;
  json["velocity_step_mps"] = {{"p99", figures.velocity_step_mps.p99},
                               {"max", figures.velocity_step_mps.max},
                               {"shown_p99", figures.shown_change_mps.p99},
                               {"true_p99", figures.true_change_mps.p99}};
  json["pops_per_s"] = figures.pops_per_s;
  if (figures.down) add_traffic(json, *figures.down, figures.entity_seconds, "");
  if (figures.tick_rate_hz > 0.0) json["payload_bits_per_body_frame"] = payload_bits_per_body_frame(figures);
  if (figures.up) add_traffic(json, *figures.up, figures.entity_seconds, "_up");
  if (figures.updates && figures.entity_seconds > 0.0) {
    json["updates_per_s"] = static_cast<double>(*figures.updates) / figures.entity_seconds;
  }
  json["missing_s"] = figures.missing_s;
  json["ghost_s"] = figures.ghost_s;
  json["delay_ms"] = {{"mean", figures.delay_ms.mean}, {"max", figures.delay_ms.max}};
  json["teleports"] = figures.teleports;
  json["teleport_settle_ms"] = figures.teleport_settle_ms;
  json["between_teleport_frames"] = figures.between_teleport_frames;
  if (figures.clock_error_ms) {
    json["clock_error_ms"] = {{"p95", figures.clock_error_ms->p95}, {"max", figures.clock_error_ms->max}};
  }
  if (figures.seen) {
    json["seen_error_m"] = error_json(figures.seen->seen_error_m);
    json["seen_late_error_m"] = error_json(figures.seen->seen_late_error_m);
    json["seen_unknown_share"] = figures.seen->poses > 0 ? static_cast<double>(figures.seen->unknown) /
                                                               static_cast<double>(figures.seen->poses)
                                                         : 0.0;
    json["shots"] = figures.seen->shots;
  }
  if (figures.owned) {
    const OwnershipStats& s = figures.owned->server;
    json["owned"] = {{"accepted", s.accepted}, {"corrected", s.corrected},
                     {"refused", s.refused},   {"late", s.late},
                     {"ahead", s.ahead},       {"too_many", s.too_many},
                     {"void", s.void_terms},   {"owner_corrections", figures.owned->corrections}};
    if (const auto& speed = figures.owned->rogue_speed_mps) {
      json["rogue_speed_mps"] = {{"p50", speed->p50}, {"p99", speed->p99}, {"max", speed->max}};
    }
    if (const auto& step = figures.owned->rogue_step_mps) {
      json["rogue_step_mps"] = {{"p50", step->p50}, {"p99", step->p99}, {"max", step->max}};
      const Distribution& believed = *figures.owned->rogue_believed_mps;
      json["rogue_believed_mps"] = {{"p50", believed.p50}, {"p99", believed.p99}, {"max", believed.max}};
      json["rogue_limit_mps"] = figures.owned->rogue_limit_mps;
    }
  }
  if (figures.in_frames) add_frames(json, *figures.in_frames);
  json["entity_seconds"] = figures.entity_seconds;
  json["frames"] = {{"expected", figures.frames.expected},
                    {"shown", figures.frames.shown},
                    {"counted", figures.frames.counted},
                    {"excluded", figures.frames.excluded()},
                    {"excluded_run_start", figures.frames.run_start},
                    {"excluded_entity_start", figures.frames.entity_start},
                    {"excluded_teleport", figures.frames.teleport},
                    {"excluded_gap", figures.frames.gap}};
  return json;
}

Json figures_json(const RouteFigures& figures) {
  const auto bytes_per_s = [](std::uint64_t bits, double seconds) {
    return seconds > 0.0 ? static_cast<double>(bits) / 8.0 / seconds : 0.0;
  };
  return {{"route_entity_seconds", figures.route_s},
          {"route_payload_bytes_per_s", bytes_per_s(figures.traffic.route_bits, figures.route_s)},
          {"route_now_error_m", error_json(figures.route_now_error_m)},
          {"route_curve_distance_m", error_json(figures.route_curve_distance_m)},
          {"excursion_entity_seconds", figures.excursion_s},
          {"excursion_payload_bytes_per_s", bytes_per_s(figures.traffic.free_bits, figures.excursion_s)},
          {"excursion_now_error_m", error_json(figures.excursion_now_error_m)}};
}

Json figures_json(const CodingFigures& f) {
  Json fields;
  for (const FieldFigures& field : f.fields) {
    fields[std::string{field.name}] = {{"bits", field.bits_per_update},
                                       {"entropy", field.entropy_per_update}};
  }
  return {{"full_updates", f.full_updates},
          {"residual_updates", f.residual_updates},
          {"payload_bytes_per_update",
           {{"with_orientation", f.bytes_with_orientation},
            {"without_orientation", f.bytes_without_orientation}}},
          {"head_bits", f.head_bits},
          {"coding_mode_bits", f.coding_mode_bits},
          {"full_bits", f.full_bits},
          {"residual_bits", f.residual_bits},
          {"fields", std::move(fields)},
          {"gap_percent", f.gap_percent}};
}

std::string to_json(const Figures& figures) {
  return figures_json(figures).dump(2);
}

}  // namespace reckoner::harness
