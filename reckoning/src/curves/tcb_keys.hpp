// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner::tcb_keys {

/// Checks all numbers of the keys except their values. Returns an error message, or an empty string if they
/// are valid. `Key` is TcbKey or OrientationKey.
template <class Key>
std::string error(std::span<const Key> keys) {
  if (keys.empty()) return "a TCB spline needs at least 1 key";
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Key& key = keys[i];
    const std::string name = "key " + std::to_string(i);
    if (!curve_math::usable(key.time)) return name + ": time is not finite or too large";
    if (i > 0 && !(key.time > keys[i - 1].time))
      return name + ": time is not later than that of the key before";
    if (!curve_math::usable(key.shape.tension) || !curve_math::usable(key.shape.continuity) ||
        !curve_math::usable(key.shape.bias)) {
      return name + ": tension, continuity or bias is not finite or too large";
    }
    if (!(key.ease_to >= 0.0 && key.ease_to <= 1.0 && key.ease_from >= 0.0 && key.ease_from <= 1.0)) {
      return name + ": easing is not between 0 and 1";
    }
  }
  return {};
}

/// The derivatives of a segment at its first key (`leaves`) and at its second key (`arrives`), with respect
/// to the segment's parameter (0 to 1).
template <class V>
struct Tangents {
  V leaves{0.0};
  V arrives{0.0};
};

/// The tangents of all segments. `steps[i]` is the step from key i to the next, and `durations[i]` its
/// duration. If there are as many steps as keys, the curve is closed, and the last step leads to the first
/// key.
template <class Key, class V>
std::vector<Tangents<V>> tangents(std::span<const Key> keys, const std::vector<V>& steps,
                                  const std::vector<double>& durations) {
  const std::size_t count = steps.size();
  const bool closed = count == keys.size();
  std::vector<Tangents<V>> out(count);
  for (std::size_t i = closed ? 0 : 1; i < count; ++i) {
    const std::size_t before = (i + count - 1) % count;
    const TcbWeights w = tcb_weights(keys[i].shape, durations[before], durations[i]);
    out[before].arrives = V(w.in_before * steps[before] + w.in_after * steps[i]);
    out[i].leaves = V(w.out_before * steps[before] + w.out_after * steps[i]);
  }
  if (closed || count == 0) return out;
  const double first = 1.0 - keys.front().shape.tension;
  const double last = 1.0 - keys.back().shape.tension;
  if (count == 1) {
    out[0] = {V(first * steps[0]), V(last * steps[0])};
    return out;
  }
  out.front().leaves = V(first * (1.5 * steps.front() - 0.5 * out.front().arrives));
  out.back().arrives = V(last * (1.5 * steps.back() - 0.5 * out.back().leaves));
  return out;
}

}  // namespace reckoner::tcb_keys
