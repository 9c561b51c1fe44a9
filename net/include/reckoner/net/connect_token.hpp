// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// A secret of 32 bytes. The destructor wipes the memory.
class RECKONER_NET_API SecretKey {
 public:
  static constexpr std::size_t kBytes = 32;  ///< size of a key, bytes

  SecretKey() = default;  ///< all bytes zero: no key
  /// Copies `bytes`.
  explicit SecretKey(const std::array<std::byte, kBytes>& bytes) : bytes_(bytes) {}
  /// Copies the secret. Each copy wipes its own memory.
  SecretKey(const SecretKey&) = default;
  /// Copies the secret. Each copy wipes its own memory.
  SecretKey& operator=(const SecretKey&) = default;
  ~SecretKey();

  /// Returns a new key from the system's random number generator.
  [[nodiscard]] static SecretKey make();

  /// Parses 64 hexadecimal digits, the format of key files. Blanks at both ends are ignored. Returns nullopt
  /// for any other text.
  [[nodiscard]] static std::optional<SecretKey> from_text(std::string_view text);
  /// Returns 64 lower-case hexadecimal digits for from_text(). The caller must wipe the string.
  [[nodiscard]] std::string text() const;

  /// The secret bytes, for encryption. Valid as long as the key object.
  [[nodiscard]] const std::array<std::byte, kBytes>& bytes() const { return bytes_; }
  /// False if all bytes are zero (no key).
  [[nodiscard]] explicit operator bool() const;

 private:
  std::array<std::byte, kBytes> bytes_{};
};

/// An IPv4 address and a UDP port, both in host byte order.
struct ServerAddress {
  std::uint32_t host = 0;  ///< IPv4 address in host byte order: 127.0.0.1 is 0x7f000001
  std::uint16_t port = 0;  ///< UDP port in host byte order
  /// True if host and port are equal.
  bool operator==(const ServerAddress&) const = default;
};

/// Returns the host as text, for example "127.0.0.1".
[[nodiscard]] RECKONER_NET_API std::string host_text(const ServerAddress& address);

/// A permission that a backend gives to a client: which servers it may join, until when, and under which
/// client id.
struct ConnectGrant {
  static constexpr std::size_t kMaxServers = 32;  ///< maximum number of servers in a token
  static constexpr std::size_t kUserBytes = 256;  ///< size of the user data in a token, bytes
  /// Default time after expires_s during which a client may still resume without the backend, s (one day).
  static constexpr std::uint64_t kRenewableS = 86'400;

  std::uint64_t client_id = 0;  ///< the backend's number for the client; by default one session at a time
  std::uint64_t expires_s = 0;  ///< seconds since 1970
  std::vector<ServerAddress> servers;  ///< 1 to kMaxServers addresses; a relay's address is allowed
  /// Data for the server's game. The server reads it from ClientIdentity::user_data.
  std::array<std::byte, kUserBytes> user_data{};
  /// Until this time the client may resume with tickets from a server, without a new token. No ticket is
  /// valid longer, no matter when it was issued. An established connection continues after this time. Seconds
  /// since 1970; 0: kRenewableS after expires_s.
  std::uint64_t renewable_until_s = 0;
  /// When the token was issued, that is, when its player logged in. If two tokens have one client id, the
  /// token issued later wins, no matter which is presented last. Milliseconds since 1970; 0: issue_token()
  /// uses the machine's clock. The clocks of a game's backends should agree within a few seconds.
  std::uint64_t issued_ms = 0;
};

/// The token that a client gets from the backend and presents to join. Send it to the client over an
/// encrypted channel. One part is encrypted so that only servers can read it; the rest is for the client.
/// Modelled on the connect tokens of the netcode standard 1.02 (G. Fiedler,
/// https://github.com/mas-bandwidth/netcode/blob/main/STANDARD.md), with other sizes.
struct ConnectToken {
  static constexpr std::size_t kNonceBytes = 24;    ///< size of the nonce, bytes
  static constexpr std::size_t kSealedBytes = 640;  ///< size of the encrypted part, bytes
  /// Size of every token when stored or sent, bytes.
  static constexpr std::size_t kBytes = 1024;

  std::uint64_t expires_s = 0;                   ///< seconds since 1970; later the token is invalid
  std::array<std::byte, kNonceBytes> nonce{};    ///< used once; makes the encryption of each token unique
  std::array<std::byte, kSealedBytes> sealed{};  ///< for servers: client id, servers, keys and user data
  std::vector<ServerAddress>
      servers;          ///< servers to join, which NetworkDialer tries in this order; a ticket has none
  SecretKey to_server;  ///< session keys are derived from it; for data sent by the client
  SecretKey to_client;  ///< for data sent by the server
};

/// Issues a token; called by a backend. `key` is shared with the servers. `game` separates games, and
/// versions of a game, that use one key. Fails unless the grant names 1 to kMaxServers servers. When a server
/// accepts the token, it may end older logins of the client id (ServerSecurity::sessions_per_client).
[[nodiscard]] RECKONER_NET_API Result<ConnectToken> issue_token(const ConnectGrant& grant,
                                                                const SecretKey& key, std::uint64_t game);

/// Converts a token or a ticket to bytes and back. write_token() fails if there are more than kMaxServers
/// servers. read_token() returns nullopt if the bytes are not a token.
[[nodiscard]] RECKONER_NET_API Result<std::array<std::byte, ConnectToken::kBytes>> write_token(
    const ConnectToken& token);
[[nodiscard]] RECKONER_NET_API std::optional<ConnectToken> read_token(std::span<const std::byte> bytes);

}  // namespace reckoner
