// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/socket_address.hpp>

namespace reckoner::program {

/// Decides who may watch: anybody on an insecure server, otherwise the bearer of a token for this server. A
/// token is valid once here, apart from its one use over UDP. The stream itself must be confidential (TLS),
/// because the token is sent as it is.
class WatchGate {
 public:
  /// `udp_port` replaces a port of 0 in the server's addresses.
  WatchGate(OrInsecure<ServerSecurity> security, std::uint16_t udp_port);

  /// Returns why the bearer of the token is refused, or nullopt. `unix_s` is the time, s since 1970.
  [[nodiscard]] std::optional<Refusal> refuse(std::span<const std::byte> token, std::uint64_t unix_s);

  [[nodiscard]] std::size_t remembered() const { return used_.size(); }

 private:
  OrInsecure<ServerSecurity> security_;
  std::vector<SocketAddress> addresses_;
  std::map<std::vector<std::byte>, std::uint64_t> used_;  // nonces of used tokens, and when they expire
};

}  // namespace reckoner::program
