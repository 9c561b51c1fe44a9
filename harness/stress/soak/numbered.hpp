// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/byte_stream.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace reckoner::harness {

/// Reliable messages of a session, with numbers. Checks that each arrives once and in order.
class NumberedMessages {
 public:
  using Bytes = std::array<std::byte, 12>;

  /// The message with the given number.
  [[nodiscard]] static Bytes bytes(std::uint64_t session, std::uint32_t number) {
    Bytes out;
    wire::ByteWriter(out).number(session).number(number);
    return out;
  }

  /// Handles a received message. Returns false if it is not the next message of its session. The numbers of a
  /// session start at 1. If `anywhere` is true, the first session received may start at any number.
  bool accept(std::span<const std::byte> payload, bool anywhere = false) {
    if (payload.size() != Bytes{}.size()) return false;
    wire::ByteReader reader(payload);
    const auto session = reader.number<std::uint64_t>();
    const auto number = reader.number<std::uint32_t>();
    if (session != session_) last_ = 0;
    if (anywhere && session_ == 0) last_ = number - 1;
    session_ = session;
    return number == ++last_;
  }
  [[nodiscard]] std::uint32_t last() const { return last_; }
  [[nodiscard]] std::uint64_t session() const { return session_; }

 private:
  std::uint64_t session_ = 0;
  std::uint32_t last_ = 0;
};

}  // namespace reckoner::harness
