// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace reckoner::enet_limits {

// Datagrams of 1232 bytes and less pass every path that carries IPv6; a full state payload still fits.
inline constexpr std::uint32_t kMtu = 1232;

inline constexpr int kSocketBufferBytes = 4 * 1024 * 1024;  // asked for; the system may grant less

// ENet's own timeouts, milliseconds, only back up those of Liveness: they judge by acknowledgements of
// reliable packets alone and would, at the defaults, give up on a lossy link while state still flows.
inline constexpr std::uint32_t kTimeoutFactor = 1024;
// hurry_oldest() makes many attempts, which the factor counts.
inline constexpr double kTimeoutMs = 20000.0;    // at least, and
inline constexpr double kTimeoutSilences = 2.0;  // so many times the silence that a peer is given up after

// ENet pings a peer that has acknowledged nothing reliable for so long, and is acknowledged: at its default
// of 500 ms a tenth of what a Reckoner connection costs at 10 updates a second, which speaks often enough
// itself. One that does not is still heard of thrice before Liveness gives it up.
inline constexpr double kPingMs = 3000.0;  // at most, and
inline constexpr double kPingsPerSilence = 3.3;

// A request to connect takes up a slot until it is confirmed; a spoofed one never is.
inline constexpr std::uint32_t kHalfOpenFactor = 32;
inline constexpr std::uint32_t kHalfOpenLeastMs = 2000;
inline constexpr std::uint32_t kHalfOpenMostMs = 3000;

// One call of service() ends even if somebody sends faster than we read or every datagram is an error.
inline constexpr int kRounds = 1024;
inline constexpr std::uint32_t kDatagramsPerService = 16384;

inline constexpr std::uint32_t kDatagramsPerPass = 256;  // ENet's own: it then turns to sending

inline constexpr int kMostSkipped = 16384;  // empty datagrams after a pass

inline constexpr double kLookSeconds = 0.05;  // between two looks at who is silent; they walk all peers

inline constexpr double kWaitSliceSeconds = 0.05;  // so that ENet's resends stay on time in a long wait

}  // namespace reckoner::enet_limits
