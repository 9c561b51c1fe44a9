// SPDX-License-Identifier: MIT
#pragma once

#include "real_time.hpp"
#include "relay.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/network_transport.hpp>

namespace reckoner::test {

/// A server on loopback that admits clients with a token, its clients, and optionally a relay in between. All
/// run in turn on this thread.
template <class Transport>
class TokenServer : public testing::Test {
 protected:
  static constexpr std::uint64_t kGame = 12;

  SecretKey key = SecretKey::make();
  EndOf<Transport> server;
  std::unique_ptr<Relay> relay;
  std::vector<std::unique_ptr<End>> clients;

  /// Takes the result of the transport's listen().
  template <class Listening>
  void serve(Listening listening) {
    ASSERT_TRUE(listening) << listening.error();
    server.transport = std::move(*listening);
  }
  void put_relay_in_front() { relay = std::make_unique<Relay>(server.transport->port()); }
  [[nodiscard]] std::uint16_t port() const { return server.transport->port(); }

  [[nodiscard]] ConnectGrant grant(std::uint64_t client_id) const {
    ConnectGrant grant{.client_id = client_id, .expires_s = unix_s() + 60};
    grant.servers = {{test::loopback_ip(), port()}};
    return grant;
  }
  [[nodiscard]] ConnectToken token(std::uint64_t client_id = 1) const {
    return *issue_token(grant(client_id), key, kGame);
  }

  End& add_client() { return *clients.emplace_back(std::make_unique<End>()); }
  static void connect(End& client, std::uint16_t to, const OrInsecure<ClientSecurity>& security) {
    auto connecting = NetworkTransport::connect(
        {.host = test::loopback(), .port = to, .security = security, .transport = "udp"});
    ASSERT_TRUE(connecting) << connecting.error();
    client.transport = std::move(*connecting);
  }
  /// Starts to join.
  End& join(const ConnectToken& with, std::uint16_t to) {
    End& client = add_client();
    connect(client, to, ClientSecurity{with, kGame});
    return client;
  }

  void turn() {
    server.turn();
    if (relay) relay->turn();
    for (const auto& client : clients)
      client->turn();
  }
  bool until(const std::function<bool()>& done, double patience_s = kTimeoutS) {
    return turn_until([this] { turn(); }, done, patience_s);
  }
};

}  // namespace reckoner::test
