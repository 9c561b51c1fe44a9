// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Converts real time to game time, for slow motion, fast motion, a paused world and replays. Pass the game
/// time of this clock to the server and the clients instead of real time. Game time is continuous and never
/// runs backwards. The scale changes without a jump, so the shown positions and velocities are continuous in
/// real time, too.
///
/// The whole library runs in game time. Velocities are in metres per second of game time; multiply by
/// scale_at() for metres per second of real time. The server and its clients must change the scale together:
/// before the change, announce its server time in a reliable message. Each client then changes its scale when
/// Client::server_time_s() reaches that time. If the client's game time then still differs, the client treats
/// the difference as an error of its clock and corrects it. A single client cannot run slower than the world:
/// it notices within a second that its clock is slow, and shows the world at the world's speed all the same.
/// Only a recording can be played at another speed.
///
/// A plain value. It reads no clock; the caller passes the time. Its members describe the newest change of
/// the scale. Times are in s.
struct RECKONER_RECKONING_API ScaledClock {
  static constexpr double kMaxScale = 100.0;  ///< the largest scale
  /// Default duration of a scale change, s of real time. It is short enough that players do not have to wait,
  /// and long enough to look smooth.
  static constexpr double kEaseS = 0.25;

  double real_s = 0.0;      ///< real time at which the newest change began
  double game_s = 0.0;      ///< game time at `real_s`
  double scale = 1.0;       ///< game seconds per real second at `real_s`
  double next_scale = 1.0;  ///< game seconds per real second after the change
  double ease_s = 0.0;      ///< duration of the change, s of real time

  /// Changes the scale to `to` (game seconds per real second). The change begins at `now_s` (real time). The
  /// scale changes linearly over `over_s` seconds of real time. With `over_s` 0 it changes at once, and shown
  /// velocities jump. A scale of 0 stops game time. Returns false and changes nothing if `to` is outside 0 to
  /// kMaxScale, if `now_s` or `over_s` is not finite or beyond +-1e13 s, or if `over_s` is negative.
  bool set_scale(double to, double now_s, double over_s = kEaseS);

  /// Game time at the real time `now_s`. For times before the newest change the clock assumes the scale at
  /// the beginning of that change.
  [[nodiscard]] double at(double now_s) const;

  /// Game seconds per real second at the real time `now_s`.
  [[nodiscard]] double scale_at(double now_s) const;

  /// The real time at which game time reaches `wanted_s`. Use it to sleep until a tick. Returns infinity if
  /// game time stops before `wanted_s`. If `wanted_s` is before the newest change of the scale, returns the
  /// time at which that change began.
  [[nodiscard]] double real_time_of(double wanted_s) const;
};

}  // namespace reckoner
