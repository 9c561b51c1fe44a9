// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/code_parameters.hpp"
#include "net/src/codec/motion_codec.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// One coded field of the residuals of a run.
struct FieldFigures {
  std::string_view name;            ///< of the coded field, for reports
  double bits_per_update = 0.0;     ///< that it took, over all residual updates
  double entropy_per_update = 0.0;  ///< of order 0 of its residuals, pooled over the run
};

/// What the free motions of a run took on the wire. Means are over updates; those on routes are left out.
struct CodingFigures {
  std::uint64_t full_updates = 0;          ///< motions sent in full
  std::uint64_t residual_updates = 0;      ///< motions sent as what differs from an earlier one
  double bytes_with_orientation = 0.0;     ///< payload of an update that has one: head and motion
  double bytes_without_orientation = 0.0;  ///< payload of an update, had it no orientation
  double head_bits = 0.0;                  ///< of an update: slot, age, level, baseline
  double coding_mode_bits = 0.0;           ///< of a residual: how it is rounded and forecast
  double full_bits = 0.0;                  ///< of a motion in full
  double residual_bits = 0.0;              ///< of a motion as a residual
  static constexpr std::size_t kFields = kCodeFields + 1;  ///< coded fields, and the flags
  std::array<FieldFigures, kFields> fields{};  ///< the last: flags that nothing more is unforeseen
  double gap_percent = 0.0;                    ///< what the fields took more than their entropy
};

/// Counts what updates are made of by encoding them once more: for measurements, not for a live server.
///
/// Belongs to one thread at a time.
class RECKONER_NET_API CodingStatistics {
 public:
  /// An update of so many bits was written, its head included: `state` in full (`baseline` null) or against
  /// `baseline`, which is `dt_s` older.
  void add(const QuantisedState& state, const QuantisedState* baseline, double dt_s,
           const Quantisation& quantisation, std::size_t bits);

  /// What was counted so far.
  [[nodiscard]] CodingFigures figures() const;

 private:
  struct Field {
    double bits = 0.0;
    std::map<std::int64_t, std::uint64_t> residuals;  // how often each occurred
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
