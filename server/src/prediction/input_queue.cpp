// SPDX-License-Identifier: MIT
#include "server/src/prediction/input_queue.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner {

std::optional<Refusal> InputQueue::add(const InputBatch& batch, Tick next, double wait_ticks,
                                       PredictionStats& stats) {
  constexpr Tick kOldest = 128;  // older ones are of no use, not even as a base
  const auto refuse = [&](Refusal why) {
    stats.inputs_refused += batch.inputs.size();
    return why;
  };
  if (earlier(next + kMostAhead, batch.newest)) return refuse(Refusal::from_future);
  if (earlier(batch.newest + kOldest, next)) return refuse(Refusal::too_old);
  Tick tick = batch.oldest();
  for (const Input& input : batch.inputs) {
    Entry& entry = ring_[tick % kRing];
    const bool is_old = entry.is_known && earlier(tick, entry.tick);
    if (!is_old && !(entry.is_known && entry.tick == tick)) {
      entry = {tick, true, batch.seen_age_ms, input};
      const double early = static_cast<double>(static_cast<std::int32_t>(tick - next)) + wait_ticks;
      if (earlier(tick, next)) ++stats.inputs_late;
      note_timing(tick, early);
    }
    ++tick;
  }
  if (!newest_ || earlier(*newest_, batch.newest)) newest_ = batch.newest;
  return std::nullopt;
}

void InputQueue::note_timing(Tick tick, double early_ticks) {
  has_news_ = true;
  const double steps =
      std::clamp(std::floor(early_ticks * InputReport::kSteps), static_cast<double>(InputReport::kLeastEarly),
                 static_cast<double>(InputReport::kMostEarly));
  const int early = static_cast<int>(steps);
  if (report_.early && *report_.early <= early) return;
  report_.early = early;
  report_.timed = tick;
}

const InputQueue::Taken& InputQueue::take(Tick tick, std::uint32_t repeat_ticks, PredictionStats& stats) {
  if (taken_for_ == tick) return taken_;
  const std::uint32_t passed = taken_for_ ? tick - *taken_for_ : 1;
  taken_for_ = tick;
  if (any()) ++stats.ticks;
  const Entry& entry = ring_[tick % kRing];
  if (entry.is_known && entry.tick == tick) {
    taken_ = {entry.input, 0, entry.seen_age_ms, tick};
    return taken_;
  }
  if (!any()) return taken_;
  ++stats.ticks_repeated;
  repeated_for_ = tick;
  taken_.repeated += passed;
  if (taken_.repeated > repeat_ticks) taken_.input = {};
  return taken_;
}

InputReport InputQueue::report() {
  InputReport report = report_;
  report.newest = *newest_;
  constexpr Tick kMostBehind = 127;
  if (report.newest - report.timed > kMostBehind) report.early.reset();
  report_ = {};
  has_news_ = false;
  return report;
}

}  // namespace reckoner
