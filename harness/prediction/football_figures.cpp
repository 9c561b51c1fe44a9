// SPDX-License-Identifier: MIT
#include "harness/prediction/football_figures.hpp"

#include <fmt/format.h>

namespace reckoner::harness::football {
namespace {

using Json = nlohmann::ordered_json;

Json spread(const Distribution& d) {
  if (d.count == 0) return nullptr;
  return {{"mean", d.mean}, {"p50", d.p50}, {"p95", d.p95}, {"p99", d.p99}, {"max", d.max}};
}
Json spread(const std::optional<Distribution>& d) {
  return d ? spread(*d) : Json(nullptr);
}
Json value(const std::optional<double>& v) {
  return v ? Json(*v) : Json(nullptr);
}

// A line of the table: a number in the JSON, times `unit`.
struct Line {
  const char* text;
  const char* pointer;
  int decimals;
  double unit = 1.0;
};
constexpr Line kLines[] = {
    {"own car answers after, pictures, p50", "/own_response_frames/p50", 0},
    {"  p99", "/own_response_frames/p99", 0},
    {"velocity steps, shown / true, p99", "/own_velocity_step_ratio_p99", 2},
    {"largest position step, cm", "/own_position_step_m_max", 1, 100.0},
    {"error to the server's path, cm, p50", "/own_error_m/p50", 1, 100.0},
    {"  p95", "/own_error_m/p95", 1, 100.0},
    {"error left after 0.25 s, cm, max", "/own_offset_left_m_max", 1, 100.0},
    {"excess acceleration, m/s^2", "/own_excess_acceleration_mps2", 1},
    {"  of corrections, / snapping", "/correction_acceleration_to_snap", 3},
    {"corrections per minute", "/corrections_per_minute", 1},
    {"ticks without input, %", "/ticks_without_input_share", 2, 100.0},
    {"lead, ms, mean", "/lead_s/mean", 0, 1000.0},
    {"  p99", "/lead_s/p99", 0, 1000.0},
    {"error of the ball, cm, p95", "/ball_error_m/p95", 1, 100.0},
    {"error of others' cars, cm, p95", "/others_error_m/p95", 1, 100.0},
    {"  at the own car's time", "/others_error_at_own_m/p95", 1, 100.0},
    {"contacts shown", "/contacts_seen", 0},
    {"  that the server denies, %", "/contacts_denied_share", 1, 100.0},
    {"  with cars, %", "/car_contacts_denied_share", 1, 100.0},
    {"bytes a second up", "/up_bytes_per_s", 0},
    {"bytes a second down", "/down_bytes_per_s", 0},
};

}  // namespace

Json figures_json(const FootballFigures& f) {
  return {{"method", f.method},
          {"pictures", f.pictures},
          {"own_response_frames", spread(f.own_response_frames)},
          {"own_velocity_step_ratio_p99", f.own_velocity_step_ratio_p99},
          {"own_velocity_step_ratio_all_p99", f.own_velocity_step_ratio_all_p99},
          {"own_position_step_m_max", value(f.own_position_step_m_max)},
          {"own_error_m", spread(f.own_error_m)},
          {"own_offset_left_m_max", value(f.own_offset_left_m_max)},
          {"own_excess_acceleration_mps2", f.own_excess_acceleration_mps2},
          {"correction_acceleration_mps2", value(f.correction_acceleration_mps2)},
          {"correction_acceleration_to_snap", value(f.correction_acceleration_to_snap)},
          {"corrections_per_minute", f.corrections_per_minute},
          {"corrections_input_missing_per_minute", f.corrections_input_missing_per_minute},
          {"corrections_differs_per_minute", f.corrections_differs_per_minute},
          {"corrections_teleported_per_minute", f.corrections_teleported_per_minute},
          {"ticks_without_input_share", value(f.ticks_without_input_share)},
          {"lead_s", spread(f.lead_s)},
          {"ball_error_m", spread(f.ball_error_m)},
          {"ball_error_at_own_m", spread(f.ball_error_at_own_m)},
          {"others_error_m", spread(f.others_error_m)},
          {"others_error_at_own_m", spread(f.others_error_at_own_m)},
          {"contacts_seen", f.contacts_seen},
          {"contacts_denied_share", value(f.contacts_denied_share)},
          {"ball_contacts_denied_share", value(f.ball_contacts_denied_share)},
          {"car_contacts_denied_share", value(f.car_contacts_denied_share)},
          {"up_bytes_per_s", f.up_bytes_per_s},
          {"down_bytes_per_s", f.down_bytes_per_s},
          {"up_payload_bytes_per_s", f.up_payload_bytes_per_s},
          {"down_payload_bytes_per_s", f.down_payload_bytes_per_s},
          {"up_wire_bytes_per_s", f.up_wire_bytes_per_s},
          {"down_wire_bytes_per_s", f.down_wire_bytes_per_s}};
}

std::string football_table(const std::vector<FootballFigures>& methods) {
  constexpr int kWide = 17;
  std::string text = fmt::format("{:<38}", "");
  std::vector<Json> all;
  for (const FootballFigures& one : methods) {
    text += fmt::format("{:>{}}", one.method, kWide);
    all.push_back(figures_json(one));
  }
  for (const Line& line : kLines) {
    text += fmt::format("\n{:<38}", line.text);
    for (const Json& one : all) {
      const Json::json_pointer where(line.pointer);
      const bool known = one.contains(where) && one[where].is_number();
      const std::string cell =
          known ? fmt::format("{:.{}f}", line.unit * one[where].get<double>(), line.decimals) : "-";
      text += fmt::format("{:>{}}", cell, kWide);
    }
  }
  return text + '\n';
}

}  // namespace reckoner::harness::football
