// SPDX-License-Identifier: MIT
#include "replay_run.hpp"

#include <algorithm>

#include <reckoner/scenario/feed.hpp>

namespace reckoner::harness {
namespace {

// Tick and frame times are start + k / rate with different rates: what is meant to be the same instant may
// differ by rounding.
constexpr double kRoundingS = 1e-9;

}  // namespace

void ReplayRun::draw(double time_s) {
  shown_.clear();
  method_.frame(time_s, shown_);
  metrics_.frame(time_s, shown_, method_.delay_s());
  if (time_s - start_s_ >= kSkipRunS - kRoundingS) {
    if (const auto error = method_.clock_error_s(time_s)) metrics_.clock_error(*error);
  }
  if (sink_) sink_(time_s, shown_);
}

// Counts frames from the start, so that nothing accumulates.
void ReplayRun::in_virtual_time() {
  scenario::Feed feed(source_, start_s_, options_.tick_rate_hz);
  for (std::uint64_t frame = 0;;) {
    const double arrival_s = method_.next_event_s();
    const double tick_s = feed.next_time_s();
    const double frame_s = frame_time_s(frame);
    if (std::min(tick_s, frame_s) > end_s_ + kRoundingS) return;
    if (arrival_s <= tick_s && arrival_s <= frame_s) {
      method_.advance(arrival_s);
    } else if (tick_s <= frame_s + kRoundingS) {
      method_.tick(tick_s, feed.next());
    } else {
      ++frame;
      draw(frame_s);
    }
  }
}

RealTimeFigures ReplayRun::in_real_time(EnetNetwork& network) {
  RealTimeFigures figures;
  scenario::Feed feed(source_, start_s_, options_.tick_rate_hz);
  for (std::uint64_t frame = 0;;) {
    const double tick_s = feed.next_time_s();
    const double frame_s = frame_time_s(frame);
    const double due_s = std::min(tick_s, frame_s);
    if (due_s > end_s_ + kRoundingS) return figures;
    const double now_s = network.clock_s();
    method_.advance(now_s);
    if (now_s < due_s) {
      network.wait_until(due_s);
    } else if (tick_s <= frame_s + kRoundingS) {
      figures.latest_tick_ms = std::max(figures.latest_tick_ms, 1000.0 * (now_s - tick_s));
      method_.tick(tick_s, feed.next());
    } else if (now_s >= frame_time_s(++frame)) {
      ++figures.dropped_frames;
    } else {
      draw(now_s);
    }
  }
}

}  // namespace reckoner::harness
