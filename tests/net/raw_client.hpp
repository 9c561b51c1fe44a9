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

/// A socket without a session that sends any bytes to a server at 127.0.0.1.
class RawClient {
 public:
  explicit RawClient(std::uint16_t server, std::uint32_t host = INADDR_LOOPBACK)
      : socket_(host), server_{INADDR_LOOPBACK, server} {}

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
  ServerAddress server_;
};

}  // namespace reckoner::test
