// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace reckoner::harness::football {

/// What the players of a game saw, for one method, all players together. Pictures within 0.7 s after a
/// kick-off are left out of errors and steps. Empty: the figure does not exist for the method.
struct FootballFigures {
  std::string method;
  std::size_t pictures = 0;
  /// Pictures from the one for which the keys changed to the first that shows it; 0: the same picture.
  Distribution own_response_frames;
  /// p99 of the change of the own car's velocity from one picture to the next, shown / true, from the tick of
  /// a correction until 0.5 s after the correction. Over all pictures if there was no correction.
  double own_velocity_step_ratio_p99 = 0.0;
  double own_velocity_step_ratio_all_p99 = 0.0;  ///< over all pictures
  /// Largest change of the distance between the shown car and its predicted path that its velocity does not
  /// explain, m: a jump. Without those at teleports.
  std::optional<double> own_position_step_m_max;
  Distribution own_error_m;  ///< distance of the shown car to the server's path at the shown time
  /// Largest distance of the shown car to its predicted path, 0.25 s after a correction and later, m.
  std::optional<double> own_offset_left_m_max;
  double own_excess_acceleration_mps2 = 0.0;  ///< RMS of the second difference of shown - true position
  /// RMS of the second difference of shown position - predicted path: what the display of corrections adds.
  std::optional<double> correction_acceleration_mps2;
  /// correction_acceleration_mps2 / that with snapping corrections.
  std::optional<double> correction_acceleration_to_snap;
  double corrections_per_minute = 0.0;  ///< for each client
  double corrections_input_missing_per_minute = 0.0;
  double corrections_differs_per_minute = 0.0;
  double corrections_teleported_per_minute = 0.0;
  /// Share of the server's ticks for which a client's input was not there in time.
  std::optional<double> ticks_without_input_share;
  std::optional<Distribution> lead_s;  ///< ClientStats::input_lead_s
  Distribution ball_error_m;           ///< shown ball to the true ball at the shown time
  Distribution ball_error_at_own_m;    ///< shown ball to the true ball at the shown time of the own car
  Distribution others_error_m;         ///< others' cars, at their shown time
  Distribution others_error_at_own_m;  ///< others' cars, at the shown time of the own car
  /// Contacts of the own car that the player's game has shown: those that it stepped first, without replays.
  std::uint64_t contacts_seen = 0;
  std::optional<double> contacts_denied_share;  ///< share that the server's game does not have within 0.25 s
  std::optional<double> ball_contacts_denied_share;  ///< only contacts with the ball
  std::optional<double> car_contacts_denied_share;   ///< only contacts with cars
  /// For each client: what its datagrams carry behind their heads. With prediction: inputs and results.
  double up_bytes_per_s = 0.0;
  /// For each client: what the server sends about its own car and the ball. With prediction: reports about
  /// inputs, and corrections.
  double down_bytes_per_s = 0.0;
  double up_payload_bytes_per_s = 0.0;    ///< for each client: payloads of all datagrams, without headers
  double down_payload_bytes_per_s = 0.0;  ///< the same to the client, about all entities
  double up_wire_bytes_per_s = 0.0;       ///< with the headers of the transport `enet`, UDP and IPv4
  double down_wire_bytes_per_s = 0.0;
};

/// The figures as JSON. The names and their order are part of the harness's interface.
[[nodiscard]] nlohmann::ordered_json figures_json(const FootballFigures& figures);

/// The most important figures as text: a line for each figure, a column for each method.
[[nodiscard]] std::string football_table(const std::vector<FootballFigures>& methods);

}  // namespace reckoner::harness::football
