// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace reckoner {

// A client that uses another transport than its server would only time out. So each transport recognises the
// first datagram of the other one and answers it with a notice. A notice is not authenticated: it is a hint.

using TransportNotice = std::array<std::byte, 8>;

namespace detail {
consteval TransportNotice notice(std::uint8_t kind, const char (&name)[8]) {
  TransportNotice bytes{static_cast<std::byte>(kind)};
  for (std::size_t i = 0; i < 7; ++i)
    bytes[i + 1] = static_cast<std::byte>(name[i]);
  return bytes;
}
}  // namespace detail

/// What a server of the transport "enet" answers to a client of "udp".
inline constexpr TransportNotice kServerUsesEnet = detail::notice(0xAE, "RCKENET");
/// What a server of the transport "udp" answers to a client of "enet".
inline constexpr TransportNotice kServerUsesUdp = detail::notice(0xAF, "RCKUDP\0");

/// True if the datagram is this notice.
[[nodiscard]] inline bool is_notice(std::span<const std::byte> datagram, const TransportNotice& notice) {
  return std::ranges::equal(datagram, notice);
}

/// True if the datagram is the first one of a client of "udp".
[[nodiscard]] inline bool is_udp_request(std::span<const std::byte> datagram) {
  constexpr std::size_t kBytes = 128;  // secure::Request::kBytes
  return datagram.size() == kBytes && datagram[0] == std::byte{0xA1};
}

/// True if the datagram is the first one of a client of "enet": ENet's request to connect, 52 bytes long,
/// from a peer without a number.
[[nodiscard]] inline bool is_enet_request(std::span<const std::byte> datagram) {
  constexpr std::size_t kHead = 4, kCommand = 48;
  constexpr unsigned kNoPeer = 0x0FFF, kConnect = 2, kCommandBits = 0x0F;
  if (datagram.size() != kHead + kCommand) return false;
  const auto byte = [&](std::size_t at) { return std::to_integer<unsigned>(datagram[at]); };
  return ((byte(0) << 8 | byte(1)) & kNoPeer) == kNoPeer && (byte(kHead) & kCommandBits) == kConnect;
}

}  // namespace reckoner
