// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// How a game message is sent.
enum class Delivery : std::uint8_t {
  reliable,    ///< arrives in the order of sending; late on a bad link
  unreliable,  ///< arrives without waiting for other messages or not at all; the order may change
};

/// Maximum sizes of game messages, bytes. An unreliable message shares a datagram with motions.
inline constexpr std::size_t kMaxReliableBytes = 16 * 1024;
inline constexpr std::size_t kMaxUnreliableBytes = 1000;

[[nodiscard]] constexpr std::size_t max_message_bytes(Delivery delivery) {
  return delivery == Delivery::reliable ? kMaxReliableBytes : kMaxUnreliableBytes;
}

/// Largest absolute time stamp of a message, in either direction: server time, s.
inline constexpr double kMaxStamp = 1e12;
[[nodiscard]] constexpr bool is_valid_stamp(double time_s) {
  return time_s >= -kMaxStamp && time_s <= kMaxStamp;  // false for NaN
}

/// A message from the game at the other end. Reckoner does not interpret the payload, and the game must not
/// trust it.
struct GameMessage {
  /// On the server: the sending client; on a client: null, because the server is the sender.
  ClientId sender;
  std::span<const std::byte> payload{};  ///< at least 1 byte; valid until the next call of poll_message()
  std::optional<double> time_s;          ///< server time stamp from the sender, s; nullopt: none
};

}  // namespace reckoner
