// SPDX-License-Identifier: MIT
#include "watch_attackers.hpp"

#include "tests/support/loopback.hpp"
#include "web_socket.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

namespace reckoner::test {
namespace {

constexpr std::size_t kFromOneAddress = 46;
constexpr std::size_t kReplacedInAPass = 40;

// True if the server has closed the connection.
bool is_closed(int file) {
  std::array<char, 4096> bytes;
  const ssize_t size = recv(file, bytes.data(), bytes.size(), MSG_DONTWAIT);
  return size == 0 || (size < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

}  // namespace

Dribblers::Dribblers(std::uint16_t port, std::size_t count, std::string opening, std::string drip)
    : port_(port), opening_(std::move(opening)), drip_(std::move(drip)), sockets_(count, -1), thread_([this] {
        run();
      }) {}

Dribblers::~Dribblers() {
  stopping_ = true;
  thread_.join();
  for (const int file : sockets_) {
    if (file >= 0) close(file);
  }
}

void Dribblers::connect(std::size_t i) {
  if (sockets_[i] >= 0) close(sockets_[i]);
  const auto address = static_cast<std::uint32_t>(2 + i / kFromOneAddress);
  sockets_[i] = connect_tcp(port_, loopback_ip().is_ipv4() ? other_loopback(address) : IpAddress{});
  if (sockets_[i] >= 0)
    (void)send(sockets_[i], opening_.data(), opening_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Dribblers::run() {
  while (!stopping_) {
    const char next = drip_[passes_ % drip_.size()];
    std::size_t replaced = 0;
    for (std::size_t i = 0; i < sockets_.size() && !stopping_; ++i) {
      const bool alive = sockets_[i] >= 0 && !is_closed(sockets_[i]) &&
                         send(sockets_[i], &next, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
      if (alive || (passes_ > 0 && replaced == kReplacedInAPass)) continue;
      if (sockets_[i] >= 0) ++closed_;
      ++replaced;
      connect(i);
    }
    ++passes_;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

std::size_t send_again_and_again(const WebSocket& socket, const std::string& bytes, double seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::size_t sent = 0;
  while (std::chrono::steady_clock::now() < until && socket.send_raw(bytes))
    sent += bytes.size();
  return sent;
}

std::string many_frames(std::size_t count, std::uint8_t first_byte, const std::string& payload) {
  std::string frame = frame_header(payload.size());
  frame[0] = static_cast<char>(first_byte);
  frame += payload;
  std::string out;
  for (std::size_t i = 0; i < count; ++i)
    out += frame;
  return out;
}

std::string tls_record_header() {
  return {'\x16', '\x03', '\x01', '\x02', '\x00', '\x01'};
}

}  // namespace reckoner::test
