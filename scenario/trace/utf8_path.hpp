// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace reckoner {

/// The path that a UTF-8 text names. On Windows, std::filesystem takes a std::string for text in an older
/// encoding.
[[nodiscard]] inline std::filesystem::path path_of(std::string_view utf8) {
  return std::u8string(utf8.begin(), utf8.end());
}

/// The path as UTF-8.
[[nodiscard]] inline std::string utf8_of(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

}  // namespace reckoner
