// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <reckoner/net/archetype.hpp>

namespace reckoner {

/// The user fields of one entity as the client shows them. A change that has arrived waits until shown time
/// reaches it. Changes take effect in the order in which the server made them, whatever the order of arrival.
/// Times are server time, s.
class FieldTimeline {
 public:
  /// An entity without fields.
  FieldTimeline() = default;

  /// Begins with `values`, which include all changes up to `time_s`.
  FieldTimeline(std::vector<FieldValue> values, double time_s);

  [[nodiscard]] std::size_t size() const { return values_.size(); }

  /// The value as of the last advance().
  [[nodiscard]] const FieldValue& value(std::size_t field) const { return values_[field]; }

  /// Adds a change that arrived. False, and nothing changes, if it is known already or older than the value
  /// in effect.
  bool add(std::size_t field, double time_s, const FieldValue& value);

  /// True if changes wait to take effect.
  [[nodiscard]] bool waiting() const { return !waiting_.empty(); }

  /// Puts the changes up to `time_s` into effect. Returns the bit set of the fields that changed.
  std::uint32_t advance(double time_s);

 private:
  struct Change {
    double time_s = 0.0;
    std::uint8_t field = 0;
    FieldValue value;
  };

  void thin_out();

  std::vector<FieldValue> values_;  // values in effect
  std::vector<double> since_s_;     // time of the change in effect, by field
  std::vector<Change> waiting_;     // by time, then by arrival
};

}  // namespace reckoner
