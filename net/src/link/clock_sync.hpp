// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Estimates another machine's clock from time stamps that travelled both ways.
///
/// A stamp sent at local time c and taken in at server time s says that server minus local is at most s - c
/// (the way took at least no time); one the other way says that it is at least that. The estimate is the
/// middle of the narrowest bounds of the last ten seconds, which is the sample of the smallest round trip put
/// together from the best halves of all. If one way is longer than the other even at its fastest, half the
/// difference stays as error; nothing on one path can see it (D. Mills, NTP, RFC 5905, section 4).
///
/// What is read from it is slewed: it runs between 98 % and 102 % of the local clock's speed and never steps,
/// except once when it is off by more than 250 ms.
class RECKONER_NET_API ClockSync {
 public:
  /// Adds one exchange: sent at `sent_local_s`, taken in there at `received_server_s`; answered at
  /// `answered_server_s`, taken in here at `answer_local_s`. An exchange with a negative round trip is
  /// ignored.
  void add_exchange(double sent_local_s, double received_server_s, double answered_server_s,
                    double answer_local_s);

  /// Adds a one-way stamp: sent at `sent_server_s`, taken in here at `received_local_s`.
  void add_arrival(double sent_server_s, double received_local_s);

  /// Moves the slewed clock on. `local_s` never goes back (an earlier one is ignored). Returns true if the
  /// clock stepped, so that what is shown can be blended over the step.
  bool advance(double local_s);

  /// True as soon as both ways were measured.
  [[nodiscard]] bool known() const { return started_; }

  /// Server time at `local_s`, by the slewed clock. Only when known().
  [[nodiscard]] double server_time_s(double local_s) const;

  /// Smallest round trip of the last ten seconds, s; nothing before the first exchange.
  [[nodiscard]] std::optional<double> round_trip_s() const;

 private:
  // Bounds on server minus local within one stretch of local time.
  struct Stretch {
    std::int64_t number = -1;
    double upper_s = 0.0;  // smallest s - c on the way up
    double lower_s = 0.0;  // largest on the way down
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

  std::array<Stretch, kStretches> stretches_{};
  std::int64_t newest_stretch_ = -1;
  bool started_ = false;
  double offset_s_ = 0.0;  // of the slewed clock, at advanced_local_s_
  double advanced_local_s_ = 0.0;
};

}  // namespace reckoner
