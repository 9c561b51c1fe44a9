// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/clock_change.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Estimates the clock of another machine from time stamps sent in both directions.
///
/// The unknown offset is server time minus local time. A time stamp that is sent at local time c and received
/// at server time s gives an upper bound: the offset is at most s - c, because the delay is not negative. A
/// time stamp in the other direction gives a lower bound. The estimate is the middle between the smallest
/// upper bound and the largest lower bound of the last ten seconds. These two bounds come from the shortest
/// delay in each direction. If the shortest delays of the two directions differ, the estimate has an error of
/// half the difference. No measurement over one path can find this error (D. Mills, NTP, RFC 5905, section
/// 4).
///
/// Callers read a slewed clock, which approaches the estimate slowly. It runs at 98 % to 102 % of the local
/// clock's speed. It steps if its error is greater than 250 ms, or after review() has found that the local
/// clock was set or runs at another rate.
class RECKONER_NET_API ClockSync {
 public:
  /// Adds one exchange of time stamps. The request was sent at local time `sent_local_s` and received at
  /// server time `received_server_s`. The answer was sent at server time `answered_server_s` and received at
  /// local time `answer_local_s`. All times are in s. An exchange with a negative round trip is ignored.
  void add_exchange(double sent_local_s, double received_server_s, double answered_server_s,
                    double answer_local_s);

  /// Adds a time stamp from the server without an exchange. It was sent at server time `sent_server_s` and
  /// received at local time `received_local_s`, both in s.
  void add_arrival(double sent_server_s, double received_local_s);

  /// Call it for a time stamp that waited for an unknown time while the program did not run. It proves that
  /// time has passed, and that the local clock was not set.
  void note_waited(double sent_server_s);

  /// Advances the slewed clock to local time `local_s`, s. Does nothing if `local_s` is not later than in the
  /// last call, unless review() has found a step. Returns true if the clock stepped, so that the caller can
  /// hide the step.
  bool advance(double local_s);

  /// Searches for changes of the local clock: it was set, stood still, or runs at another rate than the
  /// server's. Call it when all arrivals until local time `local_s` were added. Ticks of the server are
  /// `tick_s` apart, s. `rate` is the present correction of the local clock: local times are those of the
  /// game's clock times this number.
  ///
  /// The caller must multiply that correction by the result's `factor`, for all local times after `local_s`.
  /// The corrected rate stays between 1 / kMostRate and kMostRate.
  struct Review {
    double factor = 1.0;    ///< 1 in most calls
    bool changed = false;   ///< the local clock has changed: more time stamps are needed to know it again
    double set_by_s = 0.0;  ///< the local clock was set forward by this, s; server time did not follow it
  };
  [[nodiscard]] Review review(double local_s, double tick_s, double rate);

  static constexpr double kSlew = 0.02;     ///< fraction of the local clock's speed; players do not see it
  static constexpr double kMostRate = 7.0;  ///< the largest correction of a clock's rate

  /// Returns true after the first advance() for which time stamps from both directions were known.
  [[nodiscard]] bool known() const { return started_; }

  /// Returns the server time at local time `local_s` by the slewed clock, s. Call it only if known() is true.
  [[nodiscard]] double server_time_s(double local_s) const;

  /// Returns the smallest round trip of the last ten seconds, s. Returns nullopt if there was no exchange in
  /// this time.
  [[nodiscard]] std::optional<double> round_trip_s() const;

 private:
  // Local time may be below zero, so every other number may be that of a stretch.
  static constexpr std::int64_t kNoStretch = std::numeric_limits<std::int64_t>::min();
  // Bounds of the offset from the time stamps of one stretch of local time. A stretch lasts kStretchS.
  struct Stretch {
    std::int64_t number = kNoStretch;
    double upper_s = 0.0;  // smallest upper bound, from time stamps to the server
    double lower_s = 0.0;  // largest lower bound, from time stamps from the server
    bool has_upper = false;
    bool has_lower = false;
  };
  static constexpr std::size_t kStretches = 20;
  static constexpr double kStretchS = 0.5;

  struct Bounds {
    std::optional<double> upper_s;
    std::optional<double> lower_s;
  };

  Stretch& stretch_at(double local_s);
  [[nodiscard]] Bounds bounds() const;
  [[nodiscard]] static double factor_for(double drift, double rate);
  [[nodiscard]] static double provisional_factor(double rough_drift, double rate);
  [[nodiscard]] double sudden_s() const;
  [[nodiscard]] std::optional<double> corrected(double sent_local_s) const;
  [[nodiscard]] ClockChangeDetector::Change set_at_doubt(const ClockChangeDetector::Change& change) const;
  void refine();
  void rebuild(double since_s);
  void make_up(double by_s);
  void keep_near_newest(double local_s);
  void doubt(double elapsed_s);
  void confirm(double sent_server_s, double received_local_s);

  std::array<Stretch, kStretches> stretches_{};
  std::int64_t newest_stretch_ = kNoStretch;
  bool started_ = false;
  double offset_s_ = 0.0;  // slewed server time minus local time, at advanced_local_s_
  double advanced_local_s_ = 0.0;
  // Local time that passed in one step and that no arrival has confirmed, s, and when this step ended.
  double doubted_s_ = 0.0;
  double doubted_local_s_ = 0.0;
  double stood_s_ = 0.0;  // by how much the slewed clock stepped while local time stood still, s

  ClockChangeDetector changes_;
  double slew_ = kSlew;
  std::optional<double> step_from_s_;  // after a change was found: step if the error is greater than this, s
  std::optional<double> sure_from_s_;  // server time from which on bounds certainly are of the changed clock
  double usual_round_trip_s_ = 0.0;
  double review_gap_s_ = 0.0;  // usual time between two calls of review(), without pauses, s
  double usual_gap_s_ = 0.0;   // the same, but of programs that call it seldom, too
  double reviewed_local_s_ = -std::numeric_limits<double>::infinity();
  // The newest two changes of the local clock's rate: when they were made, and the factor of the newest.
  double rate_since_s_ = -std::numeric_limits<double>::infinity();
  double earlier_rate_since_s_ = -std::numeric_limits<double>::infinity();
  double factor_ = 1.0;
  double rate_ = 1.0;  // correction of the local clock's rate
};

}  // namespace reckoner
