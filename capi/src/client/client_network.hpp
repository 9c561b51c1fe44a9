// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <reckoner.h>

#include <reckoner/client/client.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::capi {

/// How a client of the C library reaches its server: sockets, or the WebSocket of a page in WebAssembly. Each
/// build of the library has one implementation.
class ClientNetwork {
 public:
  virtual ~ClientNetwork() = default;

  /// Creates the client, which uses this network as long as it lives. Fails if a setting is invalid.
  [[nodiscard]] virtual Result<Client> create_client(ClientConfig config) = 0;
  /// Waits until data arrives or `seconds` have passed, if this network can wait.
  virtual void wait(double seconds) = 0;
  /// As reckoner_client_set_token() and reckoner_client_ticket().
  [[nodiscard]] virtual reckoner_result set_token(const std::uint8_t token[1024]) = 0;
  [[nodiscard]] virtual reckoner_result ticket(std::uint8_t token[1024]) const = 0;
  /// Counters of all connections so far.
  [[nodiscard]] virtual TransportStats stats() const = 0;
};

/// What is wrong with the members that say how to reach the server. Empty: nothing.
[[nodiscard]] std::string_view network_fault(const reckoner_client_config& config);

/// An error of open_network().
struct NetworkFailure {
  reckoner_result result = RECKONER_ERROR_ARGUMENT;
  std::string reason;
};

/// Opens the network of a new client, whose configuration network_fault() has accepted. Null and `failure` if
/// that is not possible.
[[nodiscard]] std::unique_ptr<ClientNetwork> open_network(const reckoner_client_config& config,
                                                          NetworkFailure& failure);

}  // namespace reckoner::capi
