// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace reckoner::harness::football {

/// What the six players of a run saw, for one method. The figures pool all players. Pictures within 0.7 s after a
/// kick-off are left out of errors and steps. Empty: it does not exist for the method.
struct FootballFigures {
  std::string method;
  std::size_t pictures = 0;
  Distribution own_response_frames;  ///< pictures from a change of the keys to the first that shows it; 0: the same
  /// p99 of the change of velocity between pictures, shown / true, from the tick of a correction until 0.5 s
  /// after the correction.
  std::optional<double> own_velocity_step_ratio_p99;
  double own_velocity_step_ratio_all_p99 = 0.0;  ///< over all pictures
  /// Largest change of the distance between what is shown and the predicted path, beyond its own speed, m.
  std::optional<double> own_position_step_m_max;
  Distribution own_error_m;   ///< to the server's path at the shown time
  /// Largest distance to the predicted path, 0.25 s after a correction and later, m.
  std::optional<double> own_offset_left_m_max;
  double own_excess_acceleration_mps2 = 0.0;  ///< RMS of the second difference of shown - true
  /// RMS of the second difference of shown - predicted path: what the display of corrections adds.
  std::optional<double> correction_acceleration_mps2;
  std::optional<double> correction_acceleration_to_snap;  ///< share of the same with snapping corrections
  double corrections_per_minute = 0.0;                    ///< per client
  double corrections_input_missing_per_minute = 0.0;
  double corrections_differs_per_minute = 0.0;
  double corrections_teleported_per_minute = 0.0;
  std::optional<double> ticks_without_input_share;
  Distribution lead_s;
  Distribution ball_error_m;         ///< at the ball's shown time
  Distribution ball_error_at_own_m;  ///< what is shown of the ball, against the true ball at the own car's time
  Distribution others_error_m;         ///< at the others' shown time
  Distribution others_error_at_own_m;  ///< against the true cars at the own car's time
  std::uint64_t contacts_seen = 0;     ///< contacts of the own car that its game computed
  std::optional<double> contacts_denied_share;       ///< share of those that the server does not have within 0.25 s
  std::optional<double> ball_contacts_denied_share;  ///< the same, only with the ball
  std::optional<double> car_contacts_denied_share;   ///< the same, only with cars
  double up_bytes_per_s = 0.0;    ///< per client: payloads of all datagrams, without headers
  double down_bytes_per_s = 0.0;  ///< per client: payloads of all datagrams, without headers; all entities
  double up_wire_bytes_per_s = 0.0, down_wire_bytes_per_s = 0.0;  ///< with headers
};

[[nodiscard]] nlohmann::ordered_json to_json(const FootballFigures& figures);

}  // namespace reckoner::harness::football
