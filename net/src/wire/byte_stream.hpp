// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace reckoner::wire {

/// The serialisation of files and handshakes. What a datagram or a control message contains is written with
/// the archive in net/src/wire/bit_archive.hpp.

/// Writes bytes and little-endian numbers into a buffer. Drops what does not fit; failed() is then true.
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
  /// Appends zeros until `size` bytes are written in total.
  ByteWriter& pad(std::size_t size) {
    while (size_ < size && !failed_)
      put(std::byte{0});
    return *this;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::span<std::byte> written() const { return buffer_.first(size_); }

 private:
  void put(std::byte byte) {
    failed_ = failed_ || size_ == buffer_.size();
    if (!failed_) buffer_[size_++] = byte;
  }
  std::span<std::byte> buffer_;
  std::size_t size_ = 0;
  bool failed_ = false;
};

/// Reads the output of a ByteWriter. A read past the end yields zeros. From then on, failed() is true.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  [[nodiscard]] T number() {
    std::uint64_t value = 0;
    const auto bytes = read_bytes(sizeof(T));
    for (std::size_t i = 0; i < bytes.size(); ++i)
      value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    return static_cast<T>(value);
  }
  template <std::size_t N>
  [[nodiscard]] std::array<std::byte, N> bytes() {
    std::array<std::byte, N> out{};
    const auto bytes = read_bytes(N);
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return out;
  }
  /// The next `count` bytes; empty past the end. Valid as long as the reader's input.
  std::span<const std::byte> read_bytes(std::size_t count) {
    failed_ = failed_ || bytes_.size() - at_ < count;
    if (failed_) return {};
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }
  void skip(std::size_t count) { (void)read_bytes(count); }
  [[nodiscard]] bool failed() const { return failed_; }
  /// How many bytes were read.
  [[nodiscard]] std::size_t position() const { return at_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace reckoner::wire
