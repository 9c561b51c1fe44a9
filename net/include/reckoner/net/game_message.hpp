// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// How a game message travels.
enum class Delivery : std::uint8_t {
  reliable,    ///< arrives, in the order of sending; late, if the link is bad
  unreliable,  ///< arrives at once or not at all; may be overtaken
};

/// The largest message of each kind, bytes. An unreliable one shares a datagram with motions.
inline constexpr std::size_t kMaxReliableBytes = 16 * 1024;
inline constexpr std::size_t kMaxUnreliableBytes = 1000;

[[nodiscard]] constexpr std::size_t max_message_bytes(Delivery delivery) {
  return delivery == Delivery::reliable ? kMaxReliableBytes : kMaxUnreliableBytes;
}

/// The largest stamp that can travel, either way: server time, s.
inline constexpr double kMostStamp = 1e12;
[[nodiscard]] constexpr bool can_stamp(double time_s) {
  return time_s >= -kMostStamp && time_s <= kMostStamp;  // NaN fails
}

/// What the game at the other end sent: bytes that only the game understands, and must not trust.
struct GameMessage {
  ClientId sender;                       ///< who, on the server; null on a client: the server
  std::span<const std::byte> payload{};  ///< 1 byte or more; valid until the next call of poll_message()
  std::optional<double> time_s;          ///< the server time that the sender stamped it with
};

}  // namespace reckoner
