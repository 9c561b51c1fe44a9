// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/byte_stream.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <sodium.h>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner::secure {

// libsodium takes pointers to unsigned char; Reckoner stores std::byte. These functions convert the pointers.
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

/// Initialises libsodium on the first call. Ends the program if there are no secure random numbers, because
/// no key would be secret. Any thread may call this function.
void initialise_sodium();

/// Fills `bytes` with cryptographically secure random numbers. Any thread may call this function.
inline void fill_random(std::span<std::byte> bytes) {
  initialise_sodium();
  randombytes_buf(bytes.data(), bytes.size());
}

/// Wipes the part of the stack that called functions have used. Call it after a hash with a secret result:
/// libsodium's BLAKE2b leaves a copy of its result there.
inline void wipe_stack() {
  constexpr std::size_t kBytes = 2048;
  sodium_stackzero(kBytes);
}

/// Reads a key without a further copy of its bytes. A key of zeros if the reader has failed.
[[nodiscard]] inline SecretKey read_key(wire::ByteReader& reader) {
  const auto bytes = reader.read_bytes(SecretKey::kBytes);
  return bytes.empty() ? SecretKey() : SecretKey(bytes.first<SecretKey::kBytes>());
}

inline std::uint32_t random_number() {
  std::uint32_t number = 0;
  fill_random(std::as_writable_bytes(std::span(&number, 1)));
  return number;
}

}  // namespace reckoner::secure
