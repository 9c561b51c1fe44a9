// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Estimates the clock of another machine from time stamps sent in both directions.
///
/// A stamp sent at local time c and received at server time s is an upper bound: server time minus local time
/// is at most s - c, because the delay is not negative. A stamp in the other direction is a lower bound. The
/// estimate is the middle of the tightest bounds of the last ten seconds. This combines the fastest delays of
/// both directions into the smallest round trip. If the smallest delays of both directions differ, half the
/// difference remains as an error, which cannot be measured over one path (D. Mills, NTP, RFC 5905, section
/// 4).
///
/// The clock that callers read is slewed: it runs at 98 % to 102 % of the local clock's speed. It steps only
/// when it is wrong by more than 250 ms.
class RECKONER_NET_API ClockSync {
 public:
  /// Adds one exchange: a stamp sent at local time `sent_local_s` and received at server time
  /// `received_server_s`, and the answer sent at server time `answered_server_s` and received at local time
  /// `answer_local_s`, all in s. An exchange with a negative round trip is ignored.
  void add_exchange(double sent_local_s, double received_server_s, double answered_server_s,
                    double answer_local_s);

  /// Adds a one-way stamp, sent at server time `sent_server_s` and received at local time `received_local_s`,
  /// in s.
  void add_arrival(double sent_server_s, double received_local_s);

  /// Advances the slewed clock to `local_s`; an earlier time is ignored. Returns true if the clock stepped,
  /// so that the caller can blend over the step.
  bool advance(double local_s);

  /// True once both directions were measured.
  [[nodiscard]] bool known() const { return started_; }

  /// Server time at `local_s` by the slewed clock, s. Requires known().
  [[nodiscard]] double server_time_s(double local_s) const;

  /// Smallest round trip of the last ten seconds, s; nullopt before the first exchange.
  [[nodiscard]] std::optional<double> round_trip_s() const;

 private:
  // Bounds of server time minus local time, measured within one stretch of local time.
  struct Stretch {
    std::int64_t number = -1;
    double upper_s = 0.0;  // smallest of the stamps to the server
    double lower_s = 0.0;  // largest of the stamps from the server
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
