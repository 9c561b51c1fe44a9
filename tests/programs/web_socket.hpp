// SPDX-License-Identifier: MIT
#pragma once

#include "tls.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/net/socket_address.hpp>

namespace reckoner::test {

/// A TCP connection to loopback() that sends and reads raw bytes, with the WebSocket framing (RFC 6455) of a
/// client. It checks nothing, so that a test can be hostile.
class WebSocket {
 public:
  enum class Security : std::uint8_t { none, tls };
  /// `from`: the address of this machine to connect from; unspecified: any.
  explicit WebSocket(std::uint16_t port, Security security = Security::none, const IpAddress& from = {});
  ~WebSocket();
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;

  /// Sends the request to open a WebSocket, with compression if the server offers it. An empty text leaves
  /// the header out; an empty host means loopback(). Returns true if the server accepts within two seconds.
  bool open(const std::string& origin, const std::string& protocol = "reckoner",
            const std::string& host = {});
  /// The head of the answer to open().
  [[nodiscard]] const std::string& answer() const { return answer_; }
  /// Sends bytes as they are. Returns false if the connection is broken or the server does not read.
  bool send_raw(std::string_view bytes) const;
  /// Sends one message in one frame.
  bool send(std::span<const std::byte> message) const;

  /// Makes the server notice early that nothing is read.
  void limit_receive_buffer(int bytes) const;

  /// The next whole message; nullopt if none has arrived. Skips control frames.
  [[nodiscard]] std::optional<std::vector<std::byte>> next();
  /// True if the server has closed the connection within this time. Reads and discards all data.
  [[nodiscard]] bool is_closed_within(double seconds);
  /// What the server sends until it closes the connection, at most for this time.
  [[nodiscard]] std::string read_until_closed(double seconds);
  [[nodiscard]] bool has_ended() const { return ended_; }
  /// The payload of the newest pong that next() has skipped.
  [[nodiscard]] const std::string& pong() const { return pong_; }

 private:
  void read_some(int wait_ms);

  int socket_ = -1;
  std::unique_ptr<TlsClient> tls_;
  bool ended_ = false;
  std::string arrived_;
  std::string answer_;
  std::string pong_;
};

/// The host part of an URL of loopback(): "127.0.0.1" or "[::1]".
[[nodiscard]] std::string url_host();

/// The request that WebSocket::open() sends.
[[nodiscard]] std::string open_request(const std::string& origin, const std::string& protocol,
                                       const std::string& host);

/// Connects a TCP socket to loopback(). Returns its descriptor, or -1.
[[nodiscard]] int connect_tcp(std::uint16_t port, const IpAddress& from = {});

/// The header of a frame of a client, with a mask of zeros. `opcode`: 1 text, 2 binary, 9 ping,
/// 10 pong.
[[nodiscard]] std::string frame_header(std::uint64_t bytes, int opcode = 2);

}  // namespace reckoner::test
