// SPDX-License-Identifier: MIT
#include "net/src/secure/keys.hpp"

#include "net/src/messages/messages.hpp"
#include "net/src/wire/byte_stream.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <reckoner/net/connect_token.hpp>

namespace reckoner {

namespace secure {

void initialise_sodium() {
  static const int ready = sodium_init();
  if (ready >= 0) return;
  std::fputs("reckoner: libsodium found no secure random numbers\n", stderr);
  std::abort();
}

}  // namespace secure

SecretKey::~SecretKey() {
  sodium_memzero(bytes_.data(), bytes_.size());
}

SecretKey SecretKey::make() {
  SecretKey key;  // filled in place, so that no copy stays on the stack
  secure::fill_random(key.bytes_);
  return key;
}

std::optional<SecretKey> SecretKey::from_text(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  const std::size_t end = text.find_last_not_of(kBlanks);
  if (end == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, end + 1 - begin);
  std::optional<SecretKey> key(std::in_place);
  std::size_t size = 0;
  const bool whole = text.size() == 2 * kBytes &&
                     sodium_hex2bin(secure::raw(key->bytes_), kBytes, text.data(), text.size(), nullptr,
                                    &size, nullptr) == 0 &&
                     size == kBytes;
  if (!whole) key.reset();
  return key;
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

SessionKey session_key(const SecretKey& secret, ClientId client) {
  using namespace secure;
  std::array<std::byte, sizeof client.value> about;
  wire::ByteWriter(about).number(client.value);
  std::array<std::byte, crypto_generichash_BYTES_MIN> hash;
  crypto_generichash(raw(hash), hash.size(), raw(about), about.size(), raw(secret.bytes()),
                     SecretKey::kBytes);
  wipe_stack();
  wire::ByteReader reader(hash);
  SessionKey key;
  key.high = reader.number<std::uint64_t>();
  key.low = reader.number<std::uint64_t>();
  sodium_memzero(hash.data(), hash.size());
  return key;
}

}  // namespace reckoner
