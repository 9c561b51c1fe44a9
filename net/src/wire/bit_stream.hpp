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

/// Writes numbers of any width into a byte buffer, least significant bit first. Past the end it writes
/// nothing more and says so: check overflowed() once, when done. The buffer must outlive the writer and is
/// the writer's alone: bytes behind what was written may be set to zero.
///
/// What was written is in the buffer at once, so that whole bytes may be read before finish().
class RECKONER_NET_API BitWriter {
 public:
  /// Writes into `buffer`, which must outlive it.
  explicit BitWriter(std::span<std::byte> buffer) : buffer_(buffer) {}

  /// Appends the low `count` (0 to 64) bits of `value`; the others must be zero.
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

  /// Fills up to a whole byte with zero bits and returns what was written.
  [[nodiscard]] std::span<const std::byte> finish();

  /// Whether there was no room for all: then what was written is worth nothing.
  [[nodiscard]] bool overflowed() const { return overflowed_; }
  /// So far.
  [[nodiscard]] std::size_t bits_written() const { return bits_; }
  /// Until the buffer is full.
  [[nodiscard]] std::size_t bits_left() const { return buffer_.size() * 8 - bits_; }

 private:
  static constexpr std::size_t kWord = 8;  // bytes

  void write_bytewise(std::uint64_t value, unsigned count);

  std::span<std::byte> buffer_;
  std::size_t bits_ = 0;
  bool overflowed_ = false;
};

/// Reads what a BitWriter wrote. Trusts nothing: past the end, and after fail(), it gives zeros and stays
/// failed, so that a decoder can read on and check once.
class RECKONER_NET_API BitReader {
 public:
  /// Reads `bytes`, which must outlive it.
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// The next `count` (0 to 64) bits.
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

  /// Reads a run of ones and the zero that ends it, and says how many ones there were. Stops behind `most`
  /// (0 to 64) ones, without a zero.
  [[nodiscard]] unsigned read_ones(unsigned most);

  /// Marks what is read as malformed.
  void fail() { failed_ = true; }
  /// Whether something was asked for that was not there, or was out of its range: what was read is worth
  /// nothing.
  [[nodiscard]] bool failed() const { return failed_; }

  /// Until the end.
  [[nodiscard]] std::size_t bits_left() const { return bytes_.size() * 8 - bits_; }

  /// Goes on to the next whole byte; what is passed over must be zero bits.
  void align();

  /// Declares the rest as read, whatever it is.
  void skip_rest() { bits_ = bytes_.size() * 8; }

  /// True if nothing but the zero bits of the last byte is left and nothing failed.
  [[nodiscard]] bool finished();

 private:
  static constexpr std::size_t kWord = 8;  // bytes

  [[nodiscard]] std::uint64_t read_bytewise(unsigned count);

  std::span<const std::byte> bytes_;
  std::size_t bits_ = 0;
  bool failed_ = false;
};

}  // namespace reckoner
