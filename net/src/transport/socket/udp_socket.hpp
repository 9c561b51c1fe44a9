// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <reckoner/net/socket_address.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// The families of addresses that a socket serves.
enum class IpFamilies : std::uint8_t {
  ipv4,
  ipv6,
  both,  ///< one socket, on one port
};

/// Sizes of the headers before a UDP payload, bytes.
inline constexpr std::size_t kUdpHeaderBytes = 8;
inline constexpr std::size_t kIpv4HeaderBytes = 20;
inline constexpr std::size_t kIpv6HeaderBytes = 40;

/// Size of a datagram on the wire to or from `host`, bytes: the payload with its UDP and IP headers.
[[nodiscard]] constexpr std::size_t wire_size(const IpAddress& host, std::size_t payload_bytes) {
  return payload_bytes + kUdpHeaderBytes + (host.is_ipv4() ? kIpv4HeaderBytes : kIpv6HeaderBytes);
}

/// A UDP socket that never blocks. It serves IPv4, IPv6 or both. A socket for both families is an IPv6 socket
/// that also carries IPv4, so that one port and one read serve both.
class UdpSocket {
 public:
  UdpSocket() = default;
  UdpSocket(UdpSocket&& other) noexcept;
  UdpSocket& operator=(UdpSocket&& other) noexcept;
  ~UdpSocket();

  /// Opens a socket. Returns an empty socket, and sets errno, if the system has no such family.
  [[nodiscard]] static UdpSocket open(IpFamilies families);
  /// Opens a socket for both families, or for IPv4 if the system has no IPv6.
  [[nodiscard]] static UdpSocket open_any();

  /// Binds the socket to an address of this machine; port 0: any free port. The unspecified address stands
  /// for all addresses of the socket's families. Returns false, and sets errno, if that fails.
  [[nodiscard]] bool bind(const SocketAddress& address);

  /// Sends one datagram. Returns false if the system reports an error. A datagram that finds the send buffer
  /// full is lost, as if the network had lost it.
  bool send(const SocketAddress& to, std::span<const std::byte> payload);

  /// Returns the local address. Unspecified if it is unknown.
  [[nodiscard]] SocketAddress local() const;

  /// Asks for buffers of this size, bytes. The system may grant less.
  void set_buffers(int bytes);

  /// Waits until a datagram arrives, a signal interrupts the process or `seconds` have passed. Returns false
  /// only if the time has passed.
  [[nodiscard]] bool wait(double seconds) const;

  [[nodiscard]] explicit operator bool() const { return descriptor_ != kNone; }
  /// The system's descriptor.
  [[nodiscard]] std::intptr_t descriptor() const { return descriptor_; }
  /// The system's family: AF_INET, or AF_INET6 for ipv6 and both.
  [[nodiscard]] int system_family() const { return family_; }

 private:
  static constexpr std::intptr_t kNone = -1;
  void close();

  std::intptr_t descriptor_ = kNone;
  int family_ = 0;
};

/// Returns true if the system knows a route to `address`. Sends nothing.
[[nodiscard]] bool has_route(const SocketAddress& address);

/// Explains from errno why a UDP socket could not be opened (on Windows, if errno is 0, from the last error
/// of the system's sockets). `port` is the port to listen on, or null for a client. `host` is the address to
/// listen on.
[[nodiscard]] Error socket_error(const std::uint16_t* port, const std::string& host);

}  // namespace reckoner
