// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <reckoner.h>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner::capi {

class WebEntrance;

/// How clients reach a server of the C library: over sockets, or in WebAssembly over the WebSockets of
/// Node.js. Each build of the library has one implementation.
class ServerNetwork {
 public:
  virtual ~ServerNetwork() = default;

  [[nodiscard]] virtual Transport& transport() = 0;
  /// The UDP port in use; 0 if there is none.
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// Waits until data arrives or `seconds` have passed, if this network can wait.
  virtual void wait(double seconds) = 0;
  /// What the token of a peer says; nullopt if it needed none.
  [[nodiscard]] virtual std::optional<ClientIdentity> identity(PeerId peer) const = 0;
  /// The way in for players in browsers; null if there is none.
  [[nodiscard]] virtual const WebEntrance* web() const { return nullptr; }
};

/// What is wrong with the pointers that say how to listen and who may join. Empty: nothing.
[[nodiscard]] std::string_view network_fault(const reckoner_server_config& config);

/// An error of open_network().
struct ServerNetworkFailure {
  reckoner_result result = RECKONER_ERROR_NETWORK;
  std::string reason;
};

/// Opens the network of a new server, whose configuration network_fault() has accepted. Null and `failure` if
/// that is not possible.
[[nodiscard]] std::unique_ptr<ServerNetwork> open_network(const reckoner_server_config& config,
                                                          ServerNetworkFailure& failure);

}  // namespace reckoner::capi
