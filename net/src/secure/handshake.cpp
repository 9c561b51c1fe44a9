// SPDX-License-Identifier: MIT
#include "net/src/secure/handshake.hpp"

#include "net/src/secure/keys.hpp"
#include "net/src/wire/byte_stream.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace reckoner::secure {
namespace {

constexpr std::size_t kAcceptedHead = 1 + 4 + kPublicKeyBytes;

std::uint8_t number_of(Kind kind) {
  return static_cast<std::uint8_t>(kind);
}

bool is(std::span<const std::byte> datagram, Kind kind, std::size_t bytes) {
  return datagram.size() == bytes && std::to_integer<std::uint8_t>(datagram[0]) == number_of(kind);
}

// Derives a key for one purpose from a key and the data that both ends know (BLAKE2b, RFC 7693, keyed).
SecretKey derive(const SecretKey& from, std::string_view purpose, const std::array<std::byte, 32>& shared,
                 const PublicKey& client, const PublicKey& server, const Attempt& attempt) {
  std::array<std::byte, SecretKey::kBytes> out;
  crypto_generichash_state state;
  crypto_generichash_init(&state, raw(from.bytes()), from.bytes().size(), out.size());
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(purpose.data()), purpose.size());
  for (const auto* part : {&shared, &client, &server})
    crypto_generichash_update(&state, raw(*part), part->size());
  crypto_generichash_update(&state, raw(attempt), attempt.size());
  crypto_generichash_final(&state, raw(out), out.size());
  wipe_stack();
  const SecretKey key(out);
  sodium_memzero(out.data(), out.size());
  return key;
}

void write_proven(wire::ByteWriter& writer, const Response& response) {
  writer.number(number_of(Kind::response))
      .number(response.game)
      .bytes(response.client)
      .bytes(response.cookie)
      .number(response.version)
      .bytes(response.attempt)
      .number(response.expires_s)
      .bytes(response.nonce)
      .bytes(response.sealed);
}

}  // namespace

std::array<std::byte, Request::kBytes> write(const Request& request) {
  std::array<std::byte, Request::kBytes> bytes;
  wire::ByteWriter(bytes)
      .number(number_of(Kind::request))
      .number(request.game)
      .bytes(request.client)
      .number(request.version)
      .pad(bytes.size());
  return bytes;
}

std::array<std::byte, Challenge::kBytes> write(const Challenge& challenge) {
  std::array<std::byte, Challenge::kBytes> bytes;
  wire::ByteWriter(bytes).number(number_of(Kind::challenge)).bytes(challenge.client).bytes(challenge.cookie);
  return bytes;
}

std::array<std::byte, Response::kBytes> write(const Response& response) {
  std::array<std::byte, Response::kBytes> bytes;
  wire::ByteWriter writer(bytes);
  write_proven(writer, response);
  writer.bytes(response.proof).pad(bytes.size());
  return bytes;
}

Proof prove(const Response& response, const SecretKey& to_server) {
  // A separate key, so that the proof reveals nothing about the session's keys.
  constexpr std::string_view kPurpose = "reckoner response 3";
  std::array<std::byte, SecretKey::kBytes> key;
  crypto_generichash(raw(key), key.size(), raw(std::as_bytes(std::span(kPurpose))), kPurpose.size(),
                     raw(to_server.bytes()), SecretKey::kBytes);
  wipe_stack();
  std::array<std::byte, Response::kBytes> bytes;
  wire::ByteWriter writer(bytes);
  write_proven(writer, response);
  Proof proof;
  crypto_generichash(raw(proof), proof.size(), raw(bytes), writer.size(), raw(key), key.size());
  sodium_memzero(key.data(), key.size());
  return proof;
}

namespace {

// The parts of a response before its proof. They include the client's public key and random bytes, the cookie
// and the token.
constexpr std::size_t kProvenBytes = 1 + 8 + kPublicKeyBytes + kCookieBytes + 2 + std::tuple_size_v<Attempt> +
                                     8 + ConnectToken::kNonceBytes + ConnectToken::kSealedBytes;
static_assert(kProvenBytes + kProofBytes <= Response::kBytes);

Proof prove_refused(TokenFault fault, const std::array<std::byte, Response::kBytes>& response,
                    const SecretKey& to_client) {
  constexpr std::string_view kPurpose = "reckoner refused 1";
  std::array<std::byte, SecretKey::kBytes> key;
  crypto_generichash(raw(key), key.size(), raw(std::as_bytes(std::span(kPurpose))), kPurpose.size(),
                     raw(to_client.bytes()), SecretKey::kBytes);
  wipe_stack();
  std::array<std::byte, 1 + kProvenBytes> about;
  wire::ByteWriter(about)
      .number(static_cast<std::uint8_t>(fault))
      .bytes(std::span(response).first(kProvenBytes));
  Proof proof;
  crypto_generichash(raw(proof), proof.size(), raw(about), about.size(), raw(key), key.size());
  sodium_memzero(key.data(), key.size());
  return proof;
}

}  // namespace

std::array<std::byte, Refused::kBytes> write_refused(TokenFault fault,
                                                     const std::array<std::byte, Response::kBytes>& response,
                                                     const SecretKey& to_client) {
  std::array<std::byte, Refused::kBytes> bytes;
  wire::ByteWriter(bytes)
      .number(number_of(Kind::refused))
      .number(static_cast<std::uint8_t>(fault))
      .bytes(prove_refused(fault, response, to_client));
  return bytes;
}

std::optional<TokenFault> open_refused(std::span<const std::byte> datagram,
                                       const std::array<std::byte, Response::kBytes>& response,
                                       const SecretKey& to_client) {
  if (!is(datagram, Kind::refused, Refused::kBytes)) return std::nullopt;
  wire::ByteReader reader(datagram.subspan(1));
  const auto number = reader.number<std::uint8_t>();
  const auto shown = reader.bytes<kProofBytes>();
  const auto last = static_cast<std::uint8_t>(TokenFault::other_game);
  if (number == 0 || number > last) return std::nullopt;
  const auto fault = static_cast<TokenFault>(number);
  const Proof proof = prove_refused(fault, response, to_client);
  if (sodium_memcmp(proof.data(), shown.data(), proof.size()) != 0) return std::nullopt;
  return fault;
}

std::optional<Request> read_request(std::span<const std::byte> datagram) {
  if (!is(datagram, Kind::request, Request::kBytes)) return std::nullopt;
  wire::ByteReader reader(datagram.subspan(1));
  Request request;
  request.game = reader.number<std::uint64_t>();
  request.client = reader.bytes<kPublicKeyBytes>();
  request.version = reader.number<std::uint16_t>();
  return request;
}

std::optional<Challenge> read_challenge(std::span<const std::byte> datagram) {
  if (!is(datagram, Kind::challenge, Challenge::kBytes)) return std::nullopt;
  wire::ByteReader reader(datagram.subspan(1));
  Challenge challenge;
  challenge.client = reader.bytes<kPublicKeyBytes>();
  challenge.cookie = reader.bytes<kCookieBytes>();
  return challenge;
}

std::optional<Response> read_response(std::span<const std::byte> datagram) {
  if (!is(datagram, Kind::response, Response::kBytes)) return std::nullopt;
  wire::ByteReader reader(datagram.subspan(1));
  Response response;
  response.game = reader.number<std::uint64_t>();
  response.client = reader.bytes<kPublicKeyBytes>();
  response.cookie = reader.bytes<kCookieBytes>();
  response.version = reader.number<std::uint16_t>();
  response.attempt = reader.bytes<std::tuple_size_v<Attempt>>();
  response.expires_s = reader.number<std::uint64_t>();
  response.nonce = reader.bytes<ConnectToken::kNonceBytes>();
  response.sealed = reader.bytes<ConnectToken::kSealedBytes>();
  response.proof = reader.bytes<kProofBytes>();
  return response;
}

std::array<std::byte, OpenResponse::kBytes> write(const OpenResponse& response) {
  std::array<std::byte, OpenResponse::kBytes> bytes;
  wire::ByteWriter(bytes)
      .number(number_of(Kind::open_response))
      .bytes(response.client)
      .bytes(response.cookie)
      .number(response.version)
      .pad(bytes.size());
  return bytes;
}

std::array<std::byte, OpenAccepted::kBytes> write(const OpenAccepted& accepted) {
  std::array<std::byte, OpenAccepted::kBytes> bytes;
  wire::ByteWriter(bytes)
      .number(number_of(Kind::open_accepted))
      .number(accepted.session)
      .bytes(accepted.client);
  return bytes;
}

std::optional<OpenResponse> read_open_response(std::span<const std::byte> datagram) {
  if (!is(datagram, Kind::open_response, OpenResponse::kBytes)) return std::nullopt;
  wire::ByteReader reader(datagram.subspan(1));
  OpenResponse response;
  response.client = reader.bytes<kPublicKeyBytes>();
  response.cookie = reader.bytes<kCookieBytes>();
  response.version = reader.number<std::uint16_t>();
  return response;
}

std::optional<OpenAccepted> read_open_accepted(std::span<const std::byte> datagram) {
  if (!is(datagram, Kind::open_accepted, OpenAccepted::kBytes)) return std::nullopt;
  wire::ByteReader reader(datagram.subspan(1));
  OpenAccepted accepted;
  accepted.session = reader.number<std::uint32_t>();
  accepted.client = reader.bytes<kPublicKeyBytes>();
  return accepted;
}

KeyExchange::KeyExchange() : KeyExchange(SecretKey::make()) {}

KeyExchange::KeyExchange(const SecretKey& secret) : secret_(secret) {
  crypto_scalarmult_base(raw(public_), raw(secret_.bytes()));
}

std::optional<SessionKeys> KeyExchange::keys(const PublicKey& client, const PublicKey& server,
                                             const Attempt& attempt, const SecretKey& token_to_server,
                                             const SecretKey& token_to_client) const {
  std::array<std::byte, 32> shared;
  const PublicKey& other = client == public_ ? server : client;
  if (crypto_scalarmult(raw(shared), raw(secret_.bytes()), raw(other)) != 0) return std::nullopt;
  SessionKeys keys{derive(token_to_server, "reckoner to server", shared, client, server, attempt),
                   derive(token_to_client, "reckoner to client", shared, client, server, attempt),
                   derive(token_to_client, "reckoner accepted", shared, client, server, attempt)};
  sodium_memzero(shared.data(), shared.size());
  return keys;
}

std::array<std::byte, Ticket::kBytes> write(const Ticket& ticket) {
  std::array<std::byte, Ticket::kBytes> bytes;
  wire::ByteWriter(bytes)
      .number(ticket.expires_s)
      .bytes(ticket.nonce)
      .bytes(ticket.sealed)
      .bytes(ticket.to_server.bytes())
      .bytes(ticket.to_client.bytes());
  return bytes;
}

std::optional<Ticket> read_ticket(std::span<const std::byte> bytes) {
  if (bytes.size() != Ticket::kBytes) return std::nullopt;
  wire::ByteReader reader(bytes);
  Ticket ticket;
  ticket.expires_s = reader.number<std::uint64_t>();
  ticket.nonce = reader.bytes<ConnectToken::kNonceBytes>();
  ticket.sealed = reader.bytes<ConnectToken::kSealedBytes>();
  ticket.to_server = read_key(reader);
  ticket.to_client = read_key(reader);
  return ticket;
}

// The key is used for one message only, so its nonce may be zero.
std::array<std::byte, Accepted::kBytes> seal(const Accepted& accepted, const SessionKeys& keys) {
  std::array<std::byte, Ticket::kBytes> ticket = write(accepted.ticket);
  std::array<std::byte, Accepted::kBytes> bytes;
  wire::ByteWriter(bytes).number(number_of(Kind::accepted)).number(accepted.session).bytes(accepted.server);
  constexpr std::array<std::byte, crypto_aead_chacha20poly1305_ietf_NPUBBYTES> kNonce{};
  crypto_aead_chacha20poly1305_ietf_encrypt(raw(std::span(bytes).subspan(kAcceptedHead)), nullptr,
                                            raw(ticket), ticket.size(), raw(bytes), kAcceptedHead, nullptr,
                                            raw(kNonce), raw(keys.accept.bytes()));
  sodium_memzero(ticket.data(), ticket.size());
  return bytes;
}

std::optional<PublicKey> server_of(std::span<const std::byte> accepted) {
  if (!is(accepted, Kind::accepted, Accepted::kBytes)) return std::nullopt;
  return wire::ByteReader(accepted.subspan(5)).bytes<kPublicKeyBytes>();
}

std::optional<Accepted> open_accepted(std::span<const std::byte> datagram, const SessionKeys& keys) {
  const auto server = server_of(datagram);
  if (!server) return std::nullopt;
  constexpr std::array<std::byte, crypto_aead_chacha20poly1305_ietf_NPUBBYTES> kNonce{};
  std::array<std::byte, Ticket::kBytes> plain;
  const auto sealed = datagram.subspan(kAcceptedHead);
  if (crypto_aead_chacha20poly1305_ietf_decrypt(raw(plain), nullptr, nullptr, raw(sealed), sealed.size(),
                                                raw(datagram), kAcceptedHead, raw(kNonce),
                                                raw(keys.accept.bytes())) != 0) {
    return std::nullopt;
  }
  Accepted accepted;
  accepted.session = wire::ByteReader(datagram.subspan(1)).number<std::uint32_t>();
  accepted.server = *server;
  accepted.ticket = *read_ticket(plain);
  sodium_memzero(plain.data(), plain.size());
  return accepted;
}

namespace {

// The first wait is longer than most round trips. Each wait is half as long again as the previous one.
constexpr double kFirstWaitS = 0.2;
constexpr double kMaxWaitS = 1.0;
constexpr double kWaitGrowth = 1.5;
constexpr int kResponses = 2;  // unanswered responses until the client requests another cookie

}  // namespace

ClientHandshake::ClientHandshake(const ConnectToken& token, std::uint64_t game, const SecretKey& secret,
                                 std::uint16_t version)
    : token_(token), game_(game), version_(version), exchange_(secret ? KeyExchange(secret) : KeyExchange()) {
  fill_random(attempt_);
}

ClientHandshake::ClientHandshake(std::uint16_t version) : version_(version) {}

std::optional<std::span<const std::byte>> ClientHandshake::to_send(double now_s) {
  if (session_ || refused_) return std::nullopt;
  if (now_s < next_s_) {
    if (!has_new_cookie_ || answers_ >= kMaxAnswers) return std::nullopt;
    if (!allowance_.spend(1.0, kAnswersPerSecond, kAnswersAtOnce, now_s)) return std::nullopt;
    ++answers_;
  }
  has_new_cookie_ = false;
  wait_s_ = std::clamp(wait_s_ * kWaitGrowth, kFirstWaitS, kMaxWaitS);
  next_s_ = now_s + wait_s_;
  // The cookie may be forged, or from before a restart of the server.
  if (!cookie_ || responses_ >= kResponses) {
    responses_ = 0;
    count_request(now_s);
    request_ = write(Request{game_, exchange_.public_key(), version_});
    return request_;
  }
  ++responses_;
  count_response(now_s);
  has_responded_ = true;
  if (!token_) {
    open_response_ = write(OpenResponse{exchange_.public_key(), *cookie_, version_});
    return open_response_;
  }
  Response response{.game = game_,
                    .client = exchange_.public_key(),
                    .cookie = *cookie_,
                    .version = version_,
                    .attempt = attempt_,
                    .expires_s = token_->expires_s,
                    .nonce = token_->nonce,
                    .sealed = token_->sealed};
  response.proof = prove(response, token_->to_server);
  response_ = write(response);
  return response_;
}

bool ClientHandshake::receive(std::span<const std::byte> datagram) {
  const auto expect = [this](Refusal otherwise, bool expected) {
    refusal_ = otherwise;
    return expected;
  };
  const auto challenge = read_challenge(datagram);
  const auto server = server_of(datagram);
  const auto open = read_open_accepted(datagram);
  const bool is_refusal = is(datagram, Kind::refused, Refused::kBytes);
  if (!challenge && !server && !open && !is_refusal) return expect(Refusal::malformed, false);
  if (session_ || refused_) return expect(Refusal::repeated, false);
  if (challenge) {
    // Anybody may have sent this. A wrong cookie costs two responses; then the client requests another one.
    if (challenge->client != exchange_.public_key()) return expect(Refusal::not_genuine, false);
    if (cookie_ == challenge->cookie && responses_ > 0) return true;  // a copy; the response is in flight
    if (!cookie_) wait_s_ = 0.0;  // a server that answers no response is asked less and less often
    // Two different challenges for one request: at least one is forged, and may have replaced the other one.
    if (challenges_ > 0 && cookie_ != challenge->cookie) forget_ignored();
    ++challenges_;
    cookie_ = challenge->cookie;
    has_new_cookie_ = true;
    return true;
  }
  // A client with a token goes to no server without security.
  if (!has_responded_ || open.has_value() == token_.has_value()) return expect(Refusal::not_genuine, false);
  if (open) return expect(Refusal::not_genuine, receive_open(*open));
  if (is_refusal) {
    refused_ = open_refused(datagram, response_, token_->to_client);
    return expect(Refusal::not_genuine, refused_.has_value());
  }
  const auto keys =
      exchange_.keys(exchange_.public_key(), *server, attempt_, token_->to_server, token_->to_client);
  const auto accepted = keys ? open_accepted(datagram, *keys) : std::nullopt;
  if (!accepted) return expect(Refusal::not_genuine, false);
  session_ = Session{accepted->session, *keys, accepted->ticket};
  return true;
}

bool ClientHandshake::receive_open(const OpenAccepted& accepted) {
  if (accepted.client != exchange_.public_key() || accepted.session == 0) return false;
  session_ = Session{.number = accepted.session, .keys = {}, .ticket = {}};
  return true;
}

// After the first challenge, a request that follows another one without a challenge in between was lost, or
// its challenge was. Such a connection may lose responses as well, so more of them are needed.
void ClientHandshake::count_request(double now_s) {
  if (!asked_s_) {
    asked_s_ = now_s;
  } else if (cookie_ && challenges_ == 0) {
    needed_ += 2;
    enough_s_.reset();
  }
  challenges_ = 0;
}

// A response proves something only if the server has answered the request before it.
void ClientHandshake::count_response(double now_s) {
  if (!round_trip_s_) round_trip_s_ = now_s - *asked_s_;
  if (challenges_ == 0) return;
  if (++ignored_ >= needed_ && !enough_s_) enough_s_ = now_s;
}

void ClientHandshake::forget_ignored() {
  ignored_ = 0;
  enough_s_.reset();
}

bool ClientHandshake::is_ignored(double now_s) const {
  constexpr double kLeastWaitS = 0.25;
  if (!token_ || session_ || refused_ || !enough_s_ || ignored_ < needed_) return false;
  return now_s - *enough_s_ >= std::max(kLeastWaitS, 2.0 * *round_trip_s_);
}

}  // namespace reckoner::secure
