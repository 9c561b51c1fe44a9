// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <reckoner.h>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner::capi {

/// The way into a server for players in browsers, beside its native transport. web_entrance.cpp implements it
/// with reckoner::web; no_web_entrance.cpp stands in where the library is built without it.
class WebEntrance {
 public:
  virtual ~WebEntrance() = default;
  /// The transport of all clients, native and in browsers.
  [[nodiscard]] virtual Transport& all() = 0;
  /// True if a peer of all() is in a browser.
  [[nodiscard]] virtual bool has(PeerId peer) const = 0;
  /// What the token of a peer in a browser says.
  [[nodiscard]] virtual std::optional<ClientIdentity> identity(PeerId peer) const = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// Numbers of clients and of TCP connections.
  [[nodiscard]] virtual std::size_t peers() const = 0;
  [[nodiscard]] virtual std::size_t connections() const = 0;
  /// The UDP port of the data channels, 0 if there are none, and the number of open ones.
  [[nodiscard]] virtual std::uint16_t channel_port() const = 0;
  [[nodiscard]] virtual std::size_t channels() const = 0;
};

/// An entrance, or why there is none.
struct OpenedEntrance {
  std::unique_ptr<WebEntrance> entrance;
  reckoner_result result = RECKONER_OK;
  std::string fault;
};

/// Listens for browsers. `native` must outlive the entrance, and has the same `security`.
[[nodiscard]] OpenedEntrance open_web_entrance(const reckoner_web_config& config,
                                               const OrInsecure<ServerSecurity>& security,
                                               NetworkTransport& native);

}  // namespace reckoner::capi
