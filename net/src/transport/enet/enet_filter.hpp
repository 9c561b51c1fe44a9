// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/enet/enet_protocol.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

#include <reckoner/net/socket_address.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner::enet_filter {

// Examines a datagram before ENet does: can one of Reckoner's own transports have sent it? A transport sends
// ENet's commands about the connection, and unsequenced packets. Everything else would only cost memory and
// time here: reliable messages that wait for a lost one, a fragment that claims a million others, channels
// that nobody reads. ENet also ignores malformed commands silently, while an operator needs a count.

/// Which end receives the datagram. Only a server accepts connections.
enum class Role : std::uint8_t { server, client };

/// ENet gives up unreliable packets on its own, but only the sender's policy may decide what is sent. Three
/// values of the other end make ENet do that: a bandwidth (in a request to connect, its answer and a
/// command), and a deceleration of the throttle. A transport announces no bandwidth, and the deceleration 0
/// with enet_peer_throttle_configure(), which sets it at both ends. So a datagram with another value is
/// refused, and every value that reaches ENet is harmless. The deceleration in a request to connect is ENet's
/// default; the server replaces it as soon as the connection exists, before ENet has used it.
[[nodiscard]] constexpr bool keeps_sending(std::uint32_t bandwidth, std::uint32_t deceleration = 0) {
  return bandwidth == 0 && deceleration == 0;
}

namespace detail {

using namespace enet_protocol;

inline constexpr std::size_t kMaxCommands = 32;  // ENet writes at most 32 commands into a datagram

// True if a transport sends such a command to an end in that role. `command` is the whole command without
// its data.
inline bool is_sent_to(Role role, std::span<const std::byte> command) {
  const auto first = std::to_integer<std::uint8_t>(command[0]);
  const auto flags = static_cast<std::uint8_t>(first & ~kCodeBits);
  const auto channel = std::to_integer<std::uint8_t>(command[1]);
  const auto code = static_cast<Code>(first & kCodeBits);
  if (code == kSendUnsequenced) {
    const std::uint32_t length = read16(command, 6);
    return flags == kUnsequencedFlag && channel == kPayloadChannel && length > 0 &&
           length <= kMaxDatagramBytes;
  }
  if (channel != kConnectionItself) return false;
  switch (code) {
    case kAcknowledge:
      return flags == 0;
    case kConnect:
      return role == Role::server && flags == kReliableFlag && read32(command, 16) == kChannels &&
             keeps_sending(read32(command, 20));
    case kVerifyConnect:
      return role == Role::client && flags == kReliableFlag && read32(command, 16) == kChannels &&
             keeps_sending(read32(command, 20));
    case kDisconnect:  // unsequenced: enet_peer_disconnect_now()
      return flags == kReliableFlag || flags == kUnsequencedFlag;
    case kPing:
      return flags == kReliableFlag;
    case kBandwidthLimit:
      return flags == kReliableFlag && keeps_sending(read32(command, 4));
    case kThrottleConfigure:
      return flags == kReliableFlag && keeps_sending(0, read32(command, 12));
    default:
      return false;
  }
}

}  // namespace detail

/// Returns false if no single host can have this address, or if it has port 0. An answer would fail at every
/// attempt, or reach others.
[[nodiscard]] inline bool answerable(const SocketAddress& from) {
  return from.port != 0 && !from.host.is_any() && !from.host.is_multicast();
}

/// The peer number in the header of a datagram with passable bytes. The receiver has assigned it to the
/// sender. enet_protocol::kNoPeer: the sender has no number yet.
[[nodiscard]] inline std::size_t peer_of(std::span<const std::byte> datagram) {
  return enet_protocol::read16(datagram, 0) & enet_protocol::kNoPeer;
}

/// Returns how many bytes of a datagram ENet may read: all of them, those before the first command that no
/// transport sends to an end in that role, or 0. Clients before wire version 12 send a reliable message
/// together with the acknowledgement that establishes their connection. ENet needs the acknowledgement, so
/// that the server can refuse them with a reason.
[[nodiscard]] inline std::size_t passable_bytes(std::span<const std::byte> datagram, Role role) {
  using namespace detail;
  if (datagram.size() < 2) return 0;
  const std::uint32_t head = read16(datagram, 0);
  if ((head & kCompressedFlag) != 0) return 0;
  const bool to_no_peer = (head & kNoPeer) == kNoPeer;
  const std::size_t head_size = (head & kSentTimeFlag) != 0 ? 4 : 2;
  std::size_t at = head_size;
  for (std::size_t commands = 0; at < datagram.size() && commands < kMaxCommands; ++commands) {
    const std::span<const std::byte> rest = datagram.subspan(at);
    const std::uint8_t code = std::to_integer<std::uint8_t>(rest[0]) & kCodeBits;
    const std::size_t size = kSizes[code];
    if (size == 0 || rest.size() < size) break;
    if (to_no_peer != (code == kConnect) || !is_sent_to(role, rest.first(size))) break;
    const std::size_t data = code == kSendUnsequenced ? read16(rest, 6) : 0;
    if (rest.size() < size + data) break;
    at += size + data;
  }
  return at > head_size ? at : 0;
}

}  // namespace reckoner::enet_filter
