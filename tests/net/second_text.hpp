// SPDX-License-Identifier: MIT
#pragma once

#include "second_decoder.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

// The second decoder's text for what it has decoded.

namespace second {

inline void add_field(DecodedFields& fields, std::string name, std::string value) {
  fields.push_back({std::move(name), std::move(value)});
}

inline std::string text(std::int64_t n) {
  return std::to_string(n);
}
inline std::string text(double x) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.17g", x);
  return buffer;
}
inline std::string hex(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    char buffer[4];
    std::snprintf(buffer, sizeof buffer, "%02x", static_cast<unsigned char>(c));
    out += buffer;
  }
  return out.empty() ? "-" : out;
}
template <class T>
std::string list(const T& values) {
  std::string out;
  for (const auto& v : values)
    out += (out.empty() ? "" : " ") + text(v);
  return out;
}

}  // namespace second
