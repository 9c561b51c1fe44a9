// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/byte_ranges.hpp"
#include "net/src/link/message_length.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "wire_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace reckoner::test {

/// A stream of reliable messages whose parts are sent in any order, some of them twice. Knows which messages
/// the other end has put together.
class WireStream {
 public:
  explicit WireStream(std::uint64_t seed) : random_(seed) {}

  void add(std::span<const std::byte> message) {
    append_message_length(bytes_, message.size());
    bytes_.insert(bytes_.end(), message.begin(), message.end());
    messages_.push_back({bytes_.size(), {message.begin(), message.end()}});
  }

  /// Writes a section with these parts. Returns the second decoder's expected text.
  std::string write(BitWriter& writer, std::span<const ByteRange> parts) {
    ReliablePartsWriter section;
    std::string text;
    for (const ByteRange& part : parts) {
      const auto bytes = std::span(bytes_).subspan(part.begin, part.size());
      section.add(writer, part.begin, bytes);
      text += "part: " + std::to_string(part.begin) + "\nbytes: " + hex_of(bytes) + "\n";
      arrived_.add(part);
    }
    section.finish(writer);
    return text;
  }

  /// Writes a section with one part to four, of at most 40 bytes each.
  std::string write_any(BitWriter& writer) {
    while (bytes_.size() < lacking() + 300)
      add_any();
    std::vector<ByteRange> parts;
    std::uint64_t at = lacking();
    if (up_to(3) == 0) at = up_to(at);
    for (std::uint64_t n = 1 + up_to(3); n > 0; --n) {
      if (up_to(2) == 0) at += 1 + up_to(up_to(3) == 0 ? 90 : 4);
      const std::uint64_t end = std::min<std::uint64_t>(at + 1 + up_to(39), bytes_.size());
      if (at >= end) break;
      parts.push_back({at, end});
      at = end;
    }
    return write(writer, parts);
  }

  /// The second decoder's expected text for the messages that became complete since the last call.
  std::string complete_messages() {
    std::string text;
    for (; taken_ < messages_.size() && messages_[taken_].end <= lacking(); ++taken_)
      text += "message: " + hex_of(messages_[taken_].bytes) + "\n";
    return text;
  }

 private:
  struct Message {
    std::uint64_t end = 0;
    std::vector<std::byte> bytes;
  };

  // Offset of the first byte that has not arrived.
  [[nodiscard]] std::uint64_t lacking() const {
    return arrived_.empty() || arrived_.first().begin > 0 ? 0 : arrived_.first().end;
  }
  // Every compiler must draw the same numbers, so there is no distribution of the standard library.
  std::uint64_t up_to(std::uint64_t most) { return random_() % (most + 1); }
  void add_any() {
    std::vector<std::byte> message(1 + up_to(up_to(5) == 0 ? 300 : 20));
    for (std::byte& byte : message)
      byte = static_cast<std::byte>(up_to(255));
    add(message);
  }

  std::mt19937_64 random_;
  std::vector<std::byte> bytes_;
  std::vector<Message> messages_;
  ByteRanges arrived_;
  std::size_t taken_ = 0;
};

}  // namespace reckoner::test
