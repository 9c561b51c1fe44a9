// SPDX-License-Identifier: MIT
#include "client/src/world/field_timeline.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace reckoner {
namespace {

// The largest number of waiting changes, beyond one per field: a quarter second of a field that changes in
// every tick. With more than one per field, two changes are of the same field, and the earlier one can be
// dropped.
constexpr std::size_t kMaxWaiting = 16;

}  // namespace

FieldTimeline::FieldTimeline(std::vector<FieldValue> values, double time_s)
    : values_(std::move(values)), since_s_(values_.size(), time_s) {}

bool FieldTimeline::add(std::size_t field, double time_s, const FieldValue& value) {
  assert(field < values_.size());
  if (time_s <= since_s_[field]) return false;
  const auto known = [&](const Change& c) { return c.field == field && c.time_s == time_s; };
  if (std::any_of(waiting_.begin(), waiting_.end(), known)) return false;
  const auto place = std::upper_bound(waiting_.begin(), waiting_.end(), time_s,
                                      [](double t, const Change& c) { return t < c.time_s; });
  waiting_.insert(place, {time_s, static_cast<std::uint8_t>(field), value});
  if (waiting_.size() > values_.size() + kMaxWaiting) thin_out();
  return true;
}

// Drops the latest change that is followed by another one of the same field. Dropping the earliest would be
// wrong: if more changes keep arriving than fit, no change would ever take effect.
void FieldTimeline::thin_out() {
  std::uint32_t followed = 0;
  for (std::size_t i = waiting_.size(); i-- > 0;) {
    const std::uint32_t field = std::uint32_t{1} << waiting_[i].field;
    if ((followed & field) != 0) {
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
    followed |= field;
  }
}

std::uint32_t FieldTimeline::advance(double time_s) {
  std::uint32_t changed = 0;
  auto change = waiting_.begin();
  for (; change != waiting_.end() && change->time_s <= time_s; ++change) {
    values_[change->field] = change->value;
    since_s_[change->field] = change->time_s;
    changed |= std::uint32_t{1} << change->field;
  }
  waiting_.erase(waiting_.begin(), change);
  return changed;
}

}  // namespace reckoner
