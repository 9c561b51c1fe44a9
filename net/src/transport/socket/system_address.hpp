// SPDX-License-Identifier: MIT
#pragma once

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <reckoner/net/socket_address.hpp>

namespace reckoner {

/// An address in the system's form.
union SystemAddress {
  sockaddr generic;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

/// On Windows, a process must start its sockets before it calls their functions, those for addresses
/// included. Nothing stops them again, because the game may use sockets, too. Does nothing on other systems.
inline void start_sockets() {
#ifdef _WIN32
  static const int failed = [] {
    WSADATA unused{};
    return WSAStartup(MAKEWORD(2, 2), &unused);
  }();
  (void)failed;
#endif
}

/// The 16 bytes of an address, in network order.
using IpBytes = std::array<std::uint8_t, 16>;

inline IpBytes bytes_of(const IpAddress& address) {
  IpBytes bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(address.high() >> (56 - 8 * i));
    bytes[8 + i] = static_cast<std::uint8_t>(address.low() >> (56 - 8 * i));
  }
  return bytes;
}

inline IpAddress ip_of(const IpBytes& bytes) {
  std::uint64_t high = 0, low = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    high = high << 8 | bytes[i];
    low = low << 8 | bytes[8 + i];
  }
  return {high, low};
}

/// Writes an address for a socket of the family `family`, AF_INET or AF_INET6. An AF_INET6 socket gets an
/// IPv4 address in its mapped form. Returns the size of the system's form, bytes.
inline socklen_t to_system(const SocketAddress& address, int family, SystemAddress& out) {
  if (family == AF_INET) {
    out.v4 = {};
    out.v4.sin_family = AF_INET;
    out.v4.sin_port = htons(address.port);
    out.v4.sin_addr.s_addr = htonl(address.host.ipv4());
    return sizeof out.v4;
  }
  const IpBytes bytes = bytes_of(address.host);
  out.v6 = {};
  out.v6.sin6_family = AF_INET6;
  out.v6.sin6_port = htons(address.port);
  out.v6.sin6_scope_id = address.scope;
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::uint8_t*>(&out.v6.sin6_addr));
  return sizeof out.v6;
}

/// Reads an address in the system's form. Of another family: the unspecified address.
inline SocketAddress from_system(const SystemAddress& in) {
  if (in.generic.sa_family == AF_INET)
    return {IpAddress(ntohl(in.v4.sin_addr.s_addr)), ntohs(in.v4.sin_port)};
  if (in.generic.sa_family != AF_INET6) return {};
  IpBytes bytes;
  const auto* const first = reinterpret_cast<const std::uint8_t*>(&in.v6.sin6_addr);
  std::copy(first, first + bytes.size(), bytes.begin());
  return {ip_of(bytes), ntohs(in.v6.sin6_port), in.v6.sin6_scope_id};
}

}  // namespace reckoner
