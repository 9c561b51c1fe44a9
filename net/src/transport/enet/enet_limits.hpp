// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace reckoner::enet_limits {

// Datagrams of up to 1232 bytes pass every path that carries IPv6. A full state payload still fits.
inline constexpr std::uint32_t kMtu = 1232;

inline constexpr int kSocketBufferBytes = 4 * 1024 * 1024;  // requested; the system may grant less

// ENet's own timeouts are only a backup for Liveness. They judge by acknowledgements of reliable packets
// alone. With ENet's defaults they would close a lossy link on which state still flows. The factor is high
// because ENet counts resends against it, and hurry_oldest() causes many resends.
inline constexpr std::uint32_t kTimeoutFactor = 1024;
// A peer's timeout is the larger of these two.
inline constexpr double kTimeoutMs = 20000.0;    // ms
inline constexpr double kTimeoutSilences = 2.0;  // multiples of TransportLimits::silence_s

// ENet pings a peer if no reliable packet was acknowledged for this interval. The peer acknowledges the ping.
// At ENet's default of 500 ms, pings are a tenth of the traffic of a Reckoner connection at 10 updates a
// second. Such a connection sends often enough without them. A peer that sends nothing else still answers
// three pings before Liveness gives it up. The interval is the smaller of kPingMs and the silence limit
// divided by kPingsPerSilence.
inline constexpr double kPingMs = 3000.0;  // ms
inline constexpr double kPingsPerSilence = 3.3;

// A request to connect occupies a peer slot until the client confirms it. A spoofed request is never
// confirmed, so it must time out soon.
inline constexpr std::uint32_t kHalfOpenFactor = 32;
inline constexpr std::uint32_t kHalfOpenLeastMs = 2000;
inline constexpr std::uint32_t kHalfOpenMostMs = 3000;

// Bounds for one call of service(). The call ends even if datagrams arrive faster than it reads them, or if
// every datagram causes an error.
inline constexpr int kRounds = 1024;
inline constexpr std::uint32_t kDatagramsPerService = 16384;

inline constexpr std::uint32_t kDatagramsPerPass = 256;  // ENet's own limit; ENet then starts to send

inline constexpr int kMostSkipped = 16384;  // empty datagrams that are removed after one pass

inline constexpr double kLookSeconds =
    0.05;  // s between two checks for silent peers; each check visits all peers

}  // namespace reckoner::enet_limits
