// SPDX-License-Identifier: MIT
#include "server/src/session/link_window.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner {
namespace {

constexpr std::size_t kMostAtOnce = 1'000'000;  // bytes; sums of it do not overflow

}  // namespace

bool LinkWindow::advance(double now_s) {
  const auto index = static_cast<std::int64_t>(std::floor(std::clamp(now_s, 0.0, 1e15) / kSlotS));
  if (index <= index_) return false;
  const bool started = index_ >= 0;
  const std::int64_t first = std::max(index_ + 1, index - static_cast<std::int64_t>(kSlots) + 1);
  for (std::int64_t i = first; i <= index; ++i)
    slots_[static_cast<std::size_t>(i) % kSlots] = {};
  const std::int64_t base_from = std::max(index_ / kBaseEvery + 1, index / kBaseEvery - 9);
  for (std::int64_t i = base_from; started && i <= index / kBaseEvery; ++i)
    base_[static_cast<std::size_t>(i) % kBaseSlots] = std::numeric_limits<float>::infinity();
  index_ = index;
  return started;
}

void LinkWindow::acknowledged(double now_s, double round_trip_s, std::size_t bytes, bool counts) {
  Slot& slot = now_slot();
  slot.bytes += static_cast<std::uint32_t>(std::min(bytes, kMostAtOnce));
  if (!counts) return;
  const auto trip_s = static_cast<float>(round_trip_s);
  slot.least_s = std::min(slot.least_s, trip_s);
  slot.sum_s += trip_s;
  if (now_s != last_round_s_ || slot.rounds == 0) ++slot.rounds;
  last_round_s_ = now_s;
  ++slot.acknowledged;
  float& base = base_[static_cast<std::size_t>(index_ / kBaseEvery) % kBaseSlots];
  base = std::min(base, trip_s);
}

void LinkWindow::sent(std::size_t bytes) {
  now_slot().sent += static_cast<std::uint32_t>(std::min(bytes, kMostAtOnce));
}

void LinkWindow::lost() {
  ++now_slot().lost;
}

void LinkWindow::found() {
  for (std::size_t i = 0; i < kSlots; ++i) {
    if (back(i).lost == 0) continue;
    --slots_[(static_cast<std::size_t>(index_) + 2 * kSlots - i) % kSlots].lost;
    return;
  }
}

LinkWindow::Summary LinkWindow::recent(std::size_t slots, std::size_t rounds, std::size_t skipped) const {
  Summary all;
  double sum_s = 0.0;
  for (std::size_t i = 1 + skipped; i < kSlots && (i <= slots + skipped || all.rounds < rounds); ++i) {
    const Slot& slot = back(i);
    all.least_s = std::min(all.least_s, double{slot.least_s});
    sum_s += slot.sum_s;
    all.rounds += slot.rounds;
    all.acknowledged += slot.acknowledged;
    all.lost += slot.lost;
    ++all.slots;
  }
  if (all.acknowledged > 0) all.mean_s = sum_s / static_cast<double>(all.acknowledged);
  return all;
}

double LinkWindow::delivered_bytes_per_second(std::size_t slots) const {
  double bytes = 0.0;
  for (std::size_t i = 1; i <= slots; ++i)
    bytes += back(i).bytes;
  return bytes / (static_cast<double>(slots) * kSlotS);
}

double LinkWindow::sent_since(double time_s) const {
  double bytes = 0.0;
  for (std::size_t i = 0; i < kSlots; ++i) {
    const double share = static_cast<double>(index_ - static_cast<std::int64_t>(i) + 1) - time_s / kSlotS;
    if (share <= 0.0) break;
    bytes += back(i).sent * std::min(share, 1.0);
  }
  return bytes;
}

double LinkWindow::base_s() const {
  return *std::ranges::min_element(base_);
}

void LinkWindow::restart() {
  for (Slot& slot : slots_)
    slot = Slot{.bytes = slot.bytes, .sent = slot.sent};
}

void LinkWindow::rebase(double round_trip_s) {
  base_.fill(std::numeric_limits<float>::infinity());
  base_[static_cast<std::size_t>(std::max<std::int64_t>(index_, 0) / kBaseEvery) % kBaseSlots] =
      static_cast<float>(round_trip_s);
}

}  // namespace reckoner
