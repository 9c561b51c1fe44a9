// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <reckoner/net/transport.hpp>

namespace reckoner::harness {

/// What ENet 1.3, UDP and IPv4 add to a payload, bytes. The sizes are those of the packed structs in ENet's
/// protocol.h: a datagram starts with the peer id (2), and with the time of sending (2 more) if it carries a
/// reliable command; a command starts with its kind, channel and sequence number (4).
///
/// Every command is counted in a datagram of its own, which is what nearly all of them get: a tick sends one
/// state datagram and seldom anything else. ENet's pings and their acknowledgements are left out: one of each
/// every 3 s and direction, 24 bytes a second.
inline constexpr std::size_t kIpUdpBytes = 20 + 8;
inline constexpr std::size_t kUnreliableHeaderBytes = 2;
inline constexpr std::size_t kReliableHeaderBytes = 2 + 2;

inline constexpr std::size_t kStateOverhead =
    kIpUdpBytes + kUnreliableHeaderBytes + 4 + 2 + 2;                                        // group, length
inline constexpr std::size_t kControlOverhead = kIpUdpBytes + kReliableHeaderBytes + 4 + 2;  // length
inline constexpr std::size_t kFragmentOverhead = kIpUdpBytes + kReliableHeaderBytes + 24;
inline constexpr std::size_t kAcknowledgeBytes = kIpUdpBytes + kUnreliableHeaderBytes + 8;
inline constexpr std::size_t kConnectBytes = kIpUdpBytes + kReliableHeaderBytes + 48;
inline constexpr std::size_t kVerifyConnectBytes = kIpUdpBytes + kReliableHeaderBytes + 44;
inline constexpr std::size_t kDisconnectBytes = kIpUdpBytes + kReliableHeaderBytes + 8;

/// A reliable payload above this travels in fragments of this size: ENet's default MTU of 1400 less headers.
inline constexpr std::size_t kFragmentBytes = 1400 - kReliableHeaderBytes - 24;

}  // namespace reckoner::harness
