// SPDX-License-Identifier: MIT
// Attackers of the live view, over raw sockets of loopback().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace reckoner::test {

class WebSocket;

/// Connections that begin something and never finish it. Each sends `opening` and then one byte of `drip`
/// every 100 ms. Connections that the server closes are replaced, 40 every 100 ms. Over IPv4 they come from
/// several addresses, 46 from each, none of them loopback(); over IPv6, from ::1.
class Dribblers {
 public:
  Dribblers(std::uint16_t port, std::size_t count, std::string opening, std::string drip);
  ~Dribblers();
  Dribblers(const Dribblers&) = delete;
  Dribblers& operator=(const Dribblers&) = delete;

  /// All connections have been made once.
  [[nodiscard]] bool are_connected() const { return passes_ > 0; }
  /// How often the server has closed a connection.
  [[nodiscard]] std::size_t closed() const { return closed_; }

 private:
  void run();
  void connect(std::size_t i);

  std::uint16_t port_;
  std::string opening_;
  std::string drip_;
  std::vector<int> sockets_;
  std::atomic<std::size_t> passes_ = 0;
  std::atomic<std::size_t> closed_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

/// Sends the same bytes again and again, as fast as the server takes them, over a connection that the caller
/// opens. Returns how many bytes were sent until the server closed it, or until the time was over.
[[nodiscard]] std::size_t send_again_and_again(const WebSocket& socket, const std::string& bytes,
                                               double seconds);

/// `count` frames of a client in one text: the same header and no payload, or `payload`.
[[nodiscard]] std::string many_frames(std::size_t count, std::uint8_t first_byte,
                                      const std::string& payload = {});

/// The begin of a TLS handshake (RFC 8446, 5.1): the header of a record of 512 bytes.
[[nodiscard]] std::string tls_record_header();

}  // namespace reckoner::test
