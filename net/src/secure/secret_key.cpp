// SPDX-License-Identifier: MIT
#include "sodium_bytes.hpp"

#include <algorithm>

#include <reckoner/net/secret_key.hpp>

namespace reckoner {

SecretKey::~SecretKey() {
  sodium_memzero(bytes_.data(), bytes_.size());
}

SecretKey SecretKey::make() {
  std::array<std::byte, kBytes> bytes;
  secure::fill_random(bytes);
  return SecretKey(bytes);
}

std::optional<SecretKey> SecretKey::from_text(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  const std::size_t end = text.find_last_not_of(kBlanks);
  if (end == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, end + 1 - begin);
  std::array<std::byte, kBytes> bytes;
  std::size_t size = 0;
  const bool whole = text.size() == 2 * kBytes &&
                     sodium_hex2bin(secure::raw(bytes), bytes.size(), text.data(), text.size(), nullptr,
                                    &size, nullptr) == 0 &&
                     size == kBytes;
  return whole ? std::optional{SecretKey(bytes)} : std::nullopt;
}

std::string SecretKey::text() const {
  std::string text(2 * kBytes + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), secure::raw(bytes_), bytes_.size());
  text.pop_back();
  return text;
}

SecretKey::operator bool() const {
  return sodium_is_zero(secure::raw(bytes_), bytes_.size()) == 0;
}

}  // namespace reckoner
