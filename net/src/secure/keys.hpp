// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/messages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <sodium.h>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner::secure {

// libsodium's names for our bytes.
inline unsigned char* raw(std::span<std::byte> bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}
inline const unsigned char* raw(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
template <std::size_t N>
unsigned char* raw(std::array<std::byte, N>& bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}
template <std::size_t N>
const unsigned char* raw(const std::array<std::byte, N>& bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

/// Random bytes that nobody can foretell. libsodium is made ready, once for all threads.
inline void fill_random(std::span<std::byte> bytes) {
  [[maybe_unused]] static const int ready = sodium_init();
  randombytes_buf(bytes.data(), bytes.size());
}

inline std::uint32_t random_number() {
  std::uint32_t number = 0;
  fill_random(std::as_writable_bytes(std::span(&number, 1)));
  return number;
}

}  // namespace reckoner::secure

namespace reckoner {

/// The key of a client's session, which nobody computes who does not have the server's secret (keyed BLAKE2b,
/// RFC 7693).
[[nodiscard]] RECKONER_NET_API SessionKey session_key(const SecretKey& secret, ClientId client);

}  // namespace reckoner
