// SPDX-License-Identifier: MIT
// Servers over the sockets of this machine.
#include "capi/src/log.hpp"
#include "capi/src/server/server_network.hpp"
#include "capi/src/server/web_entrance.hpp"
#include "capi/src/values/convert.hpp"
#include "capi/src/values/shared_fields.hpp"

#include <utility>
#include <vector>

#include <reckoner/net/network_transport.hpp>

namespace reckoner::capi {
namespace {

class SocketServerNetwork final : public ServerNetwork {
 public:
  /// `web` may be null.
  SocketServerNetwork(std::unique_ptr<NetworkTransport> transport, std::unique_ptr<WebEntrance> web)
      : transport_(std::move(transport)), web_(std::move(web)) {}

  Transport& transport() override { return web_ != nullptr ? web_->all() : *transport_; }
  std::uint16_t port() const override { return transport_->port(); }
  void wait(double seconds) override { transport_->wait(seconds); }
  std::optional<ClientIdentity> identity(PeerId peer) const override {
    const bool in_browser = web_ != nullptr && web_->has(peer);
    return in_browser ? web_->identity(peer) : transport_->identity(peer);
  }
  const WebEntrance* web() const override { return web_.get(); }

 private:
  std::unique_ptr<NetworkTransport> transport_;  // of native clients
  std::unique_ptr<WebEntrance> web_;             // of browsers, beside it
};

ListenConfig listening(const reckoner_server_config& c) {
  ListenConfig config{.host = c.host != nullptr ? c.host : "",
                      .port = c.port,
                      .max_peers = c.max_clients + kSpareConnections,
                      .security = Insecure{},
                      .log = log_sink(c.log, c.log_user, c.log_least),
                      .transport = c.transport != nullptr ? c.transport : "",
                      .receive_thread = c.receive_thread != 0};
  copy_from_c(kLimitFields, config.limits, c);
  if (c.insecure == 0) {
    ServerSecurity security{.key = key_of(c.key)};
    // network_fault() has checked the text
    security.addresses = addresses_of(c.addresses, c.address_count, c.more_addresses, false)
                             .value_or(std::vector<SocketAddress>());
    copy_from_c(kSecurityFields, security, c);
    config.security = std::move(security);
  }
  return config;
}

}  // namespace

std::string_view network_fault(const reckoner_server_config& c) {
  if (c.insecure == 0 && c.key == nullptr) return "a key must be given, or insecure must be 1";
  if (c.insecure != 0 && c.key != nullptr) return "insecure is 1 and a key is given; only one is allowed";
  if (c.address_count != 0 && c.addresses == nullptr) return "addresses is null and address_count is not 0";
  if (!addresses_of(nullptr, 0, c.more_addresses, false)) return "more_addresses contains no address";
  return {};
}

std::unique_ptr<ServerNetwork> open_network(const reckoner_server_config& c, ServerNetworkFailure& failure) {
  const ListenConfig config = listening(c);
  if (const auto invalid = find_invalid_setting(config)) {
    failure = {RECKONER_ERROR_ARGUMENT, with_c_names(invalid->message)};
    return nullptr;
  }
  auto transport = NetworkTransport::listen(config);
  if (!transport) {
    failure = {RECKONER_ERROR_NETWORK, transport.error()};
    return nullptr;
  }
  OpenedEntrance opened;
  if (c.web != nullptr) {
    opened = open_web_entrance(*c.web, config.security, **transport);
    if (opened.entrance == nullptr) {
      failure = {opened.result, with_c_names(opened.fault)};
      return nullptr;
    }
  }
  return std::make_unique<SocketServerNetwork>(std::move(*transport), std::move(opened.entrance));
}

}  // namespace reckoner::capi
