// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <sstream>
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

/// The second decoder's text for whole numbers.
template <class... Numbers>
std::string line(const char* name, Numbers... numbers) {
  std::ostringstream out;
  out << name << ":";
  ((out << ' ' << static_cast<std::int64_t>(numbers)), ...);
  out << '\n';
  return out.str();
}

/// The second decoder's text for real numbers.
template <class... Numbers>
std::string reals(const char* name, Numbers... numbers) {
  std::string text = name + std::string{":"};
  const auto add = [&](double x) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, " %.17g", x);
    text += buffer;
  };
  (add(numbers), ...);
  return text + "\n";
}

}  // namespace reckoner::test
