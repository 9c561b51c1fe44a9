// SPDX-License-Identifier: MIT
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>

namespace reckoner::secure {

/// Remembers which of the newest sequence numbers were seen, so that nothing is taken in twice (RFC 4303,
/// 3.4.3). Sequence numbers have 64 bits and never wrap. note() only what was found genuine.
class ReplayWindow {
 public:
  /// Late by more, and it counts as seen.
  static constexpr std::uint64_t kSize = 1024;

  [[nodiscard]] bool is_new(std::uint64_t sequence) const {
    if (sequence >= next_) return true;
    return next_ - sequence <= kSize && !seen_[sequence % kSize];
  }

  void note(std::uint64_t sequence) {
    if (sequence >= next_) {
      const std::uint64_t skipped = sequence - next_;
      if (skipped >= kSize) {
        seen_.reset();
      } else {
        for (std::uint64_t s = next_; s < sequence; ++s)
          seen_.reset(s % kSize);
      }
      next_ = sequence + 1;
    }
    seen_.set(sequence % kSize);
  }

  /// One more than the newest.
  [[nodiscard]] std::uint64_t next() const { return next_; }

 private:
  std::uint64_t next_ = 0;
  std::bitset<kSize> seen_;  // by sequence modulo kSize
};

}  // namespace reckoner::secure
