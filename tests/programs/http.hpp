// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

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

}  // namespace reckoner::test
