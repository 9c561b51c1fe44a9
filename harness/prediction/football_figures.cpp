// SPDX-License-Identifier: MIT
#include "harness/prediction/football_figures.hpp"

namespace reckoner::harness::football {
namespace {

nlohmann::ordered_json spread(const Distribution& d) {
  return {{"mean", d.mean}, {"p50", d.p50}, {"p95", d.p95}, {"p99", d.p99}, {"max", d.max}};
}
nlohmann::ordered_json value(const std::optional<double>& v) {
  return v ? nlohmann::ordered_json(*v) : nlohmann::ordered_json(nullptr);
}

}  // namespace

nlohmann::ordered_json to_json(const FootballFigures& f) {
  return {{"method", f.method},
          {"pictures", f.pictures},
          {"own_response_frames", spread(f.own_response_frames)},
          {"own_velocity_step_ratio_p99", value(f.own_velocity_step_ratio_p99)},
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
          {"lead_s", f.lead_s.count > 0 ? spread(f.lead_s) : nlohmann::ordered_json(nullptr)},
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
          {"up_wire_bytes_per_s", f.up_wire_bytes_per_s},
          {"down_wire_bytes_per_s", f.down_wire_bytes_per_s}};
}

}  // namespace reckoner::harness::football
