// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <reckoner/net/archetype.hpp>

namespace reckoner {

/// The user fields of one entity as they are shown: changes that have arrived wait until shown time reaches
/// them and take effect in the order in which they were made, whatever the order of arrival. Times are server
/// time, s.
class FieldTimeline {
 public:
  /// Without fields.
  FieldTimeline() = default;

  /// `values` hold from the beginning on and are as of `time_s`: what changed then or before is in them.
  FieldTimeline(std::vector<FieldValue> values, double time_s);

  [[nodiscard]] std::size_t size() const { return values_.size(); }

  /// The value in force as of the last advance().
  [[nodiscard]] const FieldValue& value(std::size_t field) const { return values_[field]; }

  /// A change arrived. False, and nothing changes, if it is known already, or older than what is in force.
  bool add(std::size_t field, double time_s, const FieldValue& value);

  /// True if there are changes that are not in force yet.
  [[nodiscard]] bool waiting() const { return !waiting_.empty(); }

  /// Lets changes up to `time_s` take effect; the fields that changed, a bit each.
  std::uint32_t advance(double time_s);

 private:
  struct Change {
    double time_s = 0.0;
    std::uint8_t field = 0;
    FieldValue value;
  };

  void thin_out();

  std::vector<FieldValue> values_;  // in force
  std::vector<double> since_s_;     // time of the change that is in force
  std::vector<Change> waiting_;     // by time, then in order of arrival
};

}  // namespace reckoner
