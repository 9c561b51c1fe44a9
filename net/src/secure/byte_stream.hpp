// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

namespace reckoner::secure {

/// Writes whole bytes, numbers in little endian, into a buffer that is large enough.
class ByteWriter {
 public:
  explicit ByteWriter(std::span<std::byte> buffer) : buffer_(buffer) {}

  template <class T>
  ByteWriter& number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      put(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
    return *this;
  }
  ByteWriter& bytes(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes)
      put(byte);
    return *this;
  }
  /// Zeros up to `size` bytes in all.
  ByteWriter& pad(std::size_t size) {
    while (size_ < size)
      put(std::byte{0});
    return *this;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<std::byte> written() const { return buffer_.first(size_); }

 private:
  void put(std::byte byte) {
    assert(size_ < buffer_.size());
    buffer_[size_++] = byte;
  }
  std::span<std::byte> buffer_;
  std::size_t size_ = 0;
};

/// Reads what a ByteWriter wrote. Past the end it gives zeros and stays failed.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  [[nodiscard]] T number() {
    std::uint64_t value = 0;
    const auto bytes = take(sizeof(T));
    for (std::size_t i = 0; i < bytes.size(); ++i)
      value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    return static_cast<T>(value);
  }
  template <std::size_t N>
  [[nodiscard]] std::array<std::byte, N> bytes() {
    std::array<std::byte, N> out{};
    const auto bytes = take(N);
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return out;
  }
  void skip(std::size_t count) { (void)take(count); }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::span<const std::byte> take(std::size_t count) {
    failed_ = failed_ || bytes_.size() - at_ < count;
    if (failed_) return {};
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace reckoner::secure
