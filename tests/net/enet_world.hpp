// SPDX-License-Identifier: MIT
#pragma once

#include "real_time.hpp"
#include "tests/support/loopback.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/network_transport.hpp>

namespace reckoner::test {

using Bytes = std::vector<std::byte>;

/// The transport "enet" serves IPv4 only, whatever address the other tests use.
inline const std::string kEnetHost = "127.0.0.1";

/// A transport and what it has reported.
struct EnetEnd {
  struct Received {
    PeerId peer;
    Bytes payload;
  };

  std::unique_ptr<NetworkTransport> transport;
  std::vector<PeerId> connected, disconnected;
  std::vector<std::uint32_t> versions;  ///< reasons of the connects
  std::vector<std::uint32_t> reasons;   ///< reasons of the disconnects
  std::vector<Received> received;

  void turn() {
    if (!transport) return;
    transport->service(0.0);
    poll();
  }
  void poll() {
    while (const auto event = transport->poll()) {
      switch (event->kind) {
        case TransportEvent::Kind::connected:
          connected.push_back(event->peer);
          versions.push_back(event->reason);
          break;
        case TransportEvent::Kind::disconnected:
          disconnected.push_back(event->peer);
          reasons.push_back(event->reason);
          break;
        case TransportEvent::Kind::received:
          received.push_back({event->peer, {event->payload.begin(), event->payload.end()}});
          break;
      }
    }
  }
  [[nodiscard]] const TransportStats& stats() const { return transport->stats(); }
  [[nodiscard]] std::uint64_t refused(Refusal why) const { return stats().refusals[why]; }
};

inline Bytes pattern(std::size_t size, std::size_t seed = 1) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>((i * 31 + seed) & 0xFF);
  return bytes;
}

/// A server with the transport "enet", and its log.
class EnetWorld : public ::testing::Test {
 protected:
  static ListenConfig config() {
    return {.host = kEnetHost, .max_peers = 8, .security = Insecure{}, .transport = "enet"};
  }
  void listen(ListenConfig with) {
    with.log = [this](const LogRecord& record) { log.push_back(text_of(record)); };
    server = {};
    auto listening = NetworkTransport::listen(with);
    ASSERT_TRUE(listening) << listening.error();
    server.transport = std::move(*listening);
    ASSERT_NE(port(), 0);
  }
  [[nodiscard]] std::uint16_t port() const { return server.transport->port(); }

  static void dial(EnetEnd& client, std::uint16_t to, const std::string& host = kEnetHost,
                   std::uint16_t version = 7, const ResolveHost& resolve = {}) {
    auto connecting = NetworkTransport::connect({.host = host,
                                                 .port = to,
                                                 .security = Insecure{},
                                                 .transport = "enet",
                                                 .resolve = resolve,
                                                 .version = version});
    ASSERT_TRUE(connecting) << connecting.error();
    client.transport = std::move(*connecting);
  }
  /// Connects a client to the server.
  void join(EnetEnd& client, std::uint16_t version = 7) {
    const std::size_t before = server.connected.size();
    dial(client, port(), kEnetHost, version);
    ASSERT_TRUE(
        until({&client}, [&] { return !client.connected.empty() && server.connected.size() > before; }));
  }
  /// Lets the server and these ends work until `done`.
  bool until(const std::vector<EnetEnd*>& ends, const std::function<bool()>& done,
             double patience_s = kTimeoutS) {
    const auto turn = [&] {
      server.turn();
      for (EnetEnd* end : ends)
        end->turn();
    };
    return turn_until(turn, done, patience_s);
  }
  void pass(const std::vector<EnetEnd*>& ends, double seconds) {
    (void)until(
        ends, [] { return false; }, seconds);
  }
  [[nodiscard]] bool has_logged(const std::string& text) const {
    for (const std::string& line : log) {
      if (line.find(text) != std::string::npos) return true;
    }
    return false;
  }

  std::vector<std::string> log;  ///< of the server; exists longer than the server
  EnetEnd server;
};

}  // namespace reckoner::test
