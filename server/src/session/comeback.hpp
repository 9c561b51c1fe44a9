// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/reliable_log.hpp"
#include "net/src/messages/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace reckoner {

/// What it takes for a client to go on with its session over another connection.
struct Comeback {
  /// Kept at most, so that a client that is away, or takes nothing in, costs no more: beyond that it can only
  /// begin anew.
  static constexpr std::size_t kMostBytes = 1024 * 1024;
  static constexpr std::size_t kMostMessages = 8192;

  explicit Comeback(const SessionKey& given) : key(given) {}

  SessionKey key;
  ReliableLog sent;
  bool overflowed = false;    ///< more was to be kept than is
  double lost_s = 0.0;        ///< while it is away: when the connection was lost
  bool expects_join = false;  ///< the join message that goes behind the resume message

  void add(std::span<const std::byte> message) {
    const bool room = sent.bytes() + message.size() <= kMostBytes && sent.messages() < kMostMessages;
    if (!overflowed && room) return sent.add(message);
    overflowed = true;
    sent = ReliableLog{};
  }

  /// The client has taken in so many of `all` that were sent. Once it has them all, it can come back again.
  void confirm(std::uint32_t count, std::uint32_t all) {
    if (overflowed && count != all) return;
    if (overflowed) sent = ReliableLog{all};
    overflowed = false;
    (void)sent.confirm(count);
  }
};

}  // namespace reckoner
