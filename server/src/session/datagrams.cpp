// SPDX-License-Identifier: MIT
#include "server/src/session/datagrams.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace reckoner {
namespace {

// Upper bound for the header of an update, bits. The header consists of four Golomb codes, and their numbers
// are small in practice. An update with a longer header would only wait for a datagram of its own.
constexpr std::size_t kMaxHeadBits = 96;

void sort_by_slot(std::vector<Snapshot::Item>& items) {
  std::sort(items.begin(), items.end(),
            [](const Snapshot::Item& a, const Snapshot::Item& b) { return a.slot < b.slot; });
}

// Items with equal priority are ordered by slot, so that the choice is deterministic.
bool more_urgent(const Snapshot::Item& a, const Snapshot::Item& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.slot < b.slot;
}

unsigned order_for(std::uint64_t sum, std::size_t count, unsigned most) {
  const std::uint64_t mean = sum / std::max<std::size_t>(count, 1);
  return std::min(static_cast<unsigned>(std::bit_width(mean | 1u)) - 1u, most);
}

}  // namespace

void Snapshot::keep(std::size_t most) {
  if (items_.size() <= most) return;
  std::nth_element(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(most), items_.end(),
                   more_urgent);
  items_.resize(most);
  sort_by_slot(items_);
}

double Snapshot::measure(Encodings& encodings, unsigned worker) {
  double bits = 0.0;
  for (Item& item : items_) {
    constexpr std::uint32_t kUsualHeadBits = 10;
    item.motion = encodings.get(worker, item.slot, item.level, item.reference);
    item.bits = static_cast<std::uint32_t>(item.motion.bits) + kUsualHeadBits;
    bits += item.bits;
  }
  return bits / 8.0;
}

void Snapshot::keep_within(double most_bytes) {
  std::sort(items_.begin(), items_.end(), more_urgent);
  double kept = 0.0;
  std::size_t count = 0;
  // The first item is always sent, whatever its size: if it does not fit now, it will not fit later either.
  while (count < items_.size() && (count == 0 || kept + items_[count].bits <= 8.0 * most_bytes))
    kept += items_[count++].bits;
  items_.resize(count);
  sort_by_slot(items_);
}

UpdateCoding Snapshot::coding(Tick tick, Tick acknowledged_tick) const {
  UpdateCoding coding;
  coding.reference_age = tick - acknowledged_tick;
  std::uint64_t gaps = 0;
  std::uint64_t back = 0;
  std::size_t references = 0;
  std::int64_t previous = -1;
  for (std::size_t i = written_; i < items_.size(); ++i) {
    const Item& item = items_[i];
    gaps += static_cast<std::uint64_t>(std::int64_t{item.slot} - previous - 1);
    previous = item.slot;
    if (item.reference == 0) continue;
    back += acknowledged_tick - item.reference_tick;
    ++references;
  }
  coding.gap_order = order_for(gaps, items_.size() - written_, UpdateCoding::kMaxGapOrder);
  coding.reference_order = order_for(back, references, UpdateCoding::kMaxReferenceOrder);
  return coding;
}

std::span<const Snapshot::Item> Snapshot::write_updates(Tick tick, const UpdateCoding& coding,
                                                        std::size_t room_bits, BitWriter& writer) {
  const std::size_t begin = written_;
  std::int64_t previous = -1;
  for (; written_ < items_.size(); ++written_) {
    Item& item = items_[written_];
    const std::size_t before = writer.bits_written();
    if (written_ > begin && before + kMaxHeadBits + item.motion.bits > room_bits) break;
    UpdateHeader head{item.slot, tick - item.tick, item.level, {}};
    if (item.reference != 0) head.reference_age = tick - item.reference_tick;
    write(writer, head, coding, previous);
    writer.append(std::span(item.motion.bytes, (item.motion.bits + 7) / 8), item.motion.bits);
    item.bits = static_cast<std::uint32_t>(writer.bits_written() - before);
    previous = item.slot;
  }
  return std::span{items_}.subspan(begin, written_ - begin);
}

}  // namespace reckoner
