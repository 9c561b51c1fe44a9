// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace reckoner::enet_protocol {

// The layout of ENet 1.3 datagrams, as ENet's protocol.h defines it. Numbers are big endian.

/// The channels of a connection. Payloads travel on kPayloadChannel. Clients of wire version 11 and older
/// send messages on channel 0, which is why a connection still has it: with another number of channels, a
/// client could not connect, and so not show why the server refuses it.
inline constexpr std::uint32_t kChannels = 2;
inline constexpr std::uint8_t kPayloadChannel = 1;

/// Channel number of commands about the connection itself.
inline constexpr std::uint8_t kConnectionItself = 0xFF;
inline constexpr std::uint16_t kNoPeer = 0x0FFF;  ///< peer id of a request to connect
inline constexpr std::uint16_t kCompressedFlag = 1u << 14;
inline constexpr std::uint16_t kSentTimeFlag = 1u << 15;

/// The commands that a transport sends.
enum Code : std::uint8_t {
  kAcknowledge = 1,
  kConnect = 2,
  kVerifyConnect = 3,
  kDisconnect = 4,
  kPing = 5,
  kSendUnsequenced = 9,
  kBandwidthLimit = 10,
  kThrottleConfigure = 11,
};

/// Bits of a command's first byte: its code, and how it is sent.
inline constexpr std::uint8_t kCodeBits = 0x0F;
inline constexpr std::uint8_t kReliableFlag = 0x80;  ///< the receiver acknowledges the command
inline constexpr std::uint8_t kUnsequencedFlag = 0x40;

/// Size of each command in bytes, without the data behind it. 0: a transport does not send it.
inline constexpr std::size_t kSizes[16] = {0, 8, 48, 44, 8, 4, 0, 0, 0, 8, 12, 16, 0, 0, 0, 0};

inline std::uint32_t read16(std::span<const std::byte> bytes, std::size_t at) {
  return (std::to_integer<std::uint32_t>(bytes[at]) << 8) | std::to_integer<std::uint32_t>(bytes[at + 1]);
}

inline std::uint32_t read32(std::span<const std::byte> bytes, std::size_t at) {
  return (read16(bytes, at) << 16) | read16(bytes, at + 2);
}

}  // namespace reckoner::enet_protocol
