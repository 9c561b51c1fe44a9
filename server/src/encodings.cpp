// SPDX-License-Identifier: MIT
#include "encodings.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace reckoner {
namespace {

// More than any motion takes: 12 numbers of 48 bits with their prefixes.
constexpr std::size_t kMostBytes = 192;

// Streams that one worker takes at a time.
constexpr std::size_t kGrain = 16;

}  // namespace

void Encodings::clear(std::size_t slots) {
  if (slots > slots_) {
    slots_ = std::max(slots, 2 * slots_);
    wanted_ = std::make_unique<std::atomic<Wanted>[]>(slots_ * kLevels);
    first_.assign(slots_ * kLevels, 0);
  } else {
    for (const std::uint32_t stream : streams_)
      wanted_[stream].store(0, std::memory_order_relaxed);
  }
  streams_.clear();
  made_.clear();
  for (auto& list : wanted_by_)
    list.clear();
  for (auto& bytes : made_by_)
    bytes.clear();
}

void Encodings::want(unsigned worker, std::uint32_t slot, std::size_t level, std::uint32_t reference) {
  const auto stream = static_cast<std::uint32_t>(slot * kLevels + level);
  const Wanted bit = Wanted{1} << bit_of(reference);
  if ((wanted_[stream].load(std::memory_order_relaxed) & bit) != 0) return;
  if (wanted_[stream].fetch_or(bit, std::memory_order_relaxed) == 0) wanted_by_[worker].push_back(stream);
}

void Encodings::make(WorkerPool& pool, const EntityTable& entities,
                     std::span<const Quantisation> quantisation, double tick_rate_hz) {
  std::size_t count = 0;
  for (const auto& list : wanted_by_) {
    for (const std::uint32_t stream : list) {
      streams_.push_back(stream);
      first_[stream] = static_cast<std::uint32_t>(count);
      count += static_cast<std::size_t>(std::popcount(wanted_[stream].load(std::memory_order_relaxed)));
    }
  }
  made_.resize(count);
  pool.run(streams_.size(), kGrain, [&](unsigned worker, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      encode(worker, streams_[i], entities, quantisation, tick_rate_hz);
  });
}

void Encodings::encode(unsigned worker, std::uint32_t stream, const EntityTable& entities,
                       std::span<const Quantisation> quantisation, double tick_rate_hz) {
  const Entity& entity = entities.slots()[stream / kLevels];
  const PublishStream& source = entity.levels[stream % kLevels].stream;
  const PublishStream::Publish& newest = source.newest();
  const Quantisation& q = quantisation[entity.archetype];
  std::vector<std::byte>& bytes = made_by_[worker];
  std::size_t at = first_[stream];
  for (Wanted left = wanted_[stream].load(std::memory_order_relaxed); left != 0; left &= left - 1) {
    const auto bit = static_cast<unsigned>(std::countr_zero(left));
    std::array<std::byte, kMostBytes> buffer;
    BitWriter writer{buffer};
    if (bit == PublishStream::kHistory) {
      write_full(writer, newest.encoded, q);
    } else {
      const std::uint32_t number = source.number() - (source.number() - bit) % PublishStream::kHistory;
      const PublishStream::Publish& base = source.at(number);
      write_residual(writer, newest.encoded, base.encoded, (newest.tick - base.tick) / tick_rate_hz, q);
    }
    const auto bits = static_cast<std::uint32_t>(writer.bits_written());
    const auto made = writer.finish();
    made_[at++] = {worker, static_cast<std::uint32_t>(bytes.size()), bits};
    bytes.insert(bytes.end(), made.begin(), made.end());
  }
}

BitString Encodings::find(std::uint32_t slot, std::size_t level, std::uint32_t reference) const {
  const std::size_t stream = slot * kLevels + level;
  const Wanted below = (Wanted{1} << bit_of(reference)) - 1;
  const Wanted wanted = wanted_[stream].load(std::memory_order_relaxed);
  const Made& made = made_[first_[stream] + static_cast<std::size_t>(std::popcount(wanted & below))];
  return {std::span{made_by_[made.worker]}.subspan(made.offset, (made.bits + 7) / 8), made.bits};
}

}  // namespace reckoner
