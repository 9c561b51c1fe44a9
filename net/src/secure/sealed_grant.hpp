// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <reckoner/net/connect_token.hpp>

namespace reckoner::secure {

using LoginId = std::array<std::byte, 16>;

/// What a token and the tickets that spring from it have in common: the first bytes of the token's nonce. The
/// token itself is generation 0; a session gives out tickets of the generation after what it began with.
struct Login {
  LoginId id{};
  std::uint32_t generation = 0;
};

/// What a server reads in a token.
struct OpenedGrant {
  ConnectGrant grant;
  SecretKey to_server;
  SecretKey to_client;
  Login login{};  ///< of a token, generation 0, it is not sealed: open_grant() fills it in
};

/// Seals it for servers: XChaCha20-Poly1305 with a random nonce, bound to the game and the expiry.
[[nodiscard]] std::array<std::byte, ConnectToken::kSealedBytes> seal_grant(
    const OpenedGrant& grant, const std::array<std::byte, ConnectToken::kNonceBytes>& nonce,
    const SecretKey& key, std::uint64_t game);

/// A ticket: a token with this login, and new keys. It was issued when the grant says, as the login was.
[[nodiscard]] ConnectToken issue_ticket(const ConnectGrant& grant, const Login& login, const SecretKey& key,
                                        std::uint64_t game);

/// Nothing if it was not sealed with this key for this game and expiry, or makes no sense.
[[nodiscard]] std::optional<OpenedGrant> open_grant(
    const std::array<std::byte, ConnectToken::kSealedBytes>& sealed,
    const std::array<std::byte, ConnectToken::kNonceBytes>& nonce, std::uint64_t expires_s,
    const SecretKey& key, std::uint64_t game);

}  // namespace reckoner::secure
