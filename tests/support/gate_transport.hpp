// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/messages.hpp"
#include "net/src/secure/gate.hpp"
#include "net/src/secure/handshake.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/forwarding_transport.hpp>

namespace reckoner::test {

/// The server's end of a SimNetwork with the gate of a sealed server in front of it. A client shows a
/// token or a ticket, and the gate decides with the real handshake, which takes no time here. Payloads are
/// not sealed.
class GateTransport final : public ForwardingTransport {
 public:
  static constexpr std::uint64_t kGame = 12;
  static constexpr SocketAddress kServer{0x0A000001, 4000};

  /// What the owner of a connection shows, and from where.
  struct Caller {
    ConnectToken shown;
    SocketAddress from;
  };
  /// Called for each new connection, with its index in the network.
  std::function<Caller(std::size_t connection)> who;
  /// The next ticket of each connection that was admitted, as a token.
  std::map<std::size_t, ConnectToken> tickets;

  GateTransport(Transport& network, secure::GateConfig config)
      : ForwardingTransport(network), key_(SecretKey::make()), gate_(complete(std::move(config), key_)) {}

  /// A token that the backend issues at this time.
  [[nodiscard]] ConnectToken issue(std::uint64_t client_id, double time_s) const {
    ConnectGrant grant{.client_id = client_id, .expires_s = unix_ms(time_s) / 1000 + 3600};
    grant.servers = {kServer};
    grant.issued_ms = unix_ms(time_s);
    return *issue_token(grant, key_, kGame);
  }
  /// How many connections the gate has refused.
  [[nodiscard]] std::size_t refused() const { return refused_; }

  void service(double now_s) override {
    now_s_ = now_s;
    ForwardingTransport::service(now_s);
    gate_.tidy(now_s, unix_ms(now_s) / 1000);
    end_replaced();
  }

  [[nodiscard]] std::optional<TransportEvent> poll() override {
    using Kind = TransportEvent::Kind;
    for (;;) {
      if (!ended_.empty()) {
        const TransportEvent event = ended_.front();
        ended_.pop_front();
        return event;
      }
      const auto event = ForwardingTransport::poll();
      if (!event) return event;
      if (event->kind == Kind::connected && !admit(event->peer)) {
        ++refused_;
        ForwardingTransport::disconnect(event->peer, pack({EndReason::token, 0}));
        continue;
      }
      const auto session = sessions_.find(event->peer.value);
      if (session == sessions_.end()) continue;  // refused or replaced
      if (event->kind == Kind::disconnected) {
        gate_.release(session->second, now_s_);
        sessions_.erase(session);
      }
      return event;
    }
  }

  [[nodiscard]] PeerLogin login(PeerId peer) const override {
    const auto session = sessions_.find(peer.value);
    return session == sessions_.end() ? PeerLogin{} : gate_.login(session->second);
  }
  void revoke_login(const PeerLogin& login) override { gate_.revoke_login(login, now_s_, unix_ms(now_s_)); }

 private:
  static secure::GateConfig complete(secure::GateConfig config, const SecretKey& key) {
    config.key = key;
    config.game = kGame;
    config.addresses = {kServer};
    return config;
  }
  [[nodiscard]] static std::uint64_t unix_ms(double time_s) {
    return 1'800'000'000'000 + static_cast<std::uint64_t>(1000.0 * time_s);
  }

  bool admit(PeerId peer) {
    const std::size_t connection = peer.value - 1;
    const Caller caller = who(connection);
    secure::ClientHandshake client(caller.shown, kGame);
    while (const auto message = client.to_send(now_s_)) {
      const auto answer = gate_.receive(caller.from, *message, now_s_, unix_ms(now_s_) / 1000);
      if (!answer || !client.receive(*answer)) break;
    }
    if (!client.session()) return false;
    secure::Gate::Session* const session = gate_.find(client.session()->number);
    if (session == nullptr || !gate_.bind(*session)) return false;
    session->tag = peer.value;
    sessions_[peer.value] = session->number;
    const secure::Ticket& next = client.session()->ticket;
    tickets.insert_or_assign(
        connection,
        ConnectToken{next.expires_s, next.nonce, next.sealed, {}, next.to_server, next.to_client});
    end_replaced();
    return true;
  }

  // As the ENet transport does it: the end of a connection that its own client has replaced is a mere loss.
  void end_replaced() {
    gate_.end_replaced([this](const secure::Gate::Session& session, bool by_another_login) {
      const PeerId peer{session.tag};
      const std::uint32_t reason = pack({EndReason::replaced, 0});
      ForwardingTransport::disconnect(peer, reason);
      sessions_.erase(peer.value);
      ended_.push_back({.kind = TransportEvent::Kind::disconnected,
                        .peer = peer,
                        .reason = by_another_login ? reason : 0});
    });
  }

  SecretKey key_;
  mutable secure::Gate gate_;                        // Gate::login() is not const
  std::map<std::uint32_t, std::uint32_t> sessions_;  // by peer
  std::deque<TransportEvent> ended_;
  std::size_t refused_ = 0;
  double now_s_ = 0.0;
};

}  // namespace reckoner::test
