// SPDX-License-Identifier: MIT
#include "field_timeline.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace reckoner {
namespace {

// How many changes wait at most, beyond one of every field: a second of a field that changes sixteen times a
// second. With more than one of every field, two are of the same one, and the earlier can be left out.
constexpr std::size_t kMostWaiting = 16;

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
  if (waiting_.size() > values_.size() + kMostWaiting) merge_oldest();
  return true;
}

// Leaves out the earliest change that is followed by another of the same field.
void FieldTimeline::merge_oldest() {
  for (auto change = waiting_.begin(); change != waiting_.end(); ++change) {
    const auto same = [&](const Change& c) { return c.field == change->field; };
    if (std::none_of(change + 1, waiting_.end(), same)) continue;
    waiting_.erase(change);
    return;
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
