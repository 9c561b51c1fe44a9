// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/seal.hpp"
#include "net/src/transport/limits/allowance.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner::secure {

using LoginId = std::array<std::byte, 16>;

/// Identifies a token and all tickets derived from it by the first bytes of the token's nonce. The token
/// itself is generation 0. A session issues tickets of the generation after the one it began with.
struct Login {
  LoginId id{};
  std::uint32_t generation = 0;
};

/// The content of a token, as the server reads it.
struct OpenedGrant {
  ConnectGrant grant;
  SecretKey to_server;
  SecretKey to_client;
  Login login{};  ///< not sealed in a token (generation 0); open_grant() fills it in
};

/// Seals a grant for servers: XChaCha20-Poly1305 with a random nonce, bound to the game and the expiry.
[[nodiscard]] std::array<std::byte, ConnectToken::kSealedBytes> seal_grant(
    const OpenedGrant& grant, const std::array<std::byte, ConnectToken::kNonceBytes>& nonce,
    const SecretKey& key, std::uint64_t game);

/// Issues a ticket: a token with this login and new keys. Its time of issue is that of the grant.
[[nodiscard]] ConnectToken issue_ticket(const ConnectGrant& grant, const Login& login, const SecretKey& key,
                                        std::uint64_t game);

/// Opens a sealed grant. Nullopt if it was not sealed with this key for this game and expiry, or is
/// malformed.
[[nodiscard]] std::optional<OpenedGrant> open_grant(
    const std::array<std::byte, ConnectToken::kSealedBytes>& sealed,
    const std::array<std::byte, ConnectToken::kNonceBytes>& nonce, std::uint64_t expires_s,
    const SecretKey& key, std::uint64_t game);

// A client joins in two round trips:
//
//   client                                  server
//   request: its public key          ->
//                                    <-     challenge: a cookie. Nothing is remembered.
//   response: key, cookie, token,    ->
//   and proof of having its keys
//                                    <-     accepted: session, the server's public key, a ticket
//                                           or refused: what is wrong with a genuine token
//
// At a server without security, open_response and open_accepted take the place of the last two. They prove
// the client's address and nothing else.
//
// The client's messages are padded, so that no answer is longer than its request. They carry the client's
// wire version. It is 0 in those of clients before version 13, which speak ENet inside the session.

inline constexpr std::size_t kPublicKeyBytes = 32;
inline constexpr std::size_t kCookieBytes = 16;
inline constexpr std::size_t kProofBytes = 16;
using PublicKey = std::array<std::byte, kPublicKeyBytes>;
using Cookie = std::array<std::byte, kCookieBytes>;
using Proof = std::array<std::byte, kProofBytes>;
/// Random bytes of one handshake object of a client. A client that presents its token again draws new ones,
/// so that two attempts never have the same keys.
using Attempt = std::array<std::byte, 16>;

/// The first message.
struct Request {
  static constexpr std::size_t kBytes = 128;
  std::uint64_t game = 0;
  PublicKey client{};
  std::uint16_t version = 0;  ///< wire version of the client, not 0
};

struct Challenge {
  static constexpr std::size_t kBytes = 1 + kPublicKeyBytes + kCookieBytes;
  PublicKey client{};  ///< the client that it answers
  Cookie cookie{};
};

struct Response {
  static constexpr std::size_t kBytes = 848;
  std::uint64_t game = 0;
  PublicKey client{};
  Cookie cookie{};
  std::uint16_t version = 0;  ///< as in Request
  Attempt attempt{};
  std::uint64_t expires_s = 0;
  std::array<std::byte, ConnectToken::kNonceBytes> nonce{};
  std::array<std::byte, ConnectToken::kSealedBytes> sealed{};
  Proof proof{};  ///< result of prove() with the token's key
};

/// Proves that the sender of a response has the token's keys and has not only seen the token: a keyed hash
/// (BLAKE2b, RFC 7693) of all preceding fields, including the public key and the cookie. `to_server`: a key
/// of the token.
[[nodiscard]] Proof prove(const Response& response, const SecretKey& to_server);

/// Lets a client reconnect without its backend: a token without the servers' addresses.
struct Ticket {
  static constexpr std::size_t kBytes = 8 + ConnectToken::kNonceBytes + ConnectToken::kSealedBytes + 64;
  std::uint64_t expires_s = 0;
  std::array<std::byte, ConnectToken::kNonceBytes> nonce{};
  std::array<std::byte, ConnectToken::kSealedBytes> sealed{};
  SecretKey to_server;
  SecretKey to_client;
};

std::array<std::byte, Ticket::kBytes> write(const Ticket& ticket);
/// Nullopt if the length is wrong.
[[nodiscard]] std::optional<Ticket> read_ticket(std::span<const std::byte> bytes);

struct Accepted {
  static constexpr std::size_t kBytes = 1 + 4 + kPublicKeyBytes + Ticket::kBytes + kSealTag;
  std::uint32_t session = 0;
  PublicKey server{};
  Ticket ticket;
};

/// Why a server does not accept a token. The numbers except 0 are on the wire.
enum class TokenFault : std::uint8_t {
  /// Only inside a client, which infers it (ClientHandshake::is_ignored()): the server says nothing. It
  /// cannot open the token, because its key is another one or the token was changed, or it has no room.
  ignored = 0,
  expired = 1,       ///< by the server's clock
  other_server = 2,  ///< it does not name this server
  used = 3,          ///< it was used before, is older than another one, or was issued before a kick
  other_game = 4,    ///< the client or the token belongs to another game
};

/// Answers a response with a genuine token that the server does not accept. Without it, the client would wait
/// in vain. It is bound to the response, which contains the client's random bytes, and to a key of the token.
struct Refused {
  static constexpr std::size_t kBytes = 1 + 1 + kProofBytes;
};

/// The client's second message to a server without security. `client` is not a key here, but random bytes
/// that only the server at the other end learns.
struct OpenResponse {
  static constexpr std::size_t kBytes = 64;
  PublicKey client{};
  Cookie cookie{};
  std::uint16_t version = 0;  ///< as in Request
};

struct OpenAccepted {
  static constexpr std::size_t kBytes = 1 + 4 + kPublicKeyBytes;
  std::uint32_t session = 0;
  PublicKey client{};  ///< the client that it answers
};

static_assert(Challenge::kBytes <= Request::kBytes && Accepted::kBytes <= Response::kBytes);
static_assert(OpenAccepted::kBytes <= OpenResponse::kBytes);
static_assert(Refused::kBytes <= Response::kBytes);

/// Writes a refusal. `response`: the response datagram that it answers. `to_client`: a key of the token.
[[nodiscard]] std::array<std::byte, Refused::kBytes> write_refused(
    TokenFault fault, const std::array<std::byte, Response::kBytes>& response, const SecretKey& to_client);
/// Returns the fault in a refusal. Nullopt if it is not a genuine refusal of this response.
[[nodiscard]] std::optional<TokenFault> open_refused(std::span<const std::byte> datagram,
                                                     const std::array<std::byte, Response::kBytes>& response,
                                                     const SecretKey& to_client);

std::array<std::byte, Request::kBytes> write(const Request& request);
std::array<std::byte, Challenge::kBytes> write(const Challenge& challenge);
std::array<std::byte, Response::kBytes> write(const Response& response);
std::array<std::byte, OpenResponse::kBytes> write(const OpenResponse& response);
std::array<std::byte, OpenAccepted::kBytes> write(const OpenAccepted& accepted);

/// Nullopt if the datagram is not exactly such a message.
[[nodiscard]] std::optional<Request> read_request(std::span<const std::byte> datagram);
[[nodiscard]] std::optional<Challenge> read_challenge(std::span<const std::byte> datagram);
[[nodiscard]] std::optional<Response> read_response(std::span<const std::byte> datagram);
[[nodiscard]] std::optional<OpenResponse> read_open_response(std::span<const std::byte> datagram);
[[nodiscard]] std::optional<OpenAccepted> read_open_accepted(std::span<const std::byte> datagram);

/// The keys of one session. They are derived from the keys in the token, from a key exchange, and from the
/// client's attempt, so that neither a reused token nor one that leaks later reveals them, and no second
/// attempt has them.
struct SessionKeys {
  SecretKey to_server;
  SecretKey to_client;
  SecretKey accept;  ///< only for the accepted message
};

/// One end's part of the key exchange (X25519, RFC 7748), for one session.
class KeyExchange {
 public:
  KeyExchange();
  explicit KeyExchange(const SecretKey& secret);
  [[nodiscard]] const PublicKey& public_key() const { return public_; }

  /// Returns the same keys at both ends. `client` and `server` are the two public keys; one of them is
  /// public_key(). `attempt`: from the client's response. Nullopt if the other end's public key is a weak
  /// one.
  [[nodiscard]] std::optional<SessionKeys> keys(const PublicKey& client, const PublicKey& server,
                                                const Attempt& attempt, const SecretKey& token_to_server,
                                                const SecretKey& token_to_client) const;

 private:
  SecretKey secret_;
  PublicKey public_{};
};

std::array<std::byte, Accepted::kBytes> seal(const Accepted& accepted, const SessionKeys& keys);
/// Returns the server's public key in an accepted message. It is needed to open the message.
[[nodiscard]] std::optional<PublicKey> server_of(std::span<const std::byte> accepted);
/// Opens an accepted message. Nullopt if it is not genuine.
[[nodiscard]] std::optional<Accepted> open_accepted(std::span<const std::byte> datagram,
                                                    const SessionKeys& keys);

/// The client's side of the handshake. Times are on a monotonic clock.
class ClientHandshake {
 public:
  /// `secret`: the client's secret for the key exchange; empty: a new one. `version`: the wire version that
  /// the client speaks, not 0.
  ClientHandshake(const ConnectToken& token, std::uint64_t game, const SecretKey& secret = {},
                  std::uint16_t version = kProtocolVersion);
  /// The handshake with a server without security.
  explicit ClientHandshake(std::uint16_t version);

  /// How many challenges are answered at once, and how many a second afterwards. Anybody who sees a request
  /// can forge challenges, and a response is 17 times as long as a challenge.
  static constexpr double kAnswersAtOnce = 4.0;
  static constexpr double kAnswersPerSecond = 10.0;
  /// After this many challenges, responses are only sent when their repetition is due.
  static constexpr int kMaxAnswers = 32;

  /// Returns the message to send now, or nullopt. A message is repeated until it is answered. If responses
  /// stay unanswered, the handshake starts again with a request. Valid until the next call.
  [[nodiscard]] std::optional<std::span<const std::byte>> to_send(double now_s);

  /// Handles a datagram from the server. Returns false if it was not expected; refusal() then says why.
  bool receive(std::span<const std::byte> datagram);
  /// The reason why the last receive() returned false. repeated: a late copy of an answer. not_genuine: not
  /// an answer to this attempt. malformed: no message of a server.
  [[nodiscard]] Refusal refusal() const { return refusal_; }

  struct Session {
    std::uint32_t number = 0;
    SessionKeys keys;  ///< without security, empty like the ticket
    Ticket ticket;
  };
  /// The session. Nullopt until the server has accepted the client.
  [[nodiscard]] const std::optional<Session>& session() const { return session_; }
  /// What is wrong with the token, if the server has refused it. The handshake is then over.
  [[nodiscard]] const std::optional<TokenFault>& refused() const { return refused_; }
  /// True if the server answers requests, but neither accepts nor refuses the responses (kIgnored). Its key
  /// is another one than the token's, or it has no room. The handshake goes on; the caller may end it. Forged
  /// challenges do not lead here, nor does a server that is down. If a share q of all round trips fails, a
  /// client with a good token gets here with a probability of about (1 - q)^2 q^4: 1 in 90 000 for q = 6 % (3
  /// % loss in each direction). It is below 1 in 20 for any q.
  [[nodiscard]] bool is_ignored(double now_s) const;
  /// This many responses must have remained unanswered, and two more for every request that was lost.
  static constexpr int kIgnored = 4;
  /// True if most of what is_ignored() needs is known, at the end of an attempt.
  [[nodiscard]] bool is_probably_ignored() const { return !session_ && ignored_ >= kIgnored - 1; }
  /// True if the client shows a ticket, so that the server has had the key of the token.
  [[nodiscard]] bool has_ticket() const { return token_ && token_->servers.empty(); }
  /// Replaces the ticket with a newer one, which arrived sealed in the session.
  void renew(const Ticket& ticket) { session_->ticket = ticket; }

 private:
  [[nodiscard]] bool receive_open(const OpenAccepted& accepted);

  std::optional<ConnectToken> token_;  // nullopt: the server has no security
  std::uint64_t game_ = 0;
  std::uint16_t version_;
  KeyExchange exchange_;
  Attempt attempt_{};
  std::optional<Cookie> cookie_;
  std::optional<Session> session_;
  double next_s_ = -1e300;
  double wait_s_ = 0.0;
  std::optional<TokenFault> refused_;
  int responses_ = 0;            // since the last request
  Allowance allowance_;          // for answers to challenges
  int answers_ = 0;              // how many challenges were answered at once
  bool has_new_cookie_ = false;  // no message was sent since the cookie arrived
  Refusal refusal_ = Refusal::malformed;
  bool has_responded_ = false;

  // For is_ignored():
  std::optional<double> asked_s_;       // time of the first request
  std::optional<double> round_trip_s_;  // upper bound: from the first request to the first response
  int challenges_ = 0;                  // different ones since the last request
  int ignored_ = 0;                     // responses without an answer
  int needed_ = kIgnored;               // so many prove it
  std::optional<double> enough_s_;      // time at which so many had been sent

  void count_request(double now_s);
  void count_response(double now_s);
  void forget_ignored();

  std::array<std::byte, Request::kBytes> request_{};
  std::array<std::byte, Response::kBytes> response_{};  // the last one sent
  std::array<std::byte, OpenResponse::kBytes> open_response_{};
};

}  // namespace reckoner::secure
