// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include <reckoner/net/socket_address.hpp>

namespace reckoner::test {

inline constexpr IpAddress kLoopback4 = 0x7F000001;
inline constexpr IpAddress kLoopback6{0, 1};

/// The address of this machine over which the tests with sockets run: 127.0.0.1, or ::1 if the environment
/// variable RECKONER_TEST_LOOPBACK says so. CTest runs these tests once for each (tests/CMakeLists.txt).
inline const std::string& loopback() {
  static const std::string host = [] {
    const char* const given = std::getenv("RECKONER_TEST_LOOPBACK");
    return std::string(given != nullptr ? given : "127.0.0.1");
  }();
  return host;
}

inline IpAddress loopback_ip() {
  return parse_host(loopback())->host;
}

/// "127.0.0.1:4000" or "[::1]:4000".
inline std::string loopback_address(std::uint16_t port) {
  return text_of(SocketAddress{loopback_ip(), port});
}
inline std::string loopback_address(const std::string& port) {
  return loopback_address(static_cast<std::uint16_t>(std::stoul(port)));
}

/// Another address of this machine for n in 2 to 254. IPv6 has only one loopback address, so there all are
/// ::1.
inline IpAddress other_loopback(std::uint32_t n) {
  return loopback_ip().is_ipv4() ? IpAddress(0x7F000000 + n) : kLoopback6;
}

}  // namespace reckoner::test
