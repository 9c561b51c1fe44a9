// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/net/dialer.hpp>
#include <reckoner/net/enet_transport.hpp>
#include <reckoner/net/log.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Which of several servers a dialer goes to: the one that was connected last, then the others in their
/// order, and over again.
class ServerRound {
 public:
  /// Of so many; begins with the first.
  explicit ServerRound(std::size_t servers) : servers_(servers) {}

  /// An attempt begins: the number of the server that it goes to, from 0.
  std::size_t dial() {
    if (!moved_) first_ = at_;
    moved_ = false;
    return at_;
  }

  /// The attempt has failed: the next one goes to the next server. False once all have been tried since one
  /// last stood.
  bool try_elsewhere() {
    if (servers_ == 0) return false;
    moved_ = true;
    at_ = (at_ + 1) % servers_;
    return at_ != first_;
  }

 private:
  std::size_t servers_;
  std::size_t at_ = 0;
  std::size_t first_ = 0;  // of the round of attempts
  bool moved_ = false;     // by an attempt that failed
};

/// Connects over ENet, first with the token that the game has from its backend, then with the ticket that the
/// server gave when it last let the client in. A ticket that brought no answer is shown again, from a new
/// socket, so that a lost answer does not lock the client out. It is shown even if by this machine's clock it
/// has expired, as that is the server's to say.
///
/// Where to: one server that is named, or those that the token names, which may be relays of one or servers
/// of several worlds. They are tried in their order, from the one that was connected last on, and over again.
class RECKONER_NET_API EnetDialer final : public Dialer {
 public:
  /// As EnetTransport::connect(). Looks the host's name up once, here; dial() says so if it is unknown.
  EnetDialer(const std::string& host, std::uint16_t port, std::uint32_t reason,
             const OrInsecure<ClientSecurity>& security, const LogSink& log = {});
  /// To the servers of the token; dial() says so if it names none.
  EnetDialer(std::uint32_t reason, const ClientSecurity& security, const LogSink& log = {});
  ~EnetDialer() override;

  [[nodiscard]] Result<Transport*> dial() override;
  bool try_elsewhere() override { return round_.try_elsewhere(); }
  /// That the token has expired by this machine's clock, if it has, until the server has taken it.
  [[nodiscard]] std::string doubt() const override;
  [[nodiscard]] double chance() override;

  /// A new token from the backend, where the ticket has expired (an hour after it was given) or is refused.
  /// The next dial() shows it, and goes to the first of its servers, unless one was named. No change for a
  /// dialer that is insecure.
  void set_security(const ClientSecurity& security);

  /// The connection of the last dial(); null if that failed, or before. Valid until the next.
  [[nodiscard]] EnetTransport* transport() const { return transport_.get(); }

  /// As EnetTransport::wait(); without a connection it sleeps a tenth of a second at most.
  void wait(double seconds);

  /// Of all connections together.
  [[nodiscard]] TransportStats stats() const;

 private:
  struct Server {
    std::string host;
    std::uint16_t port = 0;
  };
  void close();
  void take_servers(const ConnectToken& token);

  std::vector<Server> servers_;
  bool named_;  // the one was; else they are the token's
  ServerRound round_;
  std::uint32_t reason_;
  LogSink log_;
  OrInsecure<ClientSecurity> security_;  // what is shown next
  bool fresh_ = true;                    // it is the game's, and was not shown yet
  std::unique_ptr<EnetTransport> transport_;
  TransportStats before_;
};

}  // namespace reckoner
