// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Statistics of one coded field over all residuals of a run.
struct FieldFigures {
  std::string_view name;         ///< name of the field, for reports
  double bits_per_update = 0.0;  ///< mean bits per residual update
  /// Order-0 entropy of the field's residuals over the whole run, in bits per residual update.
  double entropy_per_update = 0.0;
};

/// Sizes of a run's free motions on the wire. Means are over updates. Motions on routes are not included.
struct CodingFigures {
  std::uint64_t full_updates = 0;          ///< motions sent in full
  std::uint64_t residual_updates = 0;      ///< motions sent as a difference from an earlier motion
  double bytes_with_orientation = 0.0;     ///< mean payload of an update with an orientation: head and motion
  double bytes_without_orientation = 0.0;  ///< mean payload of an update if it had no orientation
  double head_bits = 0.0;                  ///< mean head of an update: slot, age, level, baseline
  double coding_mode_bits = 0.0;           ///< mean coding mode of a residual
  double full_bits = 0.0;                  ///< mean size of a motion sent in full
  double residual_bits = 0.0;              ///< mean size of a motion sent as a residual
  /// Number of coded fields, and one entry for the flags.
  static constexpr std::size_t kFields = kCodeFields + 1;
  /// The last entry counts the flags "everything else is as forecast".
  std::array<FieldFigures, kFields> fields{};
  double gap_percent = 0.0;  ///< bits of the fields above their entropy, % of the entropy
  std::string fitted_codes;  ///< Archetype::codes that would have needed the fewest bits
};

/// Measures the parts of updates by encoding them again. For measurements, not for a live server. Not
/// thread-safe.
class RECKONER_NET_API CodingStatistics {
 public:
  /// Records an update of `bits` bits, including its head. `state` was sent in full (`baseline` null) or
  /// against `baseline`, which is `dt_s` older.
  void add(const QuantisedState& state, const QuantisedState* baseline, double dt_s,
           const Quantisation& quantisation, std::size_t bits);

  /// Statistics of all recorded updates.
  [[nodiscard]] CodingFigures figures() const;

 private:
  // The rules of the prefix codes that would have needed the fewest bits for the recorded residuals.
  [[nodiscard]] std::array<OrderRule, kCodeFields> fitted_orders() const;

  struct Field {
    double bits = 0.0;
    std::map<std::int64_t, std::uint64_t> residuals;  // residual -> number of occurrences
    // size class of the expected residual, and the residual -> number of occurrences
    std::map<std::pair<unsigned, std::int64_t>, std::uint64_t> by_class;
  };

  std::uint64_t full_ = 0;
  std::uint64_t residual_ = 0;
  std::uint64_t oriented_ = 0;
  double bits_oriented_ = 0.0;
  double bits_without_ = 0.0;
  double head_bits_ = 0.0;
  double coding_mode_bits_ = 0.0;
  double full_bits_ = 0.0;
  double residual_bits_ = 0.0;
  std::array<Field, CodingFigures::kFields> fields_;
};

}  // namespace reckoner
