// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <reckoner/net/connect_token.hpp>

namespace reckoner::test {

using Bytes = std::vector<std::byte>;

/// A non-blocking UDP socket at a loopback address.
class UdpSocket {
 public:
  explicit UdpSocket(std::uint32_t host = INADDR_LOOPBACK)
      : file_(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    const sockaddr_in own = system_order({host, 0});
    EXPECT_EQ(bind(file_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
  }
  ~UdpSocket() { close(file_); }
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  [[nodiscard]] int file() const { return file_; }
  [[nodiscard]] std::uint16_t port() const {
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    EXPECT_EQ(getsockname(file_, reinterpret_cast<sockaddr*>(&bound), &size), 0);
    return ntohs(bound.sin_port);
  }
  /// True if the whole datagram was sent.
  bool send(const ServerAddress& to, std::span<const std::byte> bytes) const {
    const sockaddr_in there = system_order(to);
    const ssize_t sent =
        sendto(file_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&there), sizeof there);
    return sent == static_cast<ssize_t>(bytes.size());
  }
  /// The next waiting datagram, up to 2000 bytes of it, and its source address. nullopt if none waits.
  [[nodiscard]] std::optional<Bytes> receive(ServerAddress* from = nullptr) const {
    Bytes bytes(2000);
    sockaddr_in sender{};
    socklen_t size = sizeof sender;
    const ssize_t got =
        recvfrom(file_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&sender), &size);
    if (got < 0) return std::nullopt;
    bytes.resize(static_cast<std::size_t>(got));
    if (from != nullptr) *from = {ntohl(sender.sin_addr.s_addr), ntohs(sender.sin_port)};
    return bytes;
  }
  /// The next datagram, or the first that arrives within `patience_ms`. nullopt if none arrives.
  [[nodiscard]] std::optional<Bytes> await(int patience_ms) const {
    pollfd waits{.fd = file_, .events = POLLIN, .revents = 0};
    return poll(&waits, 1, patience_ms) == 1 ? receive() : std::nullopt;
  }

 private:
  static sockaddr_in system_order(const ServerAddress& address) {
    sockaddr_in system{};
    system.sin_family = AF_INET;
    system.sin_addr.s_addr = htonl(address.host);
    system.sin_port = htons(address.port);
    return system;
  }

  int file_;
};

}  // namespace reckoner::test
