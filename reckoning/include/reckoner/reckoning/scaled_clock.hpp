// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Game time as a function of real time, for slow motion, fast motion, a world that stands still, and
/// replays: call server and clients with what it gives instead of real time. Game time is continuous, never
/// goes back, and changes its pace without a jump: what is shown is continuous in position and velocity
/// against real time too.
///
/// All that is shown, sent and predicted runs in game time, velocities included (m per second of game time;
/// times scale_at() per second of real time). The server and its clients must change pace together: say
/// ahead, in a reliable message, from which server time on, and let each client do it when
/// Client::server_time_s() comes there. What they differ by all the same, a client takes for an error of its
/// clock and works off at 2 %. One client alone cannot run slowly in a world that does not, other than by
/// playing back what was recorded.
///
/// A plain value, no clock by itself: the members say what has been asked of it. Times in s.
struct RECKONER_RECKONING_API ScaledClock {
  static constexpr double kMostScale = 100.0;  ///< the fastest pace
  /// How long a change of pace takes by default, s of real time: too short to wait for, too long for a jerk.
  static constexpr double kEaseS = 0.25;

  double real_s = 0.0;      ///< when the newest change began, real time
  double game_s = 0.0;      ///< game time then
  double scale = 1.0;       ///< game seconds per real second then
  double next_scale = 1.0;  ///< and after the change
  double ease_s = 0.0;      ///< how long it takes, s of real time

  /// Goes over to another pace from `now_s` (real time) on, evenly in `over_s`; 0: at once, with a jump in
  /// velocity. 0 stands still. False, and no change, for a pace outside 0 to kMostScale, and for times that
  /// are none.
  bool set_scale(double to, double now_s, double over_s = kEaseS);

  /// Game time at a real time. What lies before the newest change is taken to have run at the pace from which
  /// it set out.
  [[nodiscard]] double at(double now_s) const;

  /// Game seconds per real second at a real time.
  [[nodiscard]] double scale_at(double now_s) const;

  /// When game time will be `wanted_s`, in real time: to sleep until a tick. Infinity if it stands still
  /// before; the beginning of the newest change for what lies before that.
  [[nodiscard]] double real_time_of(double wanted_s) const;
};

}  // namespace reckoner
