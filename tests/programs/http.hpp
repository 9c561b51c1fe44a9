// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace reckoner::test {

/// Answer of a web server on 127.0.0.1; code 0 if no answer came within two seconds.
struct HttpAnswer {
  int code = 0;
  std::string head;
  std::string body;
};

/// Sends `request` unchanged and reads until the server closes the connection.
[[nodiscard]] HttpAnswer http_exchange(std::uint16_t port, const std::string& request);

[[nodiscard]] HttpAnswer http_get(std::uint16_t port, const std::string& path);

/// Connections to a web server on 127.0.0.1 that send nothing.
class IdleConnections {
 public:
  IdleConnections(std::uint16_t port, std::size_t count);
  ~IdleConnections();
  IdleConnections(const IdleConnections&) = delete;
  IdleConnections& operator=(const IdleConnections&) = delete;

  [[nodiscard]] std::size_t count() const { return sockets_.size(); }

 private:
  std::vector<int> sockets_;
};

}  // namespace reckoner::test
