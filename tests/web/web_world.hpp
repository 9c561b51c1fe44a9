// SPDX-License-Identifier: MIT
#pragma once

#include "tests/programs/web_socket.hpp"
#include "tests/support/loopback.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/client/client.hpp>
#include <reckoner/net/joined_transport.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/pipe_transport.hpp>
#include <reckoner/server/server.hpp>
#include <reckoner/web/web_listener.hpp>

namespace reckoner::test {

inline double machine_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The client library over a WebSocket, as in a page.
class Browser {
 public:
  explicit Browser(std::uint16_t port, std::span<const std::byte> token = {}, const IpAddress& from = {},
                   WebSocket::Security security = WebSocket::Security::none)
      : socket_(port, security, from),
        transport_([this](std::span<const std::byte> sent) { return socket_.send(sent); }, token),
        client_(std::move(*Client::create({}, transport_))) {
    const bool tls = security == WebSocket::Security::tls;
    opened_ = socket_.open((tls ? "https://" : "http://") + url_host());
    if (opened_) transport_.opened();
  }

  void update(double now_s) {
    while (const auto next = socket_.next())
      transport_.received(*next, now_s);
    if (socket_.has_ended()) transport_.closed();
    client_.update(now_s);
  }

  [[nodiscard]] bool opened() const { return opened_; }
  [[nodiscard]] Client& client() { return client_; }
  [[nodiscard]] const PipeTransport& transport() const { return transport_; }

 private:
  WebSocket socket_;
  PipeTransport transport_;
  Client client_;
  bool opened_ = false;
};

/// The client library over UDP.
struct NativePlayer {
  NativePlayer(std::uint16_t port, OrInsecure<ClientSecurity> security)
      : transport(std::move(*NetworkTransport::connect(
            {.host = loopback(), .port = port, .security = std::move(security), .transport = "udp"}))),
        client(std::move(*Client::create({}, *transport))) {}

  std::unique_ptr<NetworkTransport> transport;
  Client client;
};

/// One Server for native players and for browsers. Every client that joins gets an entity.
class WebWorld : public testing::Test {
 protected:
  void start(OrInsecure<ServerSecurity> security, const std::function<void(WebConfig&)>& change = {}) {
    auto udp = NetworkTransport::listen(
        {.host = loopback(), .max_peers = 64, .security = security, .transport = "udp"});
    ASSERT_TRUE(udp) << udp.error();
    udp_ = std::move(*udp);
    WebConfig config{.host = loopback(), .security = security, .beside = udp_.get()};
    if (change) change(config);
    auto web = WebListener::open(config);
    ASSERT_TRUE(web) << web.error();
    web_ = std::move(*web);
    both_.emplace(*udp_, *web_);
    auto server = Server::create({.tick_rate_hz = 30.0, .epoch_s = machine_s()}, *both_);
    ASSERT_TRUE(server) << server.error();
    server_.emplace(std::move(*server));
  }

  Browser& join_from_browser(std::span<const std::byte> token = {}, const IpAddress& from = {}) {
    return *browsers_.emplace_back(std::make_unique<Browser>(web_->port(), token, from));
  }
  NativePlayer& join_natively(OrInsecure<ClientSecurity> security) {
    return *natives_.emplace_back(std::make_unique<NativePlayer>(udp_->port(), std::move(security)));
  }

  /// Serves and shows until this is true. Returns false if it was not within this time.
  bool run_until(const std::function<bool()>& reached, double seconds = 5.0) {
    for (const double until_s = machine_s() + seconds; machine_s() < until_s;) {
      udp_->wait(0.002);
      const double now_s = machine_s();
      server_->run_due_ticks(now_s, [&](double) {});
      while (const auto event = server_->poll_event()) {
        if (event->kind == ServerEvent::Kind::client_joined)
          entities_[event->client] = *server_->spawn(0, "car", {});
        if (event->kind == ServerEvent::Kind::client_left && entities_.contains(event->client))
          (void)server_->despawn(entities_[event->client]);
      }
      for (const auto& each : browsers_)
        each->update(now_s);
      for (const auto& each : natives_)
        each->client.update(now_s);
      if (reached()) return true;
    }
    return false;
  }
  void run_for(double seconds) {
    (void)run_until([] { return false; }, seconds);
  }

  [[nodiscard]] bool shows(Client& client, std::size_t entities) { return client.shown().size() == entities; }
  /// The count of a reason, as soon as it is at least `least`, or after two seconds.
  std::uint64_t refused(Refusal why, std::uint64_t least) {
    const auto count = [&] {
      RefusalCounts counts = web_->stats().refusals;
      return counts[why];
    };
    (void)run_until([&] { return count() >= least; }, 2.0);
    return count();
  }

  std::unique_ptr<NetworkTransport> udp_;
  std::unique_ptr<WebListener> web_;
  std::optional<JoinedTransport> both_;
  std::optional<Server> server_;
  std::map<ClientId, EntityId> entities_;
  std::vector<std::unique_ptr<Browser>> browsers_;
  std::vector<std::unique_ptr<NativePlayer>> natives_;
};

}  // namespace reckoner::test
