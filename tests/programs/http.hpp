// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace reckoner::test {

/// What a web server on 127.0.0.1 answered; code 0 if it did not within two seconds.
struct HttpAnswer {
  int code = 0;
  std::string head;
  std::string body;
};

/// Sends `request` as it stands and reads until the server closes.
[[nodiscard]] HttpAnswer http_exchange(std::uint16_t port, const std::string& request);

[[nodiscard]] HttpAnswer http_get(std::uint16_t port, const std::string& path);

}  // namespace reckoner::test
