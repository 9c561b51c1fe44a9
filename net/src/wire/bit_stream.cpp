// SPDX-License-Identifier: MIT
#include "net/src/wire/bit_stream.hpp"

#include <algorithm>
#include <cassert>

namespace reckoner {

// Used near the end of the buffer, where a whole word does not fit, and on big-endian machines.
void BitWriter::write_bytewise(std::uint64_t value, unsigned count) {
  if (overflowed_ || count > bits_left()) {
    overflowed_ = true;
    return;
  }
  while (count > 0) {
    const std::size_t at = bits_ / 8;
    const auto used = static_cast<unsigned>(bits_ % 8);
    const unsigned now = std::min(count, 8 - used);
    const auto chunk = static_cast<unsigned>(value & ((1u << now) - 1u));
    const unsigned kept = used == 0 ? 0u : std::to_integer<unsigned>(buffer_[at]);
    buffer_[at] = static_cast<std::byte>(kept | (chunk << used));
    value >>= now;
    count -= now;
    bits_ += now;
  }
}

void BitWriter::append(std::span<const std::byte> bits, std::size_t count) {
  assert(count <= bits.size() * 8);
  if (count > bits_left()) overflowed_ = true;
  if (overflowed_) return;
  BitReader reader{bits};
  while (count > 0) {
    const auto now = static_cast<unsigned>(std::min<std::size_t>(count, 64));
    write(reader.read(now), now);
    count -= now;
  }
}

std::span<const std::byte> BitWriter::finish() {
  bits_ = (bits_ + 7) / 8 * 8;
  return {buffer_.data(), bits_ / 8};
}

std::uint64_t BitReader::read_bytewise(unsigned count) {
  if (failed_ || count > bits_left()) {
    failed_ = true;
    return 0;
  }
  std::uint64_t value = 0;
  for (unsigned done = 0; done < count;) {
    const auto used = static_cast<unsigned>(bits_ % 8);
    const unsigned now = std::min(count - done, 8 - used);
    const auto byte = std::to_integer<std::uint64_t>(bytes_[bits_ / 8]);
    value |= ((byte >> used) & ((std::uint64_t{1} << now) - 1)) << done;
    done += now;
    bits_ += now;
  }
  return value;
}

unsigned BitReader::read_ones(unsigned most) {
  assert(most <= 64);
  const auto near = static_cast<unsigned>(std::min<std::size_t>(bits_left(), 56));
  if (!failed_ && near > 0) {
    const std::size_t start = bits_;
    const auto ones = static_cast<unsigned>(std::countr_one(read(near)));
    if (ones < near || ones >= most) {
      bits_ = start + (ones < most ? ones + 1 : most);
      return std::min(ones, most);
    }
    bits_ = start;
  }
  unsigned ones = 0;  // a very long run, or a run that the end of the data cuts off
  while (ones < most && read(1) == 1)
    ++ones;
  return ones;
}

void BitReader::align() {
  if (read(static_cast<unsigned>(bits_left() % 8)) != 0) fail();
}

bool BitReader::finished() {
  if (failed_ || bits_left() >= 8) return false;
  return read(static_cast<unsigned>(bits_left())) == 0;
}

}  // namespace reckoner
