// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/socket_address.hpp>

namespace reckoner {

/// Looks up the addresses of a server without blocking the caller. A name, or an IPv4 address to which this
/// machine has no route, is looked up on a thread of its own, because the system's look-up can take many
/// seconds. In a network with NAT64, an IPv4 address gets its translated IPv6 address.
class HostLookup {
 public:
  /// Starts the look-up. `resolve`: see ResolveHost; empty: resolve_host().
  HostLookup(const std::string& host, std::uint16_t port, const ResolveHost& resolve);

  /// Returns the addresses, in the order of preference, once the look-up has ended; empty if there is none.
  /// Returns nullopt before. The thread of a look-up that is given up ends on its own.
  [[nodiscard]] std::optional<std::vector<SocketAddress>> poll();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

/// Finds the addresses of a host, as HostLookup does on its thread. `has_route(address)`: whether this
/// machine has a route to the address.
[[nodiscard]] std::vector<SocketAddress> find_addresses(const std::string& host, std::uint16_t port,
                                                        const ResolveHost& resolve,
                                                        bool (*has_route)(const SocketAddress& address));

}  // namespace reckoner
