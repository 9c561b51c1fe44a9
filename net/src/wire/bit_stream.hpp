// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Writes numbers of any bit width into a byte buffer, least significant bit first. After an overflow it
/// writes nothing more; check overflowed() once at the end. The buffer must outlive the writer, and no
/// other code may write to it: bytes after the written part may be set to zero.
///
/// Written bits are in the buffer at once, so that whole bytes can be read before finish().
class RECKONER_NET_API BitWriter {
 public:
  /// Writes into `buffer`, which must outlive the writer.
  explicit BitWriter(std::span<std::byte> buffer) : buffer_(buffer) {}

  /// Appends the low `count` (0 to 64) bits of `value`; the other bits must be zero.
  void write(std::uint64_t value, unsigned count) {
    assert(count <= 64 && (count == 64 || value >> count == 0));
    const std::size_t at = bits_ / 8;
    if (std::endian::native != std::endian::little || at + kWord + 1 > buffer_.size() || overflowed_) {
      return write_bytewise(value, count);
    }
    if (count == 0) return;
    const auto used = static_cast<unsigned>(bits_ % 8);
    const std::uint64_t kept = used == 0 ? 0u : std::to_integer<std::uint64_t>(buffer_[at]);
    const std::uint64_t word = kept | (value << used);
    std::memcpy(&buffer_[at], &word, kWord);
    if (used + count > 64) buffer_[at + kWord] = static_cast<std::byte>(value >> (64 - used));
    bits_ += count;
  }

  /// Appends the first `count` bits of another writer's buffer.
  void append(std::span<const std::byte> bits, std::size_t count);

  /// Pads with zero bits to a whole byte and returns all written bytes.
  [[nodiscard]] std::span<const std::byte> finish();

  /// True if the buffer was too small. The written data is then useless.
  [[nodiscard]] bool overflowed() const { return overflowed_; }
  /// Number of bits written so far.
  [[nodiscard]] std::size_t bits_written() const { return bits_; }
  /// Number of bits until the buffer is full.
  [[nodiscard]] std::size_t bits_left() const { return buffer_.size() * 8 - bits_; }

 private:
  static constexpr std::size_t kWord = 8;  // bytes

  void write_bytewise(std::uint64_t value, unsigned count);

  std::span<std::byte> buffer_;
  std::size_t bits_ = 0;
  bool overflowed_ = false;
};

/// Reads data from a BitWriter. It trusts nothing: after the end of the data, and after fail(), it returns
/// zeros and stays failed. So a decoder can continue and check failed() once.
class RECKONER_NET_API BitReader {
 public:
  /// Reads `bytes`, which must outlive the reader.
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// Reads the next `count` (0 to 64) bits.
  [[nodiscard]] std::uint64_t read(unsigned count) {
    assert(count <= 64);
    const std::size_t at = bits_ / 8;
    if (std::endian::native != std::endian::little || at + kWord + 1 > bytes_.size() || failed_) {
      return read_bytewise(count);
    }
    const auto used = static_cast<unsigned>(bits_ % 8);
    std::uint64_t value = 0;
    std::memcpy(&value, &bytes_[at], kWord);
    value >>= used;
    if (used + count > 64) value |= std::to_integer<std::uint64_t>(bytes_[at + kWord]) << (64 - used);
    bits_ += count;
    return count == 64 ? value : value & ((std::uint64_t{1} << count) - 1);
  }

  /// Reads a run of ones and the zero that ends it. Returns the number of ones. Stops after `most` (0 to 64)
  /// ones, without reading a zero.
  [[nodiscard]] unsigned read_ones(unsigned most);

  /// Marks the data as malformed.
  void fail() { failed_ = true; }
  /// True if data was missing or a value was out of range. All values read are then useless.
  [[nodiscard]] bool failed() const { return failed_; }

  /// Number of bits until the end of the data.
  [[nodiscard]] std::size_t bits_left() const { return bytes_.size() * 8 - bits_; }

  /// Skips to the next whole byte. Fails if a skipped bit is not zero.
  void align();

  /// Skips the rest of the data without a check.
  void skip_rest() { bits_ = bytes_.size() * 8; }

  /// True if nothing failed and only zero padding bits of the last byte are left.
  [[nodiscard]] bool finished();

 private:
  static constexpr std::size_t kWord = 8;  // bytes

  [[nodiscard]] std::uint64_t read_bytewise(unsigned count);

  std::span<const std::byte> bytes_;
  std::size_t bits_ = 0;
  bool failed_ = false;
};

}  // namespace reckoner
