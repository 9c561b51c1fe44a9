// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/byte_ranges.hpp"
#include "net/src/link/message_length.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "wire_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
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
    const std::uint64_t begin = bytes_.size();
    append_message_length(bytes_, message.size());
    bytes_.insert(bytes_.end(), message.begin(), message.end());
    messages_.push_back({begin, bytes_.size(), {message.begin(), message.end()}});
  }
  /// The number of bytes in the stream.
  [[nodiscard]] std::uint64_t end() const { return bytes_.size(); }

  /// Writes a section with these parts. Returns the second decoder's expected text.
  std::string write(BitWriter& writer, std::span<const ByteRange> parts) {
    ReliablePartsWriter section;
    std::string text;
    for (const ByteRange& part : parts) {
      const auto bytes = std::span(bytes_).subspan(part.begin, part.size());
      const auto unordered = first_unordered(part);
      section.add(writer, part.begin, bytes, unordered);
      text += "part: " + std::to_string(part.begin) + "\n";
      if (unordered) text += "unordered: " + std::to_string(*unordered) + "\n";
      text += "bytes: " + hex_of(bytes) + "\n";
      arrived_.add(part);
    }
    section.finish(writer);
    for (const ByteRange& part : parts)
      announce(part);
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
    for (std::size_t i = taken_; i < messages_.size(); ++i) {
      Message& message = messages_[i];
      if (!message.is_announced || message.was_early || !has_all_of(message)) continue;
      message.was_early = true;
      text += "early: " + hex_of(message.bytes) + "\n";
    }
    return text;
  }

 private:
  struct Message {
    std::uint64_t begin = 0, end = 0;
    std::vector<std::byte> bytes;
    bool is_announced = false;  // the other end can find it although it lacks earlier bytes
    bool was_early = false;     // the other end has returned it before its turn

    // Section 4: the kind is in the first four bits.
    [[nodiscard]] bool is_unordered() const { return (std::to_integer<int>(bytes.front()) & 15) == 13; }
  };

  [[nodiscard]] bool has_all_of(const Message& message) const {
    const ByteRange all{message.begin, message.end};
    return std::ranges::any_of(arrived_.ranges(), [&](const ByteRange& range) {
      return range.begin <= all.begin && all.end <= range.end;
    });
  }
  // Where the first unordered message begins in the part.
  [[nodiscard]] std::optional<std::uint32_t> first_unordered(const ByteRange& part) const {
    for (const Message& message : messages_) {
      if (message.begin >= part.begin && message.begin < part.end && message.is_unordered())
        return static_cast<std::uint32_t>(message.begin - part.begin);
    }
    return std::nullopt;
  }
  // The part is behind a gap: the other end finds the messages that begin in it.
  void announce(const ByteRange& part) {
    if (part.begin <= lacking()) return;
    for (Message& message : messages_) {
      const bool begins = message.begin >= part.begin && message.begin < part.end;
      message.is_announced = message.is_announced || (begins && message.is_unordered());
    }
  }

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
    if (up_to(2) == 0) message.front() = (message.front() & std::byte{0xf0}) | std::byte{13};
    add(message);
  }

  std::mt19937_64 random_;
  std::vector<std::byte> bytes_;
  std::vector<Message> messages_;
  ByteRanges arrived_;
  std::size_t taken_ = 0;
};

}  // namespace reckoner::test
