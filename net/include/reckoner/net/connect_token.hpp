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

namespace reckoner {

/// 32 secret bytes. Wiped when it goes.
class RECKONER_NET_API SecretKey {
 public:
  static constexpr std::size_t kBytes = 32;  ///< of a key

  SecretKey() = default;  ///< all zero: no key
  /// These.
  explicit SecretKey(const std::array<std::byte, kBytes>& bytes) : bytes_(bytes) {}
  /// Both hold it then, and both wipe it.
  SecretKey(const SecretKey&) = default;
  /// The same.
  SecretKey& operator=(const SecretKey&) = default;
  ~SecretKey();

  /// A new one from the system's random numbers.
  [[nodiscard]] static SecretKey make();

  /// 64 hexadecimal digits, as key files hold them; nothing if it is anything else, blanks at the ends aside.
  [[nodiscard]] static std::optional<SecretKey> from_text(std::string_view text);
  /// As from_text() reads it, 64 digits in lower case. The caller wipes the copy.
  [[nodiscard]] std::string text() const;

  /// The secret itself, for sealing; valid as long as the key.
  [[nodiscard]] const std::array<std::byte, kBytes>& bytes() const { return bytes_; }
  /// False for none: all bytes are zero.
  [[nodiscard]] explicit operator bool() const;

 private:
  std::array<std::byte, kBytes> bytes_{};
};

/// An IPv4 address and a UDP port, both in the machine's order.
struct ServerAddress {
  std::uint32_t host = 0;  ///< IPv4, in the machine's byte order: 127.0.0.1 is 0x7f000001
  std::uint16_t port = 0;  ///< UDP
  /// Member by member.
  bool operator==(const ServerAddress&) const = default;
};

/// The host in digits: "127.0.0.1".
[[nodiscard]] RECKONER_NET_API std::string host_text(const ServerAddress& address);

/// What a backend lets a client do: join one of some servers, until a point in time, as somebody.
struct ConnectGrant {
  static constexpr std::size_t kMostServers = 32;  ///< that a token can name
  static constexpr std::size_t kUserBytes = 256;   ///< that a token carries for the server's game
  /// How long after expires_s a client may come back by itself, unless something else is said, s: a day.
  static constexpr std::uint64_t kRenewableS = 86'400;

  std::uint64_t client_id = 0;         ///< the backend's name for the client, who is there once under it
  std::uint64_t expires_s = 0;         ///< seconds since 1970
  std::vector<ServerAddress> servers;  ///< 1 to kMostServers; those of relays too
  /// For the server's game: it comes out as ClientIdentity::user_data.
  std::array<std::byte, kUserBytes> user_data{};
  /// Until when the client may come back by itself, with the tickets that servers give it: no ticket is good
  /// for longer, whenever it is given. Seconds since 1970; 0: kRenewableS after expires_s. It ends no
  /// connection that stands.
  std::uint64_t renewable_until_s = 0;
  /// When the token was issued, which is when its player has logged in: of two tokens of one client id the
  /// one that was issued later wins, whichever is shown last. Milliseconds since 1970; 0: when issue_token()
  /// is called, by the machine's clock. Backends of one game should agree to a few seconds.
  std::uint64_t issued_ms = 0;
};

/// What a client gets from the backend, over a channel that nobody else reads, to join with: a part that only
/// servers can read, and what it needs to know of it. Modelled on connect tokens of the netcode standard 1.02
/// (G. Fiedler, https://github.com/mas-bandwidth/netcode/blob/main/STANDARD.md), with other sizes.
struct ConnectToken {
  static constexpr std::size_t kNonceBytes = 24;    ///< of the nonce
  static constexpr std::size_t kSealedBytes = 640;  ///< of what is sealed
  /// As it is kept and sent: every token has this size.
  static constexpr std::size_t kBytes = 1024;

  std::uint64_t expires_s = 0;                   ///< when it is good no more, seconds since 1970
  std::array<std::byte, kNonceBytes> nonce{};    ///< used once: tells this token's seal from all others
  std::array<std::byte, kSealedBytes> sealed{};  ///< client id, servers, keys and user data, for servers
  std::vector<ServerAddress> servers;            ///< where to join, in the order to try (EnetDialer)
  SecretKey to_server;  ///< from which the keys of a session are derived, for each direction
  SecretKey to_client;  ///< what the server seals with
};

/// Makes a token, for a backend: whoever holds an older one of the same client id is out once this one was
/// shown. `key` is shared with the servers; `game` tells apart games, and versions of
/// one, that have the same key. The grant must name 1 to kMostServers servers.
[[nodiscard]] RECKONER_NET_API ConnectToken issue_token(const ConnectGrant& grant, const SecretKey& key,
                                                        std::uint64_t game);

/// The bytes of a token, and back; nothing if they are none.
[[nodiscard]] RECKONER_NET_API std::array<std::byte, ConnectToken::kBytes> write_token(
    const ConnectToken& token);
[[nodiscard]] RECKONER_NET_API std::optional<ConnectToken> read_token(std::span<const std::byte> bytes);

}  // namespace reckoner
