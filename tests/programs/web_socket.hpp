// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reckoner::test {

/// A TCP connection to 127.0.0.1 that sends and reads raw bytes, with the WebSocket framing (RFC 6455) of a
/// client. It checks nothing, so that a test can be hostile.
class WebSocket {
 public:
  explicit WebSocket(std::uint16_t port);
  ~WebSocket();
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;

  /// Sends the request to open a WebSocket, with compression if the server offers it. An empty text leaves
  /// the header out. Returns true if the server accepts within two seconds.
  bool open(const std::string& origin, const std::string& protocol = "reckoner");
  /// The head of the answer to open().
  [[nodiscard]] const std::string& answer() const { return answer_; }
  /// Sends bytes as they are. Returns false if the connection is broken or the server does not read.
  bool send_raw(std::string_view bytes) const;
  /// Sends one message in one frame.
  bool send(std::span<const std::byte> message) const;

  /// The next whole message; nullopt if none has arrived.
  [[nodiscard]] std::optional<std::vector<std::byte>> next();
  /// True if the server has closed the connection within this time. Reads and discards all data.
  [[nodiscard]] bool is_closed_within(double seconds);

 private:
  void read_some(int wait_ms);

  int socket_ = -1;
  bool ended_ = false;
  std::string arrived_;
  std::string answer_;
};

/// The header of a frame of a client, with a mask of zeros. `opcode`: 1 text, 2 binary.
[[nodiscard]] std::string frame_header(std::uint64_t bytes, int opcode = 2);

}  // namespace reckoner::test
