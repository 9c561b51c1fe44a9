// SPDX-License-Identifier: MIT
#include "http.hpp"

#include <array>
#include <cstdlib>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace reckoner::test {

HttpAnswer http_exchange(std::uint16_t port, const std::string& request) {
  HttpAnswer answer;
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0) return answer;
  const timeval patience{.tv_sec = 2, .tv_usec = 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string text;
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      send(connection, request.data(), request.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(request.size())) {
    std::array<char, 4096> buffer;
    for (ssize_t got = 1; got > 0;) {
      got = recv(connection, buffer.data(), buffer.size(), 0);
      if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  close(connection);
  const std::size_t end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.1 ") || end == std::string::npos) return answer;
  answer.code = std::atoi(text.c_str() + 9);
  answer.head = text.substr(0, end);
  answer.body = text.substr(end + 4);
  return answer;
}

HttpAnswer http_get(std::uint16_t port, const std::string& path) {
  return http_exchange(port, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
}

IdleConnections::IdleConnections(std::uint16_t port, std::size_t count) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (std::size_t i = 0; i < count; ++i) {
    const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (one < 0) return;
    sockets_.push_back(one);
    if (connect(one, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
  }
}

IdleConnections::~IdleConnections() {
  for (const int one : sockets_)
    close(one);
}

}  // namespace reckoner::test
