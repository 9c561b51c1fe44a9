// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/seal.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

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

// A client joins in two round trips, before ENet hears of it:
//
//   client                                  server
//   request: its public key          ->
//                                    <-     challenge: a cookie. Nothing is remembered.
//   response: key, cookie, token,    ->
//   and proof of having its keys
//                                    <-     accepted: session, the server's public key, a ticket
//
// What the client sends is padded so that no answer is ever longer than what asked for it.

inline constexpr std::size_t kPublicKeyBytes = 32;
inline constexpr std::size_t kCookieBytes = 16;
inline constexpr std::size_t kProofBytes = 16;
using PublicKey = std::array<std::byte, kPublicKeyBytes>;
using Cookie = std::array<std::byte, kCookieBytes>;
using Proof = std::array<std::byte, kProofBytes>;

/// The first message. The game number keeps others' servers from wondering.
struct Request {
  static constexpr std::size_t kBytes = 128;
  std::uint64_t game = 0;
  PublicKey client{};
};

struct Challenge {
  static constexpr std::size_t kBytes = 1 + kPublicKeyBytes + kCookieBytes;
  PublicKey client{};  ///< whom it answers
  Cookie cookie{};
};

struct Response {
  static constexpr std::size_t kBytes = 848;
  std::uint64_t game = 0;
  PublicKey client{};
  Cookie cookie{};
  std::uint64_t expires_s = 0;
  std::array<std::byte, ConnectToken::kNonceBytes> nonce{};
  std::array<std::byte, ConnectToken::kSealedBytes> sealed{};
  Proof proof{};  ///< prove(), with the token's key
};

/// That who sends the response has the token's keys, and has not only seen it: a keyed hash (BLAKE2b, RFC
/// 7693) of all that stands before it, the public key and the cookie included. `to_server`: of the token.
[[nodiscard]] Proof prove(const Response& response, const SecretKey& to_server);

/// What lets a client come back by itself: a token, without the servers' addresses.
struct Ticket {
  static constexpr std::size_t kBytes = 8 + ConnectToken::kNonceBytes + ConnectToken::kSealedBytes + 64;
  std::uint64_t expires_s = 0;
  std::array<std::byte, ConnectToken::kNonceBytes> nonce{};
  std::array<std::byte, ConnectToken::kSealedBytes> sealed{};
  SecretKey to_server;
  SecretKey to_client;
};

std::array<std::byte, Ticket::kBytes> write(const Ticket& ticket);
/// Nothing if it is not as long as one.
[[nodiscard]] std::optional<Ticket> read_ticket(std::span<const std::byte> bytes);

struct Accepted {
  static constexpr std::size_t kBytes = 1 + 4 + kPublicKeyBytes + Ticket::kBytes + kSealTag;
  std::uint32_t session = 0;
  PublicKey server{};
  Ticket ticket;
};
static_assert(Challenge::kBytes <= Request::kBytes && Accepted::kBytes <= Response::kBytes);

std::array<std::byte, Request::kBytes> write(const Request& request);
std::array<std::byte, Challenge::kBytes> write(const Challenge& challenge);
std::array<std::byte, Response::kBytes> write(const Response& response);

/// Nothing if it is not exactly one of the kind.
[[nodiscard]] std::optional<Request> read_request(std::span<const std::byte> datagram);
[[nodiscard]] std::optional<Challenge> read_challenge(std::span<const std::byte> datagram);
[[nodiscard]] std::optional<Response> read_response(std::span<const std::byte> datagram);

/// The keys of one session: from those in the token, and from fresh random numbers of both ends, so that
/// neither a token that is used again nor one that becomes known later gives them away.
struct SessionKeys {
  SecretKey to_server;
  SecretKey to_client;
  SecretKey accept;  ///< of the accepted message alone
};

/// One end's part of the key exchange (X25519, RFC 7748), for one session.
class KeyExchange {
 public:
  KeyExchange();
  explicit KeyExchange(const SecretKey& secret);
  [[nodiscard]] const PublicKey& public_key() const { return public_; }

  /// Nothing if the other end's public key is a trap. Both ends get the same; whose keys are which is said by
  /// `client` and `server`, one of which is public_key().
  [[nodiscard]] std::optional<SessionKeys> keys(const PublicKey& client, const PublicKey& server,
                                                const SecretKey& token_to_server,
                                                const SecretKey& token_to_client) const;

 private:
  SecretKey secret_;
  PublicKey public_{};
};

std::array<std::byte, Accepted::kBytes> seal(const Accepted& accepted, const SessionKeys& keys);
/// The server's public key in an accepted message, which is needed to open it.
[[nodiscard]] std::optional<PublicKey> server_of(std::span<const std::byte> accepted);
/// Nothing if it is not genuine.
[[nodiscard]] std::optional<Accepted> open_accepted(std::span<const std::byte> datagram,
                                                    const SessionKeys& keys);

/// A client's way into a session. Time on any clock that never goes back.
class ClientHandshake {
 public:
  /// `secret`: the client's part of the key exchange; empty: a new one.
  ClientHandshake(const ConnectToken& token, std::uint64_t game, const SecretKey& secret = {});

  /// What is to be sent now, if anything: each message again after a while, until it is answered, and the
  /// request again after responses that were not. Valid until the next call.
  [[nodiscard]] std::optional<std::span<const std::byte>> to_send(double now_s);

  /// Takes a datagram of the server's. False if it is none that was waited for.
  bool receive(std::span<const std::byte> datagram);

  struct Session {
    std::uint32_t number = 0;
    SessionKeys keys;
    Ticket ticket;
  };
  /// Once the server has accepted.
  [[nodiscard]] const std::optional<Session>& session() const { return session_; }
  /// The server has sent another ticket, sealed in the session: the last one expires.
  void renew(const Ticket& ticket) { session_->ticket = ticket; }

 private:
  ConnectToken token_;
  std::uint64_t game_;
  KeyExchange exchange_;
  std::optional<Cookie> cookie_;
  std::optional<Session> session_;
  double next_s_ = -1e300;
  double wait_s_ = 0.0;
  int responses_ = 0;  // since the last request
  std::array<std::byte, Response::kBytes> message_{};
};

}  // namespace reckoner::secure
