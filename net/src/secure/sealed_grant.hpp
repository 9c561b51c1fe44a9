// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <reckoner/net/connect_token.hpp>

namespace reckoner::secure {

/// What a server reads in a token.
struct OpenedGrant {
  ConnectGrant grant;
  SecretKey to_server;
  SecretKey to_client;
};

/// Seals it for servers: XChaCha20-Poly1305 with a random nonce, bound to the game and the expiry.
[[nodiscard]] std::array<std::byte, ConnectToken::kSealedBytes> seal_grant(
    const OpenedGrant& grant, const std::array<std::byte, ConnectToken::kNonceBytes>& nonce,
    const SecretKey& key, std::uint64_t game);

/// Nothing if it was not sealed with this key for this game and expiry, or makes no sense.
[[nodiscard]] std::optional<OpenedGrant> open_grant(
    const std::array<std::byte, ConnectToken::kSealedBytes>& sealed,
    const std::array<std::byte, ConnectToken::kNonceBytes>& nonce, std::uint64_t expires_s,
    const SecretKey& key, std::uint64_t game);

}  // namespace reckoner::secure
