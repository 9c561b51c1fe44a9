// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// An IPv4 or IPv6 address. An IPv4 address is kept in the IPv4-mapped form of IPv6 (RFC
/// 4291, 2.5.5.2), so that one host has one value however its datagrams arrive.
class IpAddress {
 public:
  /// Creates the unspecified address (::), which means "no address" or "every address of this machine".
  constexpr IpAddress() = default;
  /// Creates an IPv4 address from a number: 127.0.0.1 is 0x7f000001.
  constexpr IpAddress(std::uint32_t ipv4) : low_(kMapped | ipv4) {}
  /// Creates an address from its first 8 bytes (`high`) and its last 8 bytes (`low`), both as big-endian
  /// numbers: ::1 is {0, 1}.
  constexpr IpAddress(std::uint64_t high, std::uint64_t low) : high_(high), low_(low) {}

  /// Returns true for an IPv4 address.
  [[nodiscard]] constexpr bool is_ipv4() const { return high_ == 0 && low_ >> 32 == kMapped >> 32; }
  /// Returns an IPv4 address as a number. Only for addresses for which is_ipv4() is true.
  [[nodiscard]] constexpr std::uint32_t ipv4() const { return static_cast<std::uint32_t>(low_); }
  /// Returns the first 8 bytes as a big-endian number.
  [[nodiscard]] constexpr std::uint64_t high() const { return high_; }
  /// Returns the last 8 bytes as a big-endian number.
  [[nodiscard]] constexpr std::uint64_t low() const { return low_; }
  /// Returns true for 0.0.0.0 and ::.
  [[nodiscard]] constexpr bool is_any() const { return high_ == 0 && (low_ == 0 || low_ == kMapped); }
  /// Returns true for fe80::/10. Such an address is valid only on one link, so a token cannot name it.
  [[nodiscard]] constexpr bool is_link_local() const { return high_ >> 54 == 0xfe80u >> 6; }
  /// Returns true if no single host can have this address: multicast, or the IPv4 broadcast address.
  [[nodiscard]] constexpr bool is_multicast() const {
    return is_ipv4() ? ipv4() >> 28 == 0xe || ipv4() == 0xffff'ffff : high_ >> 56 == 0xff;
  }

  /// Returns the address that limits count as one host: an IPv4 address, or the /64 network of an IPv6
  /// address (with zeros behind it). A household gets a whole /64, so its owner has 2^64 addresses.
  [[nodiscard]] constexpr IpAddress limited_host() const { return is_ipv4() ? *this : IpAddress(high_, 0); }

  /// Returns true if both are one address.
  constexpr bool operator==(const IpAddress&) const = default;

 private:
  static constexpr std::uint64_t kMapped = 0xffff'0000'0000;
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

/// An IP address and a UDP port.
struct SocketAddress {
  IpAddress host;           ///< IPv4 or IPv6 address
  std::uint16_t port = 0;   ///< UDP port in host byte order
  std::uint32_t scope = 0;  ///< number of the network interface of a link-local IPv6 address; otherwise 0
  /// Returns true if hosts, ports and scopes are equal.
  constexpr bool operator==(const SocketAddress&) const = default;
};

/// Returns the host as text, for example "127.0.0.1", "2001:db8::1" (RFC 5952) or "fe80::1%2".
[[nodiscard]] RECKONER_NET_API std::string host_text(const SocketAddress& address);

/// Returns the host and the port as text, for example "127.0.0.1:4000" or "[::1]:4000".
[[nodiscard]] RECKONER_NET_API std::string text_of(const SocketAddress& address);

/// Reads an address without a port: "127.0.0.1", "::1", "[::1]" or "fe80::1%2" (the scope as a number, or as
/// the name of an interface where the system knows names). Returns nullopt for other text, also for names of
/// hosts. The port of the result is 0.
[[nodiscard]] RECKONER_NET_API std::optional<SocketAddress> parse_host(std::string_view text);

/// A host and a port, as a person writes them.
struct HostAndPort {
  std::string host;        ///< a name or an address, without brackets
  std::uint16_t port = 0;  ///< UDP port; 0: not given
};

/// Splits "HOST", "HOST:PORT", "[IPV6]", "[IPV6]:PORT" or "IPV6". Does not look up names. Returns nullopt if
/// the host is empty, the port is not a number from 1 to 65535, or the text in brackets is no IPv6 address.
[[nodiscard]] RECKONER_NET_API std::optional<HostAndPort> split_host_port(std::string_view text);

/// A hash of an address for unordered containers.
struct IpAddressHash {
  /// Returns the hash.
  [[nodiscard]] std::size_t operator()(const IpAddress& address) const {
    constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
    const std::uint64_t mixed = (address.high() ^ (address.low() * kOdd)) * kOdd;
    return static_cast<std::size_t>(mixed ^ mixed >> 32);
  }
};

}  // namespace reckoner
