// SPDX-License-Identifier: MIT
#include "client_handshake.hpp"

#include <algorithm>

namespace reckoner::secure {
namespace {

// Longer than most round trips; then a half longer each time.
constexpr double kFirstWaitS = 0.2;
constexpr double kMostWaitS = 1.0;
constexpr double kWaitGrowth = 1.5;
constexpr int kResponses = 2;  // that bring nothing, until another cookie is asked for

}  // namespace

ClientHandshake::ClientHandshake(const ConnectToken& token, std::uint64_t game, const SecretKey& secret)
    : token_(token), game_(game), exchange_(secret ? KeyExchange(secret) : KeyExchange()) {}

std::optional<std::span<const std::byte>> ClientHandshake::to_send(double now_s) {
  if (session_ || now_s < next_s_) return std::nullopt;
  wait_s_ = std::clamp(wait_s_ * kWaitGrowth, kFirstWaitS, kMostWaitS);
  next_s_ = now_s + wait_s_;
  // The cookie may be forged, or that of a server that was started anew since.
  if (!cookie_ || responses_ >= kResponses) {
    responses_ = 0;
    const auto request = write(Request{game_, exchange_.public_key()});
    std::ranges::copy(request, message_.begin());
    return std::span<const std::byte>(message_).first(request.size());
  }
  ++responses_;
  Response response{game_,        exchange_.public_key(), *cookie_, token_.expires_s,
                    token_.nonce, token_.sealed,          {}};
  response.proof = prove(response, token_.to_server);
  message_ = write(response);
  return message_;
}

bool ClientHandshake::receive(std::span<const std::byte> datagram) {
  if (session_) return false;
  if (const auto challenge = read_challenge(datagram)) {
    // Anybody may have sent it: a wrong cookie costs two responses, then another is asked for.
    if (challenge->client != exchange_.public_key()) return false;
    if (!cookie_) wait_s_ = 0.0;  // a server that answers no response is asked ever more seldom
    cookie_ = challenge->cookie;
    next_s_ = -1e300;
    return true;
  }
  const auto server = server_of(datagram);
  if (!server || !cookie_) return false;
  const auto keys = exchange_.keys(exchange_.public_key(), *server, token_.to_server, token_.to_client);
  if (!keys) return false;
  const auto accepted = open_accepted(datagram, *keys);
  if (!accepted) return false;
  session_ = Session{accepted->session, *keys, accepted->ticket};
  return true;
}

}  // namespace reckoner::secure
