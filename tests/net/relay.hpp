// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <reckoner/net/enet_transport.hpp>

namespace reckoner::test {

using Bytes = std::vector<std::byte>;

/// A transport and everything that happened on it.
struct End {
  std::unique_ptr<EnetTransport> transport;
  std::vector<PeerId> connected, disconnected;
  std::vector<std::uint32_t> reasons;  ///< of those disconnected
  std::vector<Bytes> state, control;

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
        (event->channel == Channel::state ? state : control)
            .emplace_back(event->payload.begin(), event->payload.end());
    }
  }
};

/// Between one client and the server: sees all, and can send what it likes from where it likes.
class Relay {
 public:
  explicit Relay(std::uint16_t server) : server_(address(server)), front_(open()), back_(open()) {}
  ~Relay() {
    close(front_);
    close(back_);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_of(front_); }
  void turn() {
    Bytes bytes;
    while (receive(front_, bytes, &client_)) {
      up.push_back(bytes);
      if (swallow_up && swallow_up(bytes)) continue;
      send_up(bytes);
    }
    while (receive(back_, bytes, nullptr)) {
      down.push_back(bytes);
      if (swallow_down && swallow_down(bytes)) continue;
      (void)sendto(front_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&client_),
                   sizeof client_);
    }
  }
  void send_up(const Bytes& bytes) const {
    (void)sendto(back_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&server_),
                 sizeof server_);
  }
  /// From now on the server sees the client at another port.
  void rebind() {
    close(back_);
    back_ = open();
  }
  std::vector<Bytes> up, down;                                 ///< all that went by
  std::function<bool(const Bytes&)> swallow_up, swallow_down;  ///< true: it goes no further

 private:
  static sockaddr_in address(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }
  static int open() {
    const int file = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    const sockaddr_in any = address(0);
    EXPECT_EQ(bind(file, reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
    return file;
  }
  static std::uint16_t port_of(int file) {
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    EXPECT_EQ(getsockname(file, reinterpret_cast<sockaddr*>(&bound), &size), 0);
    return ntohs(bound.sin_port);
  }
  static bool receive(int file, Bytes& bytes, sockaddr_in* from) {
    bytes.resize(2000);
    sockaddr_in sender{};
    socklen_t size = sizeof sender;
    const ssize_t got =
        recvfrom(file, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&sender), &size);
    if (got < 0) return false;
    bytes.resize(static_cast<std::size_t>(got));
    if (from != nullptr) *from = sender;
    return true;
  }

  sockaddr_in server_;
  sockaddr_in client_{};
  int front_, back_;
};

}  // namespace reckoner::test
