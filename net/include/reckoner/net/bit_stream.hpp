// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace reckoner {

/// Writes numbers of any width into a byte buffer, least significant bit first. Past the end it writes
/// nothing more and says so: check overflowed() once, when done. The buffer must outlive the writer.
class BitWriter {
 public:
  explicit BitWriter(std::span<std::byte> buffer) : buffer_(buffer) {}

  /// Appends the low `count` (0 to 64) bits of `value`; the others must be zero.
  void write(std::uint64_t value, unsigned count);

  /// Appends `count` bits from another writer's buffer.
  void append(std::span<const std::byte> bits, std::size_t count);

  /// Fills up to a whole byte with zero bits and returns what was written.
  [[nodiscard]] std::span<const std::byte> finish();

  [[nodiscard]] bool overflowed() const { return overflowed_; }
  [[nodiscard]] std::size_t bits_written() const { return bits_; }
  [[nodiscard]] std::size_t bits_left() const { return buffer_.size() * 8 - bits_; }

 private:
  std::span<std::byte> buffer_;
  std::size_t bits_ = 0;
  bool overflowed_ = false;
};

/// Reads what a BitWriter wrote. Trusts nothing: past the end, and after fail(), it gives zeros and stays
/// failed, so that a decoder can read on and check once.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// The next `count` (0 to 64) bits.
  [[nodiscard]] std::uint64_t read(unsigned count);

  /// Marks what is read as malformed.
  void fail() { failed_ = true; }
  [[nodiscard]] bool failed() const { return failed_; }

  [[nodiscard]] std::size_t bits_left() const { return bytes_.size() * 8 - bits_; }

  /// Declares the rest as read, whatever it is.
  void skip_rest() { bits_ = bytes_.size() * 8; }

  /// True if nothing but the zero bits of the last byte is left and nothing failed.
  [[nodiscard]] bool finished();

 private:
  std::span<const std::byte> bytes_;
  std::size_t bits_ = 0;
  bool failed_ = false;
};

}  // namespace reckoner
