// SPDX-License-Identifier: MIT
#include "web/src/listener/data_channels.hpp"

#include "web/src/channel/channel_server.hpp"

#include <utility>

namespace reckoner::web {
namespace {

class DataChannels final : public SideChannels {
 public:
  explicit DataChannels(std::unique_ptr<ChannelServer> server) : server_(std::move(server)) {}

  Result<std::string> open_offer(StreamId stream, const IpAddress& host, std::string_view offer,
                                 double now_s) override {
    return server_->open_offer(stream, host, offer, now_s);
  }
  void close(StreamId stream) override { server_->close(stream); }
  bool send(StreamId stream, std::span<const std::byte> message) override {
    return server_->send(stream, message);
  }
  void pass_on(PipeServer& pipes, double now_s) override { server_->pass_on(pipes, now_s); }
  std::uint16_t port() const override { return server_->port(); }
  std::size_t peers() const override { return server_->peers() - server_->half_open(); }
  const TransportStats& stats() const override { return server_->stats(); }

 private:
  std::unique_ptr<ChannelServer> server_;
};

}  // namespace

Result<std::unique_ptr<SideChannels>> open_data_channels(const WebConfig& config) {
  ChannelServerConfig settings{.host = config.host, .port = config.channel_port};
  if (!config.channel_address.empty()) {
    const auto address = parse_host(config.channel_address);
    if (!address) return Error{"channel_address: " + config.channel_address + " is no IP address"};
    settings.channels.address = *address;
  }
  settings.channels.max_peers = config.max_peers;
  settings.channels.max_peers_per_host = config.max_peers_per_host;
  settings.channels.limits = config.limits;
  auto server = ChannelServer::create(settings);
  if (!server) return Error{"data channels: " + server.error()};
  return std::unique_ptr<SideChannels>(std::make_unique<DataChannels>(std::move(*server)));
}

}  // namespace reckoner::web
