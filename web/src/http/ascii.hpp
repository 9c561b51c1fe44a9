// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace reckoner::web {

// Characters of protocols. The functions of <cctype> depend on the locale.

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
constexpr bool is_letter(char c) {
  return lower_case(c) >= 'a' && lower_case(c) <= 'z';
}

/// The text with letters of ASCII in lower case.
inline std::string in_lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    c = lower_case(c);
  return out;
}

}  // namespace reckoner::web
