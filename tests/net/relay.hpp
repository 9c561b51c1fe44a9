// SPDX-License-Identifier: MIT
#pragma once

#include "udp_socket.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <reckoner/net/network_transport.hpp>

namespace reckoner::test {

/// A transport and a record of its events.
template <class Transport>
struct EndOf {
  std::unique_ptr<Transport> transport;
  std::vector<PeerId> connected, disconnected;
  std::vector<std::uint32_t> reasons;  ///< reasons of the disconnects
  std::vector<Bytes> received;

  void turn() {
    if (!transport) return;
    transport->service(0.0);
    while (const auto event = transport->poll()) {
      if (event->kind == TransportEvent::Kind::connected) connected.push_back(event->peer);
      if (event->kind == TransportEvent::Kind::disconnected) {
        disconnected.push_back(event->peer);
        reasons.push_back(event->reason);
      }
      if (event->kind == TransportEvent::Kind::received)
        received.emplace_back(event->payload.begin(), event->payload.end());
    }
  }
};
using End = EndOf<NetworkTransport>;

/// A relay between one client and the server. It sees all datagrams and can send any datagram from any
/// address.
class Relay {
 public:
  /// `host`: address of the server and of the relay.
  explicit Relay(std::uint16_t server, const IpAddress& host = loopback_ip())
      : server_{host, server}, front_(host) {
    rebind();
  }

  [[nodiscard]] std::uint16_t port() const { return front_.port(); }
  /// The client's address when it last sent a datagram.
  [[nodiscard]] const SocketAddress& client() const { return client_; }
  void turn() {
    while (const auto bytes = front_.receive(&client_)) {
      up.push_back(*bytes);
      if (drop_up && drop_up(*bytes)) continue;
      send_up(*bytes);
    }
    while (const auto bytes = back_->receive()) {
      down.push_back(*bytes);
      if (drop_down && drop_down(*bytes)) continue;
      send_down(*bytes);
    }
  }
  void send_up(const Bytes& bytes) { (void)back_->send(server_, bytes); }
  void send_down(const Bytes& bytes) { (void)front_.send(client_, bytes); }
  /// From now on, the server sees the client at another port.
  void rebind() { back_.emplace(server_.host); }
  /// From now on, the relay reaches the server at another of its addresses, perhaps of the other family, so
  /// that the server sees the client at another address.
  void rebind(const IpAddress& server) {
    server_.host = server;
    rebind();
  }

  std::vector<Bytes> up, down;                           ///< all datagrams that passed
  std::function<bool(const Bytes&)> drop_up, drop_down;  ///< returns true to drop a datagram

 private:
  SocketAddress server_, client_;
  UdpSocket front_;
  std::optional<UdpSocket> back_;
};

}  // namespace reckoner::test
