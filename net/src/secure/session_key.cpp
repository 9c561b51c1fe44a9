// SPDX-License-Identifier: MIT
#include "byte_stream.hpp"
#include "sodium_bytes.hpp"

#include <array>
#include <cstddef>

#include <reckoner/net/session_key.hpp>

namespace reckoner {

SessionKey session_key(const SecretKey& secret, ClientId client) {
  using namespace secure;
  std::array<std::byte, sizeof client.value> about;
  ByteWriter(about).number(client.value);
  std::array<std::byte, crypto_generichash_BYTES_MIN> hash;
  crypto_generichash(raw(hash), hash.size(), raw(about), about.size(), raw(secret.bytes()),
                     SecretKey::kBytes);
  ByteReader reader(hash);
  SessionKey key;
  key.high = reader.number<std::uint64_t>();
  key.low = reader.number<std::uint64_t>();
  return key;
}

}  // namespace reckoner
