// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/socket/datagram_intake.hpp"
#include "net/src/transport/socket/udp_socket.hpp"
#include "tests/support/loopback.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/connect_token.hpp>

namespace reckoner::test {

using Bytes = std::vector<std::byte>;

/// A non-blocking UDP socket at a loopback address.
class UdpSocket {
 public:
  explicit UdpSocket(const IpAddress& host = loopback_ip())
      : socket_(reckoner::UdpSocket::open(host.is_ipv4() ? IpFamilies::ipv4 : IpFamilies::ipv6)) {
    EXPECT_TRUE(socket_ && socket_.bind({host, 0}));
  }

  [[nodiscard]] reckoner::UdpSocket& socket() { return socket_; }
  [[nodiscard]] int file() const { return static_cast<int>(socket_.descriptor()); }
  [[nodiscard]] std::uint16_t port() const { return socket_.local().port; }
  [[nodiscard]] SocketAddress address() const { return socket_.local(); }
  /// True if the whole datagram was sent.
  bool send(const SocketAddress& to, std::span<const std::byte> bytes) { return socket_.send(to, bytes); }
  /// The next waiting datagram, up to 2000 bytes of it, and its source address. nullopt if none waits.
  [[nodiscard]] std::optional<Bytes> receive(SocketAddress* from = nullptr) {
    const auto got = intake_.read(socket_);
    if (got.empty()) return std::nullopt;
    if (from != nullptr) *from = got[0].from;
    return Bytes(got[0].payload.begin(), got[0].payload.end());
  }
  /// The next datagram, or the first that arrives within `patience_ms`. nullopt if none arrives.
  [[nodiscard]] std::optional<Bytes> await(int patience_ms) {
    return socket_.wait(0.001 * patience_ms) ? receive() : std::nullopt;
  }

 private:
  reckoner::UdpSocket socket_;
  DatagramIntake intake_{1};
};

}  // namespace reckoner::test
