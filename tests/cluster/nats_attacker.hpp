// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace reckoner::test {

/// A connection to a NATS server that speaks its text protocol without any library: it can choose subjects,
/// reply subjects and headers that no process of a world uses.
class NatsAttacker {
 public:
  NatsAttacker(std::uint16_t port, const std::string& user, const std::string& password)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    timeval patience{.tv_sec = 0, .tv_usec = 20'000};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    is_open_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    write(
        "CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true,\"user\":\"" +
        user + "\",\"pass\":\"" + password + "\",\"protocol\":1}\r\nPING\r\n");
    is_open_ = is_open_ && wait_for("PONG");
  }
  ~NatsAttacker() { ::close(socket_); }
  NatsAttacker(const NatsAttacker&) = delete;
  NatsAttacker& operator=(const NatsAttacker&) = delete;

  [[nodiscard]] bool is_open() const { return is_open_; }
  void subscribe(const std::string& subject) {
    write("SUB " + subject + " " + std::to_string(++subscriptions_) + "\r\n");
  }
  void publish(const std::string& subject, std::string_view payload, const std::string& reply = "") {
    write("PUB " + subject + " " + reply + " " + std::to_string(payload.size()) + "\r\n" +
          std::string(payload) + "\r\n");
  }
  void publish_with_header(const std::string& subject, const std::string& header, std::string_view payload,
                           const std::string& reply = "") {
    const std::string head = "NATS/1.0\r\n" + header + "\r\n\r\n";
    write("HPUB " + subject + " " + reply + " " + std::to_string(head.size()) + " " +
          std::to_string(head.size() + payload.size()) + "\r\n" + head + std::string(payload) + "\r\n");
  }
  /// Waits until the server has said `text`. False if it does not within `patience_s`.
  bool wait_for(const std::string& text, double patience_s = 20.0) {
    using Clock = std::chrono::steady_clock;
    for (const auto end = Clock::now() + std::chrono::duration<double>(patience_s); Clock::now() < end;) {
      read();
      if (said_.find(text) != std::string::npos) return true;
    }
    return false;
  }
  /// Waits until the server has handled everything that was written before.
  bool flush() {
    said_.clear();
    write("PING\r\n");
    return wait_for("PONG");
  }
  /// What the server has said since flush().
  [[nodiscard]] const std::string& said() const { return said_; }

 private:
  void write(const std::string& text) {
    for (std::size_t sent = 0; sent < text.size();) {
      const auto n = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;
      sent += static_cast<std::size_t>(n);
    }
  }
  void read() {
    char buffer[4096];
    const auto n = ::recv(socket_, buffer, sizeof buffer, 0);
    if (n > 0) said_.append(buffer, static_cast<std::size_t>(n));
    if (n == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  int socket_;
  int subscriptions_ = 0;
  bool is_open_ = false;
  std::string said_;
};

}  // namespace reckoner::test
