// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/enet/socket/enet_protocol.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include <reckoner/net/transport.hpp>

namespace reckoner::enet_filter {

// Examines a datagram before ENet does: can one of Reckoner's own transports have sent it? ENet 1.3.17 itself
// reads memory safely. But it lets a peer do things that are expensive for the receiver and that Reckoner
// never does: open channels that nobody reads, queue any number of empty unreliable packets behind a reliable
// one that never arrives, announce a million fragments. ENet also ignores malformed commands silently, while
// an operator needs a count.

/// Which end receives the datagram. Only a server accepts connections.
enum class Role : std::uint8_t { server, client };

namespace detail {

using namespace enet_protocol;

inline constexpr std::size_t kConnectChannelCount = 16;  // offset of the field in a connect command
inline constexpr std::size_t kChannels = 2;
inline constexpr std::size_t kMinMtu = 576;       // ENet's minimum MTU
inline constexpr std::size_t kFragmentHead = 28;  // datagram header and fragment command
inline constexpr std::size_t kMaxCommands = 32;   // ENet writes at most 32 commands into a datagram

/// The most fragments that a message of this size can have.
inline constexpr std::size_t most_fragments(std::size_t message_bytes) {
  return message_bytes / (kMinMtu - kFragmentHead) + 1;
}

// Size of a command with its data in bytes, or 0 if it must be refused. `command` holds at least `size`
// bytes.
inline std::size_t whole_size(std::span<const std::byte> command, std::uint8_t kind, std::size_t size,
                              std::size_t message_bytes) {
  const auto channel = std::to_integer<std::uint8_t>(command[1]);
  switch (kind) {
    case kConnect:
      return read32(command, kConnectChannelCount) == kChannels ? size : 0;
    case kSendReliable: {
      const std::size_t length = read16(command, 4);
      const bool fits = channel == static_cast<std::uint8_t>(Channel::control) && length <= message_bytes;
      return fits ? size + length : 0;
    }
    case kSendUnsequenced: {
      const std::size_t length = read16(command, 6);
      const bool fits = channel == static_cast<std::uint8_t>(Channel::state) && length <= kMaxStateBytes;
      return fits ? size + length : 0;
    }
    case kSendFragment: {
      const bool fits = channel == static_cast<std::uint8_t>(Channel::control) &&
                        read32(command, 8) <= most_fragments(message_bytes) &&
                        read32(command, 16) <= message_bytes;
      return fits ? size + read16(command, 6) : 0;
    }
    default:
      return size;
  }
}

}  // namespace detail

/// The peer number in an acceptable datagram's header. The receiver has assigned it to the sender. kNoPeer:
/// the sender has no number yet.
[[nodiscard]] inline std::size_t peer_of(std::span<const std::byte> datagram) {
  return detail::read16(datagram, 0) & detail::kNoPeer;
}

/// Returns false if no Reckoner transport can have sent this datagram to an end in that role. `message_bytes`
/// is the largest control message that the receiver accepts.
[[nodiscard]] inline bool acceptable(std::span<const std::byte> datagram, Role role,
                                     std::size_t message_bytes = kMaxControlBytes) {
  using namespace detail;
  if (datagram.size() < 2) return false;
  const std::uint32_t head = read16(datagram, 0);
  if ((head & kCompressedFlag) != 0) return false;
  const bool to_no_peer = (head & kNoPeer) == kNoPeer;
  if (to_no_peer && role == Role::client) return false;

  const std::size_t head_size = (head & kSentTimeFlag) != 0 ? 4 : 2;
  if (datagram.size() <= head_size) return false;
  std::span<const std::byte> rest = datagram.subspan(head_size);
  for (std::size_t commands = 0; !rest.empty(); ++commands) {
    if (commands == kMaxCommands) return false;
    const auto kind = static_cast<std::uint8_t>(std::to_integer<std::uint8_t>(rest[0]) & 0x0F);
    const std::size_t size = kSizes[kind];
    if (size == 0 || rest.size() < size) return false;
    if (to_no_peer != (kind == kConnect)) return false;
    const std::size_t whole = whole_size(rest, kind, size, message_bytes);
    if (whole == 0 || rest.size() < whole) return false;
    rest = rest.subspan(whole);
  }
  return true;
}

/// The kinds of commands that must also be checked against ENet's state.
enum class Kind : std::uint8_t { acknowledge, send_reliable, send_fragment, other };

/// One command of a datagram.
struct Command {
  Kind kind = Kind::other;
  std::uint8_t channel = 0;  ///< 0xFF: the connection itself
  /// A reliable sequence number on the channel: of the acknowledged command for an acknowledgement, of the
  /// message's first fragment for a fragment, otherwise of the command itself.
  std::uint16_t about = 0;
};

/// Size of an acceptable datagram's header in bytes. The commands follow it.
[[nodiscard]] inline std::size_t head_size(std::span<const std::byte> datagram) {
  return (detail::read16(datagram, 0) & detail::kSentTimeFlag) != 0 ? 4 : 2;
}

/// Calls visit(const Command&) for each command of an acceptable datagram, in order.
template <class Visit>
void for_each_command(std::span<const std::byte> datagram, Visit&& visit) {
  using namespace detail;
  std::span<const std::byte> rest = datagram.subspan(head_size(datagram));
  while (!rest.empty()) {
    const auto kind = static_cast<std::uint8_t>(std::to_integer<std::uint8_t>(rest[0]) & 0x0F);
    Command command{.channel = std::to_integer<std::uint8_t>(rest[1])};
    std::size_t number_at = 2;
    if (kind == kSendReliable) command.kind = Kind::send_reliable;
    if (kind == kAcknowledge || kind == kSendFragment) {
      command.kind = kind == kAcknowledge ? Kind::acknowledge : Kind::send_fragment;
      number_at = 4;
    }
    command.about = static_cast<std::uint16_t>(read16(rest, number_at));
    visit(command);
    const std::size_t whole = whole_size(rest, kind, kSizes[kind], SIZE_MAX);
    if (whole == 0 || whole > rest.size()) return;  // the datagram is not acceptable
    rest = rest.subspan(whole);
  }
}

namespace detail {
inline constexpr std::size_t kConnectionNumber =
    40;  // its offset; ENet keeps the number in the machine's byte order
}

/// The connection number that the client has chosen, if an acceptable datagram is a request to connect.
/// Otherwise nullopt.
[[nodiscard]] inline std::optional<std::uint32_t> connection_wanted(std::span<const std::byte> datagram) {
  if (peer_of(datagram) != detail::kNoPeer) return std::nullopt;
  std::uint32_t number = 0;
  std::memcpy(&number, &datagram[head_size(datagram) + detail::kConnectionNumber], sizeof number);
  return number;
}

/// Replaces the connection number in an outgoing request to connect. Does nothing with other datagrams.
inline void want_connection(std::span<std::byte> datagram, std::uint32_t number) {
  if (datagram.size() < 4 || peer_of(datagram) != detail::kNoPeer) return;
  const std::size_t at = head_size(datagram) + detail::kConnectionNumber;
  if (at + sizeof number <= datagram.size()) std::memcpy(&datagram[at], &number, sizeof number);
}

/// The session number in an acceptable datagram's header, 0 to 3. It tells a peer from the previous peer with
/// the same number.
[[nodiscard]] inline std::uint32_t session_of(std::span<const std::byte> datagram) {
  return (detail::read16(datagram, 0) >> 12) & 3u;
}

/// The payload of an acceptable datagram that holds one unsequenced command and nothing else. Otherwise
/// nullopt.
[[nodiscard]] inline std::optional<std::span<const std::byte>> lone_state(
    std::span<const std::byte> datagram) {
  using namespace detail;
  const std::size_t head = head_size(datagram);
  const auto kind = static_cast<std::uint8_t>(std::to_integer<std::uint8_t>(datagram[head]) & 0x0F);
  if (kind != kSendUnsequenced) return std::nullopt;
  const std::size_t length = read16(datagram, head + 6);
  if (datagram.size() != head + kSizes[kSendUnsequenced] + length) return std::nullopt;
  return datagram.last(length);
}

/// The bytes before a state payload that has a datagram of its own: ENet's header and an unsequenced command.
/// The header has no time stamp, because nothing needs an acknowledgement. `peer` and `session` are the
/// numbers that the receiver has assigned to the sender. `group` counts such commands.
[[nodiscard]] inline std::array<std::byte, 10> lone_state_head(std::uint32_t peer, std::uint32_t session,
                                                               std::uint16_t group, std::size_t length) {
  using namespace detail;
  constexpr std::uint32_t kUnsequencedFlag = 1u << 6;
  const std::uint32_t words[5] = {
      peer | session << 12,
      (kSendUnsequenced | kUnsequencedFlag) << 8 | static_cast<std::uint32_t>(Channel::state), 0, group,
      static_cast<std::uint32_t>(length)};
  std::array<std::byte, 10> head;
  for (std::size_t i = 0; i < 5; ++i) {
    head[2 * i] = static_cast<std::byte>(words[i] >> 8);
    head[2 * i + 1] = static_cast<std::byte>(words[i]);
  }
  return head;
}

}  // namespace reckoner::enet_filter
