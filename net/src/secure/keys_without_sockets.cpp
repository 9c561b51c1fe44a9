// SPDX-License-Identifier: MIT
// Keys in a build without sockets and libsodium, such as WebAssembly. Server and client are then in one
// process, and the game carries the bytes, so no other party can use a session key. keys.cpp has these
// functions for all other builds.
#include "net/src/messages/messages.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include <reckoner/net/connect_token.hpp>

namespace reckoner {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

// Finaliser of SplitMix64 (Steele, Lea and Flood 2014).
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::uint64_t mixed(const SecretKey& secret, std::uint64_t value) {
  for (std::size_t i = 0; i < SecretKey::kBytes; i += sizeof value) {
    std::uint64_t part = 0;
    std::memcpy(&part, secret.bytes().data() + i, sizeof part);
    value = mixed(value ^ part) + 0x9e3779b97f4a7c15u;
  }
  return value;
}

int value_of(char digit) {
  const char lower = digit >= 'A' && digit <= 'F' ? static_cast<char>(digit + ('a' - 'A')) : digit;
  const char* const found = std::find(kDigits, kDigits + 16, lower);
  return found == kDigits + 16 ? -1 : static_cast<int>(found - kDigits);
}

}  // namespace

SecretKey::~SecretKey() = default;

SecretKey SecretKey::make() {
  SecretKey key;
  if (getentropy(key.bytes_.data(), key.bytes_.size()) != 0) std::abort();
  return key;
}

std::optional<SecretKey> SecretKey::from_text(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  text = text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
  if (text.size() != 2 * kBytes) return std::nullopt;
  SecretKey key;
  for (std::size_t i = 0; i < kBytes; ++i) {
    const int high = value_of(text[2 * i]);
    const int low = value_of(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    key.bytes_[i] = static_cast<std::byte>(16 * high + low);
  }
  return key;
}

std::string SecretKey::text() const {
  std::string text;
  for (const std::byte byte : bytes_) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

SecretKey::operator bool() const {
  return std::any_of(bytes_.begin(), bytes_.end(), [](std::byte byte) { return byte != std::byte{}; });
}

SessionKey session_key(const SecretKey& secret, ClientId client) {
  SessionKey key;
  key.high = mixed(secret, client.value);
  key.low = mixed(secret, key.high);
  return key;
}

}  // namespace reckoner
