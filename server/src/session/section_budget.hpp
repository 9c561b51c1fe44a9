// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <reckoner/net/transport.hpp>

namespace reckoner {

/// The bytes that the sections of a client's datagrams may use besides the motions. Together with the
/// reliable messages they get at most half of the byte budget, so that neither many messages nor a field
/// that always changes can displace the motions.
class SectionBudget {
 public:
  /// The part of the byte budget for sections and reliable messages together.
  static constexpr double kShare = 0.5;

  /// Call it once per tick. Sections and messages have `share` bytes in this tick, and the messages used
  /// `message_bytes` since the last call. Each gets what the other did not use, and at least half. Returns
  /// the bytes for messages.
  [[nodiscard]] double refill(double share, std::size_t message_bytes) {
    const auto rest = [share](std::size_t used) {
      return share - std::min(0.5 * share, static_cast<double>(used));
    };
    bytes_ = std::min(bytes_ + rest(message_bytes), std::max(kTicks * share, 1.0 * kMaxDatagramBytes));
    return rest(std::exchange(used_, 0));
  }

  /// True if a section may be written. It may overdraw the budget.
  [[nodiscard]] bool any() const { return bytes_ > 0.0; }
  void spend(std::size_t bits) {
    bytes_ -= static_cast<double>(bits) / 8.0;
    used_ += bits / 8;
  }
  /// Sections that are alone in a datagram pay for its headers, too.
  void spend_headers(std::size_t bytes) { bytes_ -= static_cast<double>(bytes); }

 private:
  // What is not used accumulates for this number of ticks, or up to the size of the largest datagram.
  static constexpr double kTicks = 8.0;

  double bytes_ = 0.0;
  std::size_t used_ = 0;  // bytes since the last refill
};

}  // namespace reckoner
