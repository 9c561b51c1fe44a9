// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Detects that a clock was set, stood still or runs at another rate, from the bounds of its offset to a
/// remote clock (ClockSync).
///
/// A clock that falls behind raises the lower and the upper bound by the same amount, and a clock that runs
/// fast lowers both. A change of the connection's delay never does this: it moves one bound, or moves them
/// apart or together. So the smaller of the two movements is a change of the clock. Random delays cannot
/// imitate it, because no datagram is faster than the connection. If a new lower bound is greater than an
/// older upper bound, the clock has certainly changed.
///
/// The remote clock gives the time of each bound, because the local clock may stand still.
class RECKONER_NET_API ClockChangeDetector {
 public:
  /// A bound of the offset, which is remote time minus local time.
  struct Bound {
    double remote_s = 0.0;  ///< remote time of the measurement
    double local_s = 0.0;   ///< local time of the measurement
    double offset_s = 0.0;  ///< the bound
  };

  /// A change of the local clock.
  struct Change {
    double since_s = 0.0;  ///< remote time at which it began; earlier bounds do not apply any more
    /// Growth of the offset since then, in seconds per second of remote time: 1 if the local clock stands
    /// still. 0: the local clock was set.
    double drift = 0.0;
    /// The clock probably runs at another rate, which is not known yet. Do not forget earlier bounds.
    bool is_provisional = false;
    /// Growth of the offset in the last moments. It may be far from the truth. After a step it is about 0.
    double rough_drift = 0.0;
    double noise_s = 0.0;  ///< typical random delay of the connection, s
  };

  /// Add a bound. A lower bound comes from a time stamp that the remote clock made at `remote_s`, an upper
  /// bound from a time stamp of the local clock that arrived at `remote_s`.
  void add_lower(const Bound& bound);
  void add_upper(const Bound& bound);

  /// Sets the round trip. If the local clock changes, time stamps that are in flight in the two directions
  /// show it at remote times that differ by the round trip. So it is subtracted from the times of upper
  /// bounds.
  void set_round_trip(double round_trip_s) { round_trip_s_ = round_trip_s; }

  /// True if find() may find something new.
  [[nodiscard]] bool due() const { return newest_ != searched_ || contradicts_; }

  /// Searches for a change of the offset by more than `tolerance_s`. Bounds may be wrong by `quantum_s`,
  /// because the local side reads its datagrams at these intervals.
  [[nodiscard]] std::optional<Change> find(double tolerance_s, double quantum_s);

  /// How fast the offset grows, in seconds per second of remote time, by all bounds since the last change. 0
  /// if it may not grow. This is more precise than find(), but needs more than a second. A connection whose
  /// delay changes may look like it, so use it only for a clock that is known to be wrong.
  [[nodiscard]] double drift() const;

  /// Remote time of the newest lower bound, s. Nullopt if there is none since the last change.
  [[nodiscard]] std::optional<double> newest_lower_s() const;

  /// Removes all bounds that were measured before `remote_s`.
  void forget_before(double remote_s);

  /// The local clock is corrected at local time `local_s`: it runs `factor` times as fast from now on.
  /// Converts all bounds, as if it had always run at this rate.
  void rescale(double factor, double local_s);

  static constexpr std::size_t kBins = 128;

  /// The bounds of one direction, oldest first.
  struct Bounds {
    std::array<Bound, kBins> items;
    std::size_t count = 0;
    [[nodiscard]] std::span<const Bound> all() const { return std::span(items).first(count); }
  };
  /// Assumes bounds of the present offset, because a direction has none since the last change.
  void assume_lower(double offset_s) { assumed_lower_s_ = offset_s; }
  void assume_upper(double offset_s) { assumed_upper_s_ = offset_s; }

  /// Returns the best bounds of each sixteenth of a second since `since_s`. The round trip is subtracted
  /// already.
  void collect(Bounds& lower, Bounds& upper, double since_s = -std::numeric_limits<double>::infinity()) const;

 private:
  static constexpr double kBinS = 1.0 / 16.0;
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

  struct Bin {
    std::int64_t number = kNone;
    Bound lower;
    Bound upper;
    bool has_lower = false;
    bool has_upper = false;
  };

  Bin* bin_at(double remote_s);

  std::array<Bin, kBins> bins_{};
  std::int64_t newest_ = kNone;
  std::int64_t searched_ = kNone;  // newest bin at the last search
  double round_trip_s_ = 0.0;
  double assumed_lower_s_ = -std::numeric_limits<double>::infinity();
  double assumed_upper_s_ = std::numeric_limits<double>::infinity();
  bool contradicts_ = false;                                      // a bound contradicts earlier ones
  double tolerance_s_ = std::numeric_limits<double>::infinity();  // of the last search
  // Results of the last search:
  double largest_lower_s_ = -std::numeric_limits<double>::infinity();
  double smallest_upper_s_ = std::numeric_limits<double>::infinity();
};

}  // namespace reckoner
