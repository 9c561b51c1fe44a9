// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <reckoner/net/transport.hpp>

namespace reckoner::harness {

/// Bytes that ENet 1.3, UDP and IPv4 add to a payload, according to the packed structs in ENet's protocol.h.
/// A datagram starts with the peer id (2 bytes). If it contains a reliable command, the send time (2 bytes)
/// follows. A command starts with its kind, channel and sequence number (4 bytes).
///
/// These figures count every command as if it had a datagram of its own. Nearly all commands have one,
/// because a tick sends one state datagram and rarely anything else. ENet's pings and their acknowledgements
/// are not counted. They take 24 bytes a second in each direction, because there is a ping every 3 s.
inline constexpr std::size_t kIpUdpBytes = 20 + 8;
inline constexpr std::size_t kUnreliableHeaderBytes = 2;
inline constexpr std::size_t kReliableHeaderBytes = 2 + 2;

inline constexpr std::size_t kStateOverhead =
    kIpUdpBytes + kUnreliableHeaderBytes + 4 + 2 + 2;  // the last two: group and length
// The last one: length.
inline constexpr std::size_t kControlOverhead = kIpUdpBytes + kReliableHeaderBytes + 4 + 2;
inline constexpr std::size_t kFragmentOverhead = kIpUdpBytes + kReliableHeaderBytes + 24;
inline constexpr std::size_t kAcknowledgeBytes = kIpUdpBytes + kUnreliableHeaderBytes + 8;
inline constexpr std::size_t kConnectBytes = kIpUdpBytes + kReliableHeaderBytes + 48;
inline constexpr std::size_t kVerifyConnectBytes = kIpUdpBytes + kReliableHeaderBytes + 44;
inline constexpr std::size_t kDisconnectBytes = kIpUdpBytes + kReliableHeaderBytes + 8;

/// A larger reliable payload is sent in fragments of this size: ENet's default MTU of 1400 minus the headers.
inline constexpr std::size_t kFragmentBytes = 1400 - kReliableHeaderBytes - 24;

}  // namespace reckoner::harness
