// SPDX-License-Identifier: MIT
#include "programs/server/watch/watch.hpp"

#include "programs/server/watch/watch_status.hpp"

#include <algorithm>
#include <utility>

#include <reckoner/net/joined_transport.hpp>
#include <reckoner/web/web_listener.hpp>

namespace reckoner::program {
namespace {

constexpr double kStatusS = 0.5;
// A view is no player: it counts apart, and the token of a player is valid for a view, too.
constexpr std::uint8_t kEntrance = 1;

// With one address of its own and no --address, a server accepts tokens for this address.
OrInsecure<ServerSecurity> with_address(OrInsecure<ServerSecurity> security, const std::string& host) {
  ServerSecurity* const secure = security.get();
  if (secure != nullptr && secure->addresses.empty() && !secure->any_server)
    secure->addresses = resolve_host(host);
  return security;
}

class LiveWatch final : public Watch {
 public:
  LiveWatch(const ServerOptions& options, Transport& udp, std::unique_ptr<WebListener> page)
      : options_(options), page_(std::move(page)), joined_(udp, *page_) {}

  [[nodiscard]] Transport& transport() override { return joined_; }

  void note_tick(const Server& server, double now_s) override {
    if (now_s < next_s_) return;
    next_s_ = now_s + kStatusS;
    page_->send_status(watch_status(server, options_.server.tick_rate_hz, page_->web_stats().peers));
  }

  [[nodiscard]] std::uint16_t port() const override { return page_->port(); }

  [[nodiscard]] std::string address() const override {
    const std::string scheme = options_.watch.page.empty() ? "ws" : "http";
    const bool ipv6 = options_.watch.host.find(':') != std::string::npos;
    return scheme + (options_.watch.certificate.empty() ? "://" : "s://") + (ipv6 ? "[" : "") +
           options_.watch.host + (ipv6 ? "]" : "") + ':' + std::to_string(port()) + '/';
  }

 private:
  const ServerOptions options_;
  std::unique_ptr<WebListener> page_;
  JoinedTransport joined_;
  double next_s_ = 0.0;
};

}  // namespace

Result<std::unique_ptr<Watch>> Watch::open(const ServerOptions& options, NetworkTransport& udp,
                                           const OrInsecure<ServerSecurity>& security) {
  if (!options.watch_port) return std::unique_ptr<Watch>(std::make_unique<NoWatch>(udp));
  const WatchOptions& watch = options.watch;
  for (const std::string& origin : watch.origins) {
    if (find_invalid_setting(WebConfig{.security = Insecure{}, .origins = {origin}})) {
      return Error{
          "--watch-origin " + origin +
          ": not an origin. Give a scheme and a host without a path, for example https://game.example"};
    }
  }
  WebConfig config{.host = watch.host,
                   .port = *options.watch_port,
                   .security = with_address(security, options.host),
                   .beside = &udp,
                   .entrance = kEntrance,
                   .certificate = watch.certificate,
                   .folder = watch.page,
                   .front_page = "live.html",
                   .origins = watch.origins,
                   .data_channels = !watch.no_udp,
                   .channel_port = watch.udp_port,
                   .channel_address = watch.udp_address,
                   .max_peers = watch.most,
                   .max_peers_per_host = std::min<std::size_t>(watch.most, 16)};
  if (find_invalid_setting(WebConfig{.security = Insecure{}, .channel_address = watch.udp_address}))
    return Error{"--watch-udp-address " + watch.udp_address + ": not one specific IP address"};
  if (find_invalid_setting(config)) {
    return Error{
        "--watch-host " + watch.host +
        ": tokens would travel unencrypted. Use --watch-certificate, or 127.0.0.1 and a proxy with TLS"};
  }
  auto page = WebListener::open(config);
  if (!page) return Error{"the live view " + page.error()};
  return std::unique_ptr<Watch>(std::make_unique<LiveWatch>(options, udp, std::move(*page)));
}

}  // namespace reckoner::program
