// SPDX-License-Identifier: MIT
#include "client/src/prediction/player_inputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace reckoner {
namespace {

constexpr double kLongestStallS = 0.25;

}  // namespace

void PlayerInputs::advance(double local_s, double server_s, double guess_s, const TickClock& ticks) {
  if (!wanted_) return;
  if (ring_.empty()) ring_.resize(kKept);
  ticks_ = ticks;
  const bool jumped = clock_.advance(local_s, server_s, guess_s, 1.0 / ticks.tick_rate_hz);
  const Tick first = ticks.tick_at(clock_.time_s()) + 1;
  // A game that has not stepped for a while does not step what it has missed.
  const bool stalled = next_ && earlier(*next_ + whole_ticks(kLongestStallS * ticks.tick_rate_hz) + 1, first);
  // After a jump back, the clock has to reach the ticks that were not stepped yet.
  if (!next_ || ((jumped || stalled) && earlier(*next_, first))) next_ = first;
}

std::optional<Tick> PlayerInputs::due() const {
  if (!is_running() || ticks_.time_of(*next_ - 1) > clock_.time_s()) return std::nullopt;
  return next_;
}

const Input& PlayerInputs::step(std::span<const std::byte> bytes, double seen_s) {
  const Tick tick = *next_;
  store(tick + delay_, bytes);
  seen_s_ = seen_s;
  ++*next_;
  return input(tick);
}

void PlayerInputs::store(Tick tick, std::span<const std::byte> bytes) {
  if (!newest_ || tick != *newest_ + 1) run_begin_ = tick;
  ring_[tick % kKept] = {tick, true, false, 0.0, 0.0, 0.0, Input(bytes)};
  newest_ = tick;
}

// The server repeats the input before a tick that was skipped.
const Input& PlayerInputs::input(Tick tick) const {
  static const Input kNone;
  constexpr Tick kLongestGap = 32;
  for (Tick back = 0; back < kLongestGap && back <= tick; ++back) {
    if (const Entry* entry = find(tick - back)) return entry->input;
  }
  return kNone;
}

void PlayerInputs::note_report(const InputReport& report, const TickClock& ticks) {
  if (!newest_ || earlier(*newest_, report.newest)) return;  // never sent
  if (!acknowledged_ || earlier(*acknowledged_, report.newest)) acknowledged_ = report.newest;
  if (!report.early) return;
  note_late(report, ticks.tick_rate_hz);
  const Entry* timed = find(report.timed);
  if (timed == nullptr || !timed->is_sent) return;
  const double early_s = *report.early / (InputReport::kSteps * ticks.tick_rate_hz);
  clock_.note_early(timed->lead_s, timed->waited_s, early_s);
  transit_.add(time_left_s(*timed) - early_s);
}

// No input arrives before an older one, because a datagram carries all that are not acknowledged. An older
// one that write() has left out, for lack of room, does not arrive at all.
void PlayerInputs::note_late(const InputReport& report, double tick_rate_hz) {
  int early = *report.early;
  for (Tick tick = report.timed; early < 0; ++tick, early += InputReport::kSteps) {
    Entry& entry = ring_[tick % kKept];
    if (entry.is_known && entry.tick == tick) entry.late_s = -early / (InputReport::kSteps * tick_rate_hz);
  }
}

std::optional<PlayerInputs::Late> PlayerInputs::late(Tick tick) const {
  const Entry* entry = ring_.empty() ? nullptr : find(tick);
  if (entry == nullptr || !entry->is_sent || entry->late_s <= 0.0) return std::nullopt;
  const auto usual_s = transit_.median_s();
  return Late{entry->late_s, usual_s && time_left_s(*entry) >= *usual_s};
}

// How long an input may travel at most, from when it was sent first until its tick, s.
double PlayerInputs::time_left_s(const Entry& entry) const {
  return 1.0 / ticks_.tick_rate_hz + entry.lead_s - entry.waited_s;
}

bool PlayerInputs::write(BitWriter& writer, std::size_t most_bits, Sequence) {
  if (!newest_) return false;
  Tick first = *newest_ - std::min<Tick>(InputBatch::kMost - 1, *newest_);
  if (earlier(first, run_begin_)) first = run_begin_;
  if (acknowledged_ && earlier(first, *acknowledged_ + 1)) first = *acknowledged_ + 1;
  if (earlier(*newest_, first)) return false;
  batch_.clear();
  batch_.newest = *newest_;
  batch_.corrected = corrected_;
  const double age_ms = 1000.0 * (ticks_.time_of(*newest_) - seen_s_);
  batch_.seen_age_ms =
      static_cast<std::uint16_t>(std::clamp(std::round(age_ms), 0.0, double{InputBatch::kMostSeenAgeMs}));
  const Entry* base = acknowledged_ == first - 1 ? find(first - 1) : nullptr;
  batch_.has_base = base != nullptr;
  for (Tick tick = first; !earlier(*newest_, tick); ++tick)
    batch_.inputs.push_back(ring_[tick % kKept].input);
  const Tick behind = *newest_ - results_tick_;
  if (!results_.empty() && behind <= InputBatch::kMostDelay) {
    batch_.results_behind = static_cast<std::uint8_t>(behind);
    batch_.results = results_;
  }
  std::array<std::byte, kMaxDatagramBytes> buffer;
  std::size_t bits = 0;
  for (;;) {
    BitWriter section{buffer};
    write_inputs(section, batch_, base != nullptr ? base->input : Input{});
    bits = section.bits_written();
    if (!section.overflowed() && bits <= most_bits) break;
    // Too many for the room, as after an outage over a path of small datagrams. The newest ones are of most
    // use: the server has probably had to repeat an input for the ticks of the oldest.
    const std::size_t half = batch_.inputs.size() / 2;
    if (half == 0) return false;
    batch_.inputs.erase(batch_.inputs.begin(), batch_.inputs.begin() + static_cast<std::ptrdiff_t>(half));
    first += static_cast<Tick>(half);
    base = nullptr;
    batch_.has_base = false;
  }
  writer.append(buffer, bits);
  for (Tick tick = first; !earlier(*newest_, tick); ++tick) {
    Entry& entry = ring_[tick % kKept];
    if (std::exchange(entry.is_sent, true)) continue;
    entry.lead_s = clock_.lead_s();
    entry.waited_s = clock_.time_s() - ticks_.time_of(tick - delay_ - 1);
  }
  sent_ = newest_;
  return true;
}

}  // namespace reckoner
