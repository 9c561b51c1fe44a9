// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/gate.hpp"
#include "net/src/secure/guard.hpp"
#include "net/src/secure/handshake.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/connect_token.hpp>

namespace reckoner::test {

using Bytes = std::vector<std::byte>;

inline constexpr std::uint64_t kGame = 5;
inline constexpr std::uint64_t kNow = 1'800'000'000;  ///< seconds since 1970 at the start of a test
inline constexpr SocketAddress kServer{0x0A000001, 4000};
inline constexpr SocketAddress kClient{0x01020304, 999};

/// The token that a returning client makes from its ticket.
inline ConnectToken token_of(const secure::Ticket& ticket) {
  return {ticket.expires_s, ticket.nonce, ticket.sealed, {}, ticket.to_server, ticket.to_client};
}

/// The gate's answer, which is never longer than the request.
inline std::optional<Bytes> ask(secure::Gate& gate, const SocketAddress& from,
                                std::span<const std::byte> datagram, double now_s, std::uint64_t unix_s) {
  const auto answer = gate.receive(from, datagram, now_s, unix_s);
  if (!answer) return std::nullopt;
  EXPECT_LE(answer->size(), datagram.size());
  return Bytes(answer->begin(), answer->end());
}

/// Exchanges handshake messages between a client and a gate until one of them has nothing to send.
inline void talk(secure::ClientHandshake& client, secure::Gate& gate, const SocketAddress& from, double now_s,
                 std::uint64_t unix_s) {
  while (const auto message = client.to_send(now_s)) {
    const auto answer = ask(gate, from, *message, now_s, unix_s);
    if (!answer || !client.receive(*answer)) return;
  }
}

/// Exchanges handshake messages between two guards. True if the client is admitted.
inline bool is_admitted(secure::Guard& client, secure::Guard& server, const SocketAddress& from, double now_s,
                        std::uint64_t unix_s = kNow) {
  while (const auto message = client.to_send(now_s)) {
    const auto arrival = server.arrive(from, *message, now_s, unix_s);
    if (arrival.what != secure::Guard::Arrival::What::answer) return false;
    (void)client.arrive(kServer, arrival.bytes, now_s, unix_s);
  }
  return client.joined() != nullptr;
}

/// Exchanges handshake messages and binds a connection to the session. True if both succeed.
inline bool connects(secure::Guard& client, secure::Guard& server, const SocketAddress& from, double now_s) {
  return is_admitted(client, server, from, now_s) && server.bind(client.joined()->number, 1);
}

}  // namespace reckoner::test
