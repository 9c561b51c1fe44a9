// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/net/dialer.hpp>
#include <reckoner/net/log.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Selects which of several servers a dialer tries. It starts with the last connected server, continues with
/// the others in order, and then repeats.
class ServerRotation {
 public:
  /// `servers` is the number of servers. Starts with the first one.
  explicit ServerRotation(std::size_t servers) : servers_(servers) {}

  /// Begins an attempt. Returns the index of the server to try, from 0.
  std::size_t dial() {
    if (!failed_) first_ = at_;
    failed_ = false;
    return at_;
  }

  /// Reports that the attempt failed: the next attempt goes to the next server. Returns false when every
  /// server was tried since the last established connection.
  bool try_next_server() {
    if (servers_ == 0) return false;
    failed_ = true;
    at_ = (at_ + 1) % servers_;
    return at_ != first_;
  }

 private:
  std::size_t servers_;
  std::size_t at_ = 0;
  std::size_t first_ = 0;  // where the current round of attempts began
  bool failed_ = false;    // a failed attempt has moved at_
};

/// Connects to servers over the network. The first connection uses the token that the game got from its
/// backend. Later ones use the ticket that the server sent with the last session. If a ticket got no answer,
/// it is presented again from a new socket, so that a lost answer does not lock the client out. A ticket is
/// also presented if it has expired by this machine's clock, because the server decides about expiry.
///
/// Connects either to one named server or to the servers listed in the token. These may be relays of one
/// server or servers of several worlds. They are tried in order, starting with the last connected one, and
/// then again from the start.
class RECKONER_NET_API NetworkDialer final : public Dialer {
 public:
  /// Parameters as in NetworkTransport::connect(). Resolves the host name once, here. If that fails, dial()
  /// reports it.
  NetworkDialer(const std::string& host, std::uint16_t port, std::uint32_t reason,
                const OrInsecure<ClientSecurity>& security, const LogSink& log = {},
                std::string_view transport = {});
  /// Connects to the servers listed in the token. dial() fails if the token lists none.
  NetworkDialer(std::uint32_t reason, const ClientSecurity& security, const LogSink& log = {},
                std::string_view transport = {});
  ~NetworkDialer() override;

  [[nodiscard]] Result<Transport*> dial() override;
  bool try_next_server() override { return round_.try_next_server(); }
  /// Reports an expired token, by this machine's clock, until the server has accepted the token.
  [[nodiscard]] std::string failure_hint() const override;
  [[nodiscard]] double random_fraction() override;

  /// Sets a new token from the backend. Needed when the ticket has expired (by default after an hour,
  /// ServerSecurity::ticket_s) or was refused. The next dial() presents the token. Without a named server, it
  /// starts with the token's first server. Has no effect on an insecure dialer.
  void set_security(const ClientSecurity& security);

  /// The connection of the last dial(). Null before the first dial() and after a failed one. Valid until the
  /// next dial().
  [[nodiscard]] NetworkTransport* transport() const { return transport_.get(); }

  /// Like NetworkTransport::wait(). Without a connection it sleeps for at most 0.1 s.
  void wait(double seconds);

  /// The sum over all connections so far.
  [[nodiscard]] TransportStats stats() const;

 private:
  struct Server {
    std::string host;
    std::uint16_t port = 0;
  };
  void close();
  void use_token_servers(const ConnectToken& token);

  std::vector<Server> servers_;
  bool has_named_server_;  // true: one named server; false: the token's servers
  ServerRotation round_;
  std::uint32_t reason_;
  LogSink log_;
  std::string kind_;                     // which transport; as ListenConfig::transport
  OrInsecure<ClientSecurity> security_;  // presented by the next dial()
  bool token_is_new_ = true;             // the token is from the game and was not presented yet
  std::unique_ptr<NetworkTransport> transport_;
  TransportStats earlier_stats_;
};

}  // namespace reckoner
