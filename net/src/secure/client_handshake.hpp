// SPDX-License-Identifier: MIT
#pragma once

#include "handshake.hpp"

#include <optional>
#include <span>

namespace reckoner::secure {

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
