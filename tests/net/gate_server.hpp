// SPDX-License-Identifier: MIT
#pragma once

#include "handshakes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace reckoner::test {

/// A server with one or more gates, and the tasks of its transport.
struct GateServer {
  secure::GateConfig config;
  std::vector<secure::Gate> gates;
  double now_s = 100.0;
  std::uint64_t unix_s = kNow;
  std::vector<std::uint32_t> ended;
  std::size_t ended_by_another = 0;

  explicit GateServer(std::size_t count = 1, const secure::GateConfig& changed = {}) : config(changed) {
    config.key = SecretKey::make();
    config.game = kGame;
    config.addresses = {kServer};
    config.used = std::make_shared<secure::UsedTokens>(config.tokens);
    for (std::size_t i = 0; i < count; ++i)
      gates.emplace_back(config);
  }

  [[nodiscard]] ConnectToken token(std::uint64_t client = 1, std::uint64_t renewable_until_s = 0) const {
    return token_issued_at(unix_s * 1000, client, renewable_until_s);
  }
  [[nodiscard]] ConnectToken token_issued_at(std::uint64_t unix_ms, std::uint64_t client = 1,
                                             std::uint64_t renewable_until_s = 0) const {
    ConnectGrant grant{.client_id = client, .expires_s = unix_s + 30};
    grant.servers = {kServer};
    grant.renewable_until_s = renewable_until_s;
    grant.issued_ms = unix_ms;
    return *issue_token(grant, config.key, kGame);
  }
  void pass(std::uint64_t seconds) {
    now_s += static_cast<double>(seconds);
    unix_s += seconds;
  }
  /// Restarts the server. It knows nothing but the key afterwards.
  void restart() {
    config.used = std::make_shared<secure::UsedTokens>(config.tokens);
    for (secure::Gate& gate : gates)
      gate = secure::Gate(config);
  }
  std::optional<Bytes> ask(const SocketAddress& from, std::span<const std::byte> datagram,
                           std::size_t gate = 0) {
    return test::ask(gates[gate], from, datagram, now_s, unix_s);
  }
  void talk(secure::ClientHandshake& client, const SocketAddress& from, std::size_t gate = 0) {
    test::talk(client, gates[gate], from, now_s, unix_s);
  }
  bool bind(const secure::ClientHandshake& client, std::size_t gate = 0) {
    secure::Gate::Session* const session = gates[gate].find(client.session()->number);
    return session != nullptr && gates[gate].bind(*session);
  }
  void end_replaced() {
    for (secure::Gate& gate : gates) {
      gate.end_replaced([&](const secure::Gate::Session& session, bool by_another) {
        ended.push_back(session.number);
        ended_by_another += by_another ? 1 : 0;
      });
    }
  }
  /// Joins and binds a connection. Returns the client's next ticket, or nullopt if it was refused.
  std::optional<secure::Ticket> join(const ConnectToken& with, const SocketAddress& from = kClient,
                                     std::size_t gate = 0) {
    secure::ClientHandshake client(with, kGame);
    talk(client, from, gate);
    if (!client.session() || !bind(client, gate)) return std::nullopt;
    end_replaced();
    return client.session()->ticket;
  }
  [[nodiscard]] std::size_t sessions() const {
    std::size_t count = 0;
    for (const secure::Gate& gate : gates)
      count += gate.sessions();
    return count;
  }
};

}  // namespace reckoner::test
