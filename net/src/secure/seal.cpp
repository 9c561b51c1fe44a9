// SPDX-License-Identifier: MIT
#include "net/src/secure/seal.hpp"

#include "net/src/secure/keys.hpp"
#include "net/src/wire/byte_stream.hpp"

#include <array>
#include <cassert>

namespace reckoner::secure {
namespace {

static_assert(crypto_aead_chacha20poly1305_ietf_ABYTES == kSealTag);
static_assert(crypto_aead_chacha20poly1305_ietf_KEYBYTES == SecretKey::kBytes);

using Nonce = std::array<std::byte, crypto_aead_chacha20poly1305_ietf_NPUBBYTES>;

Nonce nonce_of(std::uint64_t sequence) {
  Nonce nonce{};
  wire::ByteWriter(std::span(nonce).last(8)).number(sequence);
  return nonce;
}

// Restores a 64-bit sequence number from its low 32 bits: the candidate nearest to `expected`.
std::uint64_t whole_sequence(std::uint32_t low, std::uint64_t expected) {
  const auto ahead = static_cast<std::int32_t>(low - static_cast<std::uint32_t>(expected));
  const std::uint64_t whole = expected + static_cast<std::uint64_t>(std::int64_t{ahead});
  return ahead < 0 && whole > expected ? low : whole;  // sequence numbers are never negative
}

std::optional<std::uint32_t> session_in(std::span<const std::byte> datagram, std::size_t least) {
  if (datagram.size() < least || !is_in_session(static_cast<Kind>(datagram[0]))) return std::nullopt;
  return wire::ByteReader(datagram.subspan(1)).number<std::uint32_t>();
}

}  // namespace

std::optional<std::uint32_t> sealed_session(std::span<const std::byte> datagram) {
  return session_in(datagram, kSealBytes);
}

std::optional<std::uint32_t> open_session(std::span<const std::byte> datagram) {
  return session_in(datagram, kOpenHead);
}

std::span<std::byte> Sealer::seal(Kind kind, std::span<const std::byte> plain, std::span<std::byte> out) {
  assert(out.size() >= plain.size() + kSealBytes);
  const std::uint64_t sequence = next_++;
  wire::ByteWriter(out)
      .number(static_cast<std::uint8_t>(kind))
      .number(session_)
      .number(static_cast<std::uint32_t>(sequence));
  const Nonce nonce = nonce_of(sequence);
  crypto_aead_chacha20poly1305_ietf_encrypt(raw(out.subspan(kSealHead)), nullptr, raw(plain), plain.size(),
                                            raw(out), kSealHead, nullptr, raw(nonce), raw(key_.bytes()));
  return out.first(plain.size() + kSealBytes);
}

std::optional<Opener::Opened> Opener::open(std::span<const std::byte> datagram, std::span<std::byte> out) {
  if (!sealed_session(datagram) || out.size() < datagram.size()) return std::nullopt;
  const auto low = wire::ByteReader(datagram.subspan(5)).number<std::uint32_t>();
  const std::uint64_t sequence = whole_sequence(low, window_.next());
  if (!window_.is_new(sequence) || forged_left_ == 0) return std::nullopt;
  const auto sealed = datagram.subspan(kSealHead);
  const Nonce nonce = nonce_of(sequence);
  if (crypto_aead_chacha20poly1305_ietf_decrypt(raw(out), nullptr, nullptr, raw(sealed), sealed.size(),
                                                raw(datagram), kSealHead, raw(nonce),
                                                raw(key_.bytes())) != 0) {
    --forged_left_;
    return std::nullopt;
  }
  const bool newest = sequence >= window_.next();
  window_.note(sequence);
  return Opened{static_cast<Kind>(datagram[0]), sequence, out.first(datagram.size() - kSealBytes), newest};
}

}  // namespace reckoner::secure
