// SPDX-License-Identifier: MIT
#include "capi/src/server/web_entrance.hpp"

#include "capi/src/values/boundary.hpp"
#include "capi/src/values/convert.hpp"
#include "capi/src/values/web_struct.hpp"

#include <utility>

#include <reckoner_web.h>

#include <reckoner/net/joined_transport.hpp>
#include <reckoner/web/web_listener.hpp>

using namespace reckoner;

namespace {

class Entrance final : public capi::WebEntrance {
 public:
  Entrance(NetworkTransport& native, std::unique_ptr<WebListener> web)
      : web_(std::move(web)), both_(native, *web_) {}

  [[nodiscard]] Transport& all() override { return both_; }
  [[nodiscard]] bool has(PeerId peer) const override { return JoinedTransport::is_of_second(peer); }
  [[nodiscard]] std::optional<ClientIdentity> identity(PeerId peer) const override {
    return web_->identity(JoinedTransport::own_id(peer));
  }
  [[nodiscard]] std::uint16_t port() const override { return web_->port(); }
  [[nodiscard]] std::size_t peers() const override { return web_->web_stats().peers; }
  [[nodiscard]] std::size_t connections() const override { return web_->web_stats().connections; }
  [[nodiscard]] std::uint16_t channel_port() const override { return web_->channel_port(); }
  [[nodiscard]] std::size_t channels() const override { return web_->web_stats().channels; }

 private:
  std::unique_ptr<WebListener> web_;
  JoinedTransport both_;
};

void copy_text(std::string& to, const char* from) {
  if (from != nullptr) to = from;
}

}  // namespace

capi::OpenedEntrance capi::open_web_entrance(const reckoner_web_config& given,
                                             const OrInsecure<ServerSecurity>& security,
                                             NetworkTransport& native) {
  reckoner_web_config c;
  reckoner_web_config_init(&c, sizeof c);
  if (const auto result = read_struct(&given, c); result != RECKONER_OK) return {.result = result};
  if (c.origin_count != 0 && c.origins == nullptr)
    return {.result = RECKONER_ERROR_ARGUMENT, .fault = "origins is null and origin_count is not 0"};
  WebConfig config{.port = c.port, .security = security, .beside = &native};
  copy_text(config.host, c.host);
  copy_text(config.certificate, c.certificate);
  copy_text(config.key, c.key);
  copy_text(config.folder, c.folder);
  copy_text(config.front_page, c.front_page);
  copy_text(config.content_policy, c.content_policy);
  for (std::uint32_t i = 0; i < c.origin_count; ++i) {
    if (c.origins[i] == nullptr)
      return {.result = RECKONER_ERROR_ARGUMENT, .fault = "an element of origins is null"};
    config.origins.emplace_back(c.origins[i]);
  }
  config.without_origin = c.without_origin != 0;
  config.tls_ends_at_proxy = c.tls_ends_at_proxy != 0;
  config.max_peers = c.max_peers;
  config.max_peers_per_host = c.max_peers_per_host;
  config.max_connections = c.max_connections;
  config.max_connections_per_host = c.max_connections_per_host;
  config.join_s = c.join_s;
  config.data_channels = c.data_channels != 0;
  config.channel_port = c.channel_port;
  config.channel_public_port = c.channel_public_port;
  copy_text(config.channel_address, c.channel_address);
  if (const auto invalid = find_invalid_setting(config))
    return {.result = RECKONER_ERROR_ARGUMENT, .fault = invalid->message};
  auto web = WebListener::open(config);
  if (!web) return {.result = RECKONER_ERROR_NETWORK, .fault = web.error()};
  return {.entrance = std::make_unique<Entrance>(native, std::move(*web))};
}

void reckoner_web_config_init(reckoner_web_config* config, std::uint32_t struct_size) {
  const WebConfig defaults{.security = Insecure{}};
  reckoner_web_config c{};
  c.max_peers = static_cast<std::uint32_t>(defaults.max_peers);
  c.max_peers_per_host = static_cast<std::uint32_t>(defaults.max_peers_per_host);
  c.max_connections = static_cast<std::uint32_t>(defaults.max_connections);
  c.max_connections_per_host = static_cast<std::uint32_t>(defaults.max_connections_per_host);
  c.join_s = defaults.join_s;
  c.data_channels = defaults.data_channels ? 1 : 0;
  capi::put(config, c, struct_size);
}
