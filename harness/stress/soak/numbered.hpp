// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace reckoner::harness {

/// Reliable messages of a session, numbered: whether each comes once, and in order.
class Numbered {
 public:
  using Bytes = std::array<std::byte, 12>;

  /// The next to send.
  [[nodiscard]] static Bytes bytes(std::uint64_t session, std::uint32_t number) {
    Bytes out;
    std::memcpy(out.data(), &session, sizeof session);
    std::memcpy(out.data() + sizeof session, &number, sizeof number);
    return out;
  }

  /// Takes one in; false if it is not the next of its session. Another session begins at 1, and the first
  /// that is heard of at `anywhere`.
  bool take(std::span<const std::byte> payload, bool anywhere = false) {
    if (payload.size() != Bytes{}.size()) return false;
    std::uint64_t session = 0;
    std::uint32_t number = 0;
    std::memcpy(&session, payload.data(), sizeof session);
    std::memcpy(&number, payload.data() + sizeof session, sizeof number);
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
