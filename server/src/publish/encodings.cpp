// SPDX-License-Identifier: MIT
#include "server/src/publish/encodings.hpp"

#include <algorithm>
#include <optional>

namespace reckoner {
namespace {

// Upper bound for the size of an encoded motion, bytes: 12 numbers of 48 bits, with their prefixes.
constexpr std::size_t kMaxMotionBytes = 192;

constexpr std::size_t kBlockEncodings = 1024;
constexpr std::size_t kBlockBytes = 16 * 1024;

}  // namespace

void Encodings::begin(const EntityTable& entities, std::span<const Quantisation> quantisation,
                      double tick_rate_hz) {
  entities_ = &entities;
  quantisation_ = quantisation;
  tick_rate_hz_ = tick_rate_hz;
  const std::size_t streams = entities.slots().size() * kLevels;
  if (streams > streams_) {
    streams_ = std::max(streams, 2 * streams_);
    first_ = std::make_unique<std::atomic<const Made*>[]>(streams_);
  }
  for (Store& store : stores_) {
    for (const std::uint32_t stream : store.streams)
      first_[stream].store(nullptr, std::memory_order_relaxed);
    store.streams.clear();
    for (Block& block : store.blocks)
      block.encoding_count = block.byte_count = 0;
    store.block = 0;
  }
}

const Encodings::Made* Encodings::find(const Made* first, std::uint32_t reference) {
  while (first != nullptr && first->reference != reference)
    first = first->next;
  return first;
}

BitString Encodings::get(unsigned worker, std::uint32_t slot, std::size_t level, std::uint32_t reference) {
  const auto stream = static_cast<std::uint32_t>(slot * kLevels + level);
  std::atomic<const Made*>& first = first_[stream];
  const Made* made = find(first.load(std::memory_order_acquire), reference);
  if (made == nullptr) {
    // A second worker that needs this encoding waits for it, which costs less than encoding it again.
    std::optional<std::lock_guard<Mutex>> lock;
    if (stores_.size() > 1) lock.emplace(mutexes_[stream % mutexes_.size()]);
    made = find(first.load(std::memory_order_relaxed), reference);
    if (made == nullptr) made = &make(stores_[worker], stream, reference);
  }
  return {made->bytes, made->bits};
}

const Encodings::Made& Encodings::make(Store& store, std::uint32_t stream, std::uint32_t reference) {
  const Entity& entity = entities_->slots()[stream / kLevels];
  const PublishStream& source = entity.levels[stream % kLevels].stream;
  const PublishStream::Publish& newest = source.newest();
  const Quantisation& q = quantisation_[entity.archetype];

  Block& block = block_with_room(store);
  std::byte* const bytes = &block.bytes[block.byte_count];
  BitWriter writer{std::span(bytes, kMaxMotionBytes)};
  if (reference == 0) {
    write_full(writer, newest.encoded, q);
  } else {
    const PublishStream::Publish& base = source.at(reference);
    write_residual(writer, newest.encoded, base.encoded, (newest.tick - base.tick) / tick_rate_hz_, q);
  }
  const auto bits = static_cast<std::uint32_t>(writer.bits_written());
  block.byte_count += writer.finish().size();

  const Made* const others = first_[stream].load(std::memory_order_relaxed);
  if (others == nullptr) store.streams.push_back(stream);
  Made& made = block.made[block.encoding_count++];
  made = {others, reference, bits, bytes};
  first_[stream].store(&made, std::memory_order_release);
  return made;
}

Encodings::Block& Encodings::block_with_room(Store& store) {
  for (; store.block < store.blocks.size(); ++store.block) {
    Block& block = store.blocks[store.block];
    if (block.encoding_count < kBlockEncodings && block.byte_count + kMaxMotionBytes <= kBlockBytes)
      return block;
  }
  store.blocks.push_back(
      {std::make_unique<Made[]>(kBlockEncodings), std::make_unique<std::byte[]>(kBlockBytes)});
  return store.blocks.back();
}

}  // namespace reckoner
