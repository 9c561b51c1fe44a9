// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/net/socket_address.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// A secret of 32 bytes. The destructor wipes the memory.
class RECKONER_NET_API SecretKey {
 public:
  static constexpr std::size_t kBytes = 32;  ///< size of a key, bytes

  SecretKey() = default;  ///< creates a key of zeros, which means "no key"
  /// Creates a key with a copy of `bytes`.
  explicit SecretKey(const std::array<std::byte, kBytes>& bytes) : bytes_(bytes) {}
  /// Creates a key with a copy of `bytes`.
  explicit SecretKey(std::span<const std::byte, kBytes> bytes) {
    std::copy(bytes.begin(), bytes.end(), bytes_.begin());
  }
  /// Copies the secret. Each copy wipes its own memory.
  SecretKey(const SecretKey&) = default;
  /// Copies the secret. Each copy wipes its own memory.
  SecretKey& operator=(const SecretKey&) = default;
  ~SecretKey();

  /// Returns a new key from the system's random number generator.
  [[nodiscard]] static SecretKey make();

  /// Returns the key that 64 hexadecimal digits represent. Key files have this format. Ignores blanks at both
  /// ends. Returns nullopt for any other text.
  [[nodiscard]] static std::optional<SecretKey> from_text(std::string_view text);
  /// Returns the key as 64 lower-case hexadecimal digits, which from_text() can read. The caller must wipe
  /// the string after use.
  [[nodiscard]] std::string text() const;

  /// Returns the secret bytes. The reference is valid as long as this object.
  [[nodiscard]] const std::array<std::byte, kBytes>& bytes() const { return bytes_; }
  /// Returns false if all bytes are zero, which means "no key".
  [[nodiscard]] explicit operator bool() const;

 private:
  std::array<std::byte, kBytes> bytes_{};
};

/// A permission that a backend gives to a client. It says which servers the client may join, until when, and
/// under which client id.
struct ConnectGrant {
  static constexpr std::size_t kMaxServers = 32;  ///< maximum number of servers in a token
  /// Maximum size of all addresses in a token, bytes. An IPv4 address takes 7 bytes, an IPv6 address 19. So a
  /// token can name 32 IPv4 addresses, 13 IPv6 addresses, or 9 servers with one address of each family.
  static constexpr std::size_t kMaxServerBytes = 256;
  static constexpr std::size_t kUserBytes = 256;  ///< size of the user data in a token, bytes
  /// Default time between expires_s and renewable_until_s, s. The default is one day.
  static constexpr std::uint64_t kRenewableS = 86'400;

  /// The backend's number for the client. By default, a server allows one session per client id.
  std::uint64_t client_id = 0;
  std::uint64_t expires_s = 0;  ///< when the token expires, seconds since 1970
  /// 1 to kMaxServers addresses of servers or relays, IPv4 or IPv6, together at most kMaxServerBytes. Name a
  /// server that has both with both addresses: a client may have only one of the families. Not allowed are
  /// port 0, link-local IPv6 addresses, and addresses that belong to no single host: 0.0.0.0, ::, multicast
  /// and broadcast.
  std::vector<SocketAddress> servers;
  /// Data from the backend for the game on the server. The game reads it from ClientIdentity::user_data.
  std::array<std::byte, kUserBytes> user_data{};
  /// Until this time, the client may resume with tickets from a server, without a new token from the backend.
  /// All tickets expire at this time at the latest. An established connection continues after this time. The
  /// unit is seconds since 1970. 0: expires_s + kRenewableS.
  std::uint64_t renewable_until_s = 0;
  /// When the token was issued, which is when the player logged in, milliseconds since 1970. If a server gets
  /// two tokens with one client id, it prefers the token that was issued later, even if it was presented
  /// first. 0: issue_token() uses the machine's clock. If a game has several backends, their clocks should
  /// agree within a few seconds.
  std::uint64_t issued_ms = 0;
};

/// The token that a client gets from the backend and presents to join. Send it to the client over an
/// encrypted channel. Only servers can decrypt the member `sealed`. The client uses the other members. The
/// design follows the connect tokens of the netcode standard 1.02 (G. Fiedler,
/// https://github.com/mas-bandwidth/netcode/blob/main/STANDARD.md), but the sizes differ.
struct ConnectToken {
  static constexpr std::size_t kNonceBytes = 24;    ///< size of the nonce, bytes
  static constexpr std::size_t kSealedBytes = 640;  ///< size of the encrypted part, bytes
  /// Size of every token when stored or sent, bytes.
  static constexpr std::size_t kBytes = 1024;

  std::uint64_t expires_s = 0;                   ///< when the token expires, seconds since 1970
  std::array<std::byte, kNonceBytes> nonce{};    ///< number used only once, to encrypt `sealed`
  std::array<std::byte, kSealedBytes> sealed{};  ///< encrypted client id, servers, keys and user data
  /// Servers that the client may join. NetworkDialer tries them in this order. Empty in a ticket.
  std::vector<SocketAddress> servers;
  SecretKey to_server;  ///< secret for the session key that encrypts data from the client
  SecretKey to_client;  ///< secret for the session key that encrypts data from the server
};

/// The identity that a token gives to its client.
struct ClientIdentity {
  std::uint64_t client_id = 0;  ///< the backend's number for the client
  /// The data that the backend put into ConnectGrant::user_data.
  std::array<std::byte, ConnectGrant::kUserBytes> user_data{};
};

/// Issues a token. A backend calls this function. The backend and the servers must use one `key`. If several
/// games, or several versions of a game, use this key, each needs its own number `game`. Fails if the
/// grant contains no server, too many, or one that no client can reach by it (ConnectGrant::servers). When a
/// server accepts the token, it may end sessions of older tokens with this client id
/// (ServerSecurity::sessions_per_client).
[[nodiscard]] RECKONER_NET_API Result<ConnectToken> issue_token(const ConnectGrant& grant,
                                                                const SecretKey& key, std::uint64_t game);

/// Converts a token or a ticket to bytes and back. write_token() fails if the token contains too
/// many servers, or one that issue_token() refuses. read_token() returns nullopt if the bytes are not a
/// token.
[[nodiscard]] RECKONER_NET_API Result<std::array<std::byte, ConnectToken::kBytes>> write_token(
    const ConnectToken& token);
[[nodiscard]] RECKONER_NET_API std::optional<ConnectToken> read_token(std::span<const std::byte> bytes);

}  // namespace reckoner
