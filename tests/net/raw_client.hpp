// SPDX-License-Identifier: MIT
#pragma once

#include "udp_socket.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace reckoner::test {

/// A socket without a session that sends any bytes to a server on this machine.
class RawClient {
 public:
  /// `host`: address of this client.
  explicit RawClient(std::uint16_t server, const IpAddress& host = loopback_ip())
      : socket_(host), server_{loopback_ip(), server} {}

  void send(std::span<const std::byte> bytes) {
    sent += bytes.size();
    EXPECT_TRUE(socket_.send(server_, bytes));
  }
  /// The next datagram that arrived here.
  [[nodiscard]] std::optional<Bytes> heard() {
    auto bytes = socket_.receive();
    if (bytes) received += bytes->size();
    return bytes;
  }
  /// All datagrams that have arrived.
  std::vector<Bytes> receive_all() {
    std::vector<Bytes> all;
    while (auto bytes = heard())
      all.push_back(std::move(*bytes));
    return all;
  }

  std::size_t sent = 0, received = 0;  ///< bytes

 private:
  UdpSocket socket_;
  SocketAddress server_;
};

}  // namespace reckoner::test
