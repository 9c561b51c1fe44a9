// SPDX-License-Identifier: MIT
#include "web_socket.hpp"

#include "net/src/transport/socket/system_address.hpp"
#include "tests/support/loopback.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace reckoner::test {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

std::string frame_header(std::uint64_t bytes, int opcode) {
  std::string out;
  out.push_back(static_cast<char>(0x80 | opcode));
  const int size_bytes = bytes < 126 ? 0 : bytes < 65536 ? 2 : 8;
  out.push_back(static_cast<char>(0x80 | (size_bytes == 0   ? static_cast<int>(bytes)
                                          : size_bytes == 2 ? 126
                                                            : 127)));
  for (int i = size_bytes - 1; i >= 0; --i)
    out.push_back(static_cast<char>(bytes >> (8 * i)));
  return out.append(4, '\0');
}

std::string url_host() {
  return loopback_ip().is_ipv4() ? loopback() : '[' + loopback() + ']';
}

std::string open_request(const std::string& origin, const std::string& protocol, const std::string& host) {
  std::string request = "GET / HTTP/1.1\r\nHost: " + host +
                        "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  if (!origin.empty()) request += "Origin: " + origin + "\r\n";
  if (!protocol.empty()) request += "Sec-WebSocket-Protocol: " + protocol + "\r\n";
  return request + "\r\n";
}

int connect_tcp(std::uint16_t port, const IpAddress& from) {
  const int family = loopback_ip().is_ipv4() ? AF_INET : AF_INET6;
  const int file = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return -1;
  SystemAddress address{};
  if (!from.is_any()) {
    const socklen_t size = to_system({from, 0}, family, address);
    if (bind(file, &address.generic, size) != 0) {
      close(file);
      return -1;
    }
  }
  const timeval patience{2, 0};
  (void)setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const int at_once = 1;
  (void)setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  const socklen_t size = to_system({loopback_ip(), port}, family, address);
  if (connect(file, &address.generic, size) != 0) {
    close(file);
    return -1;
  }
  return file;
}

WebSocket::WebSocket(std::uint16_t port, Security security, const IpAddress& from)
    : socket_(connect_tcp(port, from)), ended_(socket_ < 0) {
  if (security == Security::none || ended_) return;
  tls_ = std::make_unique<TlsClient>(socket_);
  ended_ = !tls_->is_open();
}

WebSocket::~WebSocket() {
  if (socket_ >= 0) close(socket_);
}

bool WebSocket::send_raw(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = tls_ ? tls_->send(bytes) : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void WebSocket::limit_receive_buffer(int bytes) const {
  (void)setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

bool WebSocket::send(std::span<const std::byte> message) const {
  const std::string_view bytes(reinterpret_cast<const char*>(message.data()), message.size());
  return send_raw(frame_header(message.size()).append(bytes));
}

void WebSocket::read_some(int wait_ms) {
  pollfd waits{socket_, POLLIN, 0};
  if (ended_) return;
  const bool is_ready = (tls_ && tls_->has_pending()) || poll(&waits, 1, wait_ms) > 0;
  if (!is_ready) return;
  std::array<char, 65536> bytes;
  const ssize_t size =
      tls_ ? tls_->read(bytes.data(), bytes.size()) : recv(socket_, bytes.data(), bytes.size(), 0);
  if (size < 0 || (size == 0 && !tls_)) {
    ended_ = true;
  } else {
    arrived_.append(bytes.data(), static_cast<std::size_t>(size));
  }
}

bool WebSocket::open(const std::string& origin, const std::string& protocol, const std::string& host) {
  if (!send_raw(open_request(origin, protocol, host.empty() ? url_host() : host))) return false;
  const auto until = Clock::now() + std::chrono::seconds(2);
  while (!ended_ && Clock::now() < until) {
    read_some(50);
    const std::size_t end = arrived_.find("\r\n\r\n");
    if (end == std::string::npos) continue;
    const bool accepted = arrived_.starts_with("HTTP/1.1 101");
    answer_ = arrived_.substr(0, end);
    arrived_.erase(0, end + 4);
    return accepted;
  }
  return false;
}

std::optional<std::vector<std::byte>> WebSocket::next() {
  read_some(0);
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(arrived_[i]); };
  if (arrived_.size() < 2) return std::nullopt;
  std::size_t header = 2;
  std::uint64_t size = byte(1) & 0x7f;
  const int size_bytes = size == 126 ? 2 : size == 127 ? 8 : 0;
  if (size_bytes > 0) {
    header += static_cast<std::size_t>(size_bytes);
    if (arrived_.size() < header) return std::nullopt;
    size = 0;
    for (int i = 0; i < size_bytes; ++i)
      size = size << 8 | byte(2 + static_cast<std::size_t>(i));
  }
  if (arrived_.size() - header < size) return std::nullopt;
  if ((byte(0) & 8) != 0) {  // a control frame
    if ((byte(0) & 0xf) == 10) pong_ = arrived_.substr(header, size);
    arrived_.erase(0, header + size);
    return next();
  }
  std::vector<std::byte> message(size);
  if (size > 0) std::memcpy(message.data(), arrived_.data() + header, size);
  arrived_.erase(0, header + size);
  return message;
}

bool WebSocket::is_closed_within(double seconds) {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (!ended_ && Clock::now() < until) {
    read_some(50);
    arrived_.clear();
  }
  return ended_;
}

std::string WebSocket::read_until_closed(double seconds) {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (!ended_ && Clock::now() < until)
    read_some(50);
  return std::exchange(arrived_, {});
}

}  // namespace reckoner::test
