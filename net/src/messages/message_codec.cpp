// SPDX-License-Identifier: MIT
#include "net/src/messages/message_codec.hpp"

#include "net/src/wire/bit_archive.hpp"

#include <bit>
#include <cassert>
#include <cstdint>

namespace reckoner {
namespace {

constexpr unsigned kLengthBits = wire::bits_for(kMaxUnreliableBytes - 1);

}  // namespace

std::size_t message_bits(std::size_t payload_bytes, bool stamped) {
  return 2 + (stamped ? 64 : 0) + kLengthBits + payload_bytes * 8;
}

void write_message(BitWriter& writer, std::span<const std::byte> payload, std::optional<double> time_s) {
  assert(!payload.empty() && payload.size() <= kMaxUnreliableBytes && (!time_s || can_stamp(*time_s)));
  writer.write(1, 1);
  writer.write(time_s ? 1 : 0, 1);
  if (time_s) writer.write(std::bit_cast<std::uint64_t>(*time_s), 64);
  writer.write(payload.size() - 1, kLengthBits);
  writer.append(payload, payload.size() * 8);
}

void read_messages(BitReader& reader, MessageBatch& batch) {
  batch.clear();
  while (reader.read(1) != 0) {
    MessageBatch::Item item;
    if (reader.read(1) != 0) {
      item.time_s = std::bit_cast<double>(reader.read(64));
      if (!can_stamp(*item.time_s)) reader.fail();
    }
    item.offset = batch.bytes.size();
    item.size = reader.read(kLengthBits) + 1;
    // Before anything is made room for: only as much as has arrived.
    if (item.size > kMaxUnreliableBytes || item.size * 8 > reader.bits_left()) reader.fail();
    if (reader.failed()) return;
    for (std::size_t i = 0; i < item.size; ++i)
      batch.bytes.push_back(static_cast<std::byte>(reader.read(8)));
    batch.items.push_back(item);
  }
}

}  // namespace reckoner
