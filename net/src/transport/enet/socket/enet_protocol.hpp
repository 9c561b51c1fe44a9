// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace reckoner::enet_protocol {

// The layout of ENet 1.3 datagrams, as ENet's protocol.h defines it. Numbers are big endian.

/// Channel number of commands about the connection itself.
inline constexpr std::uint8_t kConnectionItself = 0xFF;
inline constexpr std::uint16_t kNoPeer = 0x0FFF;  ///< peer id of a request to connect
inline constexpr std::uint16_t kCompressedFlag = 1u << 14;
inline constexpr std::uint16_t kSentTimeFlag = 1u << 15;

enum Code : std::uint8_t {
  kAcknowledge = 1,
  kConnect = 2,
  kVerifyConnect = 3,
  kDisconnect = 4,
  kPing = 5,
  kSendReliable = 6,
  kSendUnreliable = 7,
  kSendFragment = 8,
  kSendUnsequenced = 9,
  kBandwidthLimit = 10,
  kThrottleConfigure = 11,
  kSendUnreliableFragment = 12,
};

/// Size of each command in bytes, without the data behind it. 0: there is no such command, or Reckoner never
/// sends it.
inline constexpr std::size_t kSizes[16] = {0, 8, 48, 44, 8, 4, 6, 0, 24, 8, 12, 16, 0, 0, 0, 0};

inline std::uint32_t read16(std::span<const std::byte> bytes, std::size_t at) {
  return (std::to_integer<std::uint32_t>(bytes[at]) << 8) | std::to_integer<std::uint32_t>(bytes[at + 1]);
}

inline std::uint32_t read32(std::span<const std::byte> bytes, std::size_t at) {
  return (read16(bytes, at) << 16) | read16(bytes, at + 2);
}

}  // namespace reckoner::enet_protocol
