// SPDX-License-Identifier: MIT
#include "web/src/channel/listener_channels.hpp"

#include "web/src/channel/channel_server.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace reckoner::web {
namespace {

class ListenerChannels final : public SideChannels {
 public:
  ListenerChannels(std::unique_ptr<ChannelServer> server, std::optional<IpAddress> address,
                   std::uint16_t public_port)
      : server_(std::move(server)), address_(address), public_port_(public_port) {}

  Result<std::string> open_offer(StreamId stream, const IpAddress& host, const IpAddress& reached,
                                 std::string_view offer, double now_s) override {
    const SocketAddress at{address_.value_or(reached), public_port_ != 0 ? public_port_ : server_->port()};
    if (at.host.is_any()) return Error{"The server does not know its address: it stays on the WebSocket."};
    return server_->open_offer(stream, host, offer, now_s, at);
  }

  void close(StreamId stream) override { server_->close(stream); }

  // Nothing calls a transport after a tick, so that a message that waited for others would wait until the
  // server reads its sockets again.
  bool send(StreamId stream, std::span<const std::byte> message) override {
    const bool sent = server_->send(stream, message);
    if (sent) server_->flush();
    return sent;
  }

  void pass_on(PipeServer& pipes, double now_s) override { server_->pass_on(pipes, now_s); }

  [[nodiscard]] std::uint16_t port() const override { return server_->port(); }
  void count(WebStats& stats) const override {
    stats.channels = server_->peers() - server_->half_open();
    stats.channels_half = server_->half_open();
    stats.replaced = server_->replaced();
  }
  [[nodiscard]] const TransportStats& stats() const override { return server_->stats(); }

 private:
  std::unique_ptr<ChannelServer> server_;
  std::optional<IpAddress> address_;  // nullopt: that which the client has reached
  std::uint16_t public_port_;
};

}  // namespace

Result<std::unique_ptr<SideChannels>> open_channels(const WebConfig& config) {
  const auto address = parse_host(config.channels.address);
  ChannelServerConfig server{.port = config.channels.port,
                             .channels = {.max_peers = config.max_peers,
                                          .max_peers_per_host = config.max_peers_per_host,
                                          .max_half_open = config.max_peers,
                                          .limits = config.limits}};
  // Each answer has an address of its own, so this one is never sent.
  server.channels.address.host = IpAddress(0x7f00'0001);
  // A name may have several addresses, of which not all are of this machine.
  std::vector<std::string> hosts{config.host};
  if (!config.host.empty() && !parse_host(config.host)) {
    hosts.clear();
    for (const SocketAddress& each : resolve_host(config.host))
      hosts.push_back(host_text(each));
  }
  std::string why = "the host has no address";
  for (const std::string& host : hosts) {
    server.host = host;
    auto opened = ChannelServer::create(server);
    if (opened) {
      return std::unique_ptr<SideChannels>(std::make_unique<ListenerChannels>(
          std::move(*opened), address ? std::optional(address->host) : std::nullopt,
          config.channels.public_port));
    }
    why = opened.error();
  }
  return Error{"could not open the data channels of the browsers on " + config.host + ':' +
               std::to_string(config.channels.port) + " (UDP): " + why};
}

}  // namespace reckoner::web
