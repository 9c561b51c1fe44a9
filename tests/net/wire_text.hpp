// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>

namespace reckoner::test {

/// The second decoder's text for bytes.
inline std::string hex_of(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes) {
    char buffer[4];
    std::snprintf(buffer, sizeof buffer, "%02x", std::to_integer<unsigned>(b));
    text += buffer;
  }
  return text.empty() ? "-" : text;
}

}  // namespace reckoner::test
