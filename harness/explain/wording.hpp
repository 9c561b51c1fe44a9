// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdio>
#include <string>

namespace reckoner::harness {

// Numbers with units for sentences.

/// `value` with `digits` digits after the point, then `unit`.
[[nodiscard]] inline std::string number(double value, int digits, const char* unit) {
  std::array<char, 400> text;
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, value, unit);
  return text.data();
}

[[nodiscard]] inline std::string metres(double m) {
  return number(m, m < 0.995 ? 2 : 1, "m");
}
[[nodiscard]] inline std::string metres_per_second(double mps) {
  return number(mps, 1, "m/s");
}
[[nodiscard]] inline std::string milliseconds(double s) {
  return number(s * 1e3, 0, "ms");
}
[[nodiscard]] inline std::string signed_milliseconds(double s) {
  return (s > 0.0 ? "+" : "") + milliseconds(s);
}
/// A server time.
[[nodiscard]] inline std::string seconds(double s) {
  return number(s, 3, "s");
}
[[nodiscard]] inline std::string percent(double share) {
  return number(share * 1e2, 0, "%");
}
/// For example "3 datagrams".
[[nodiscard]] inline std::string counted(long long count, const char* one, const char* many) {
  return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

}  // namespace reckoner::harness
