// SPDX-License-Identifier: MIT
// Keys in a build without sockets and libsodium, such as WebAssembly. keys.cpp has these functions for all
// other builds.
#include "net/src/messages/messages.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include <reckoner/net/connect_token.hpp>

namespace reckoner {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

// SipHash-2-4 (Aumasson and Bernstein 2012) of one number: without the key, nobody can tell its results from
// random numbers, so that a client learns nothing about the session keys of others.
std::uint64_t sip_hash(std::uint64_t key_low, std::uint64_t key_high, std::uint64_t number) {
  std::uint64_t v0 = key_low ^ 0x736f6d6570736575u, v1 = key_high ^ 0x646f72616e646f6du;
  std::uint64_t v2 = key_low ^ 0x6c7967656e657261u, v3 = key_high ^ 0x7465646279746573u;
  const auto rounds = [&](int count) {
    while (count-- > 0) {
      v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
      v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
    }
  };
  const auto absorb = [&](std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  };
  absorb(number);
  absorb(std::uint64_t{sizeof number} << 56);  // the length of the message
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
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
  std::array<std::uint64_t, SecretKey::kBytes / sizeof(std::uint64_t)> parts{};
  std::memcpy(parts.data(), secret.bytes().data(), SecretKey::kBytes);
  SessionKey key;
  key.high = sip_hash(parts[0], parts[1], client.value);
  key.low = sip_hash(parts[2], parts[3], client.value);
  return key;
}

}  // namespace reckoner
