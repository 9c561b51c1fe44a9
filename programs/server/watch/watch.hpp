// SPDX-License-Identifier: MIT
#pragma once

#include "programs/server/options.hpp"

#include <cstdint>
#include <memory>
#include <string>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::program {

/// The live view of a server, or nothing if it was not requested or is not part of this build.
class Watch {
 public:
  /// Opens the live view if there is a --watch-port. `udp` must outlive the result and is served through
  /// transport(). Both remember used tokens together. Fails if this build has no live view, if the address
  /// cannot be bound, or if tokens would travel unencrypted to another machine.
  [[nodiscard]] static Result<std::unique_ptr<Watch>> open(const ServerOptions& options,
                                                           NetworkTransport& udp,
                                                           const OrInsecure<ServerSecurity>& security);
  virtual ~Watch() = default;

  /// The transport for the server: of all clients, those over UDP and those in browsers.
  [[nodiscard]] virtual Transport& transport() = 0;
  /// Sends the server's status to the watchers twice a second. Call it after each tick.
  virtual void note_tick(const Server& server, double now_s) = 0;
  /// The TCP port; 0 if there is no live view.
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// The address of the page, or of the WebSocket if there is no page.
  [[nodiscard]] virtual std::string address() const = 0;
};

/// A server without a live view.
class NoWatch final : public Watch {
 public:
  explicit NoWatch(Transport& udp) : udp_(udp) {}
  [[nodiscard]] Transport& transport() override { return udp_; }
  void note_tick(const Server&, double) override {}
  [[nodiscard]] std::uint16_t port() const override { return 0; }
  [[nodiscard]] std::string address() const override { return {}; }

 private:
  Transport& udp_;
};

}  // namespace reckoner::program
