// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>

#include <reckoner/net/socket_address.hpp>

namespace reckoner {

/// The prefix under which a network translates IPv6 to IPv4 (NAT64). Machines in such a network have no IPv4.
/// They reach an IPv4 host at an IPv6 address that contains the IPv4 address (RFC 6052, 2.2).
struct Nat64Prefix {
  IpAddress prefix;  ///< the bits behind the prefix are 0
  int bits = 96;     ///< 32, 40, 48, 56, 64 or 96

  /// Returns the IPv6 address of an IPv4 host. `ipv4` must be an IPv4 address.
  [[nodiscard]] IpAddress address_of(const IpAddress& ipv4) const;
};

/// Name of a host with two known IPv4 addresses and no IPv6 address. Whatever IPv6 address a network returns
/// for it is a translated one (RFC 7050).
inline constexpr char kNat64TestName[] = "ipv4only.arpa";

/// Finds the prefix of the network in its answer for kNat64TestName. Returns nullopt if the answer contains
/// no translated address.
[[nodiscard]] std::optional<Nat64Prefix> find_nat64_prefix(std::span<const SocketAddress> answer);

}  // namespace reckoner
