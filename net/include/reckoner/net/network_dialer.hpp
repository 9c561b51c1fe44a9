// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/net/dialer.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Selects which of several servers a dialer tries next. It starts with the server that was connected last,
/// continues with the other servers in order, and then starts again.
class ServerRotation {
 public:
  /// Creates a rotation of `servers` servers. The first attempt goes to the server with index 0.
  explicit ServerRotation(std::size_t servers) : servers_(servers) {}

  /// Begins an attempt. Returns the index of the server to try. The first server has index 0.
  std::size_t dial() {
    if (!failed_) first_ = at_;
    failed_ = false;
    return at_;
  }

  /// Reports that the last attempt failed. The next attempt goes to the next server. Returns false if every
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
  std::size_t first_ = 0;  // server of the first attempt since the last established connection
  bool failed_ = false;    // the last attempt failed, and at_ is the next server
};

/// Connects to servers over the network. The first connection uses the token that the game got from its
/// backend. Each later connection uses the ticket that the server sent during the last session. If the server
/// does not answer, the next attempt presents the ticket again from a new socket, so that a lost answer does
/// not lock the client out. The dialer presents a ticket even if it has expired by this machine's clock,
/// because only the server decides whether a ticket has expired.
///
/// Connects either to one named server or to the servers listed in the token. The listed servers may be
/// relays of one server or servers of several worlds. ServerRotation defines the order of the attempts.
class RECKONER_NET_API NetworkDialer final : public Dialer {
 public:
  /// Connects to the server `config.host`, or, if the host is empty, to the servers listed in the token;
  /// dial() then fails if the token lists none. Every dial() looks the name up again and tries its addresses
  /// anew.
  explicit NetworkDialer(ConnectConfig config);
  ~NetworkDialer() override;

  [[nodiscard]] Result<Transport*> dial() override;
  bool try_next_server() override { return round_.try_next_server(); }
  /// Returns a hint if this machine found no address of the server, or if the token has expired by this
  /// machine's clock and the server has not accepted it.
  [[nodiscard]] std::string failure_hint() const override;
  [[nodiscard]] double random_fraction() override;

  /// Sets a new token from the backend, which the next dial() presents. The game needs a new token when the
  /// server refused the ticket or when the ticket has expired (ServerSecurity::ticket_s, by default one
  /// hour). A dialer without a named server then starts with the first server that the token lists. Has no
  /// effect on an insecure dialer.
  void set_security(const ClientSecurity& security);

  /// Changes ConnectConfig::receive_thread. The next dial() uses it.
  void set_receive_thread(bool receive_thread) { config_.receive_thread = receive_thread; }

  /// Returns the connection of the last dial(). Null before the first dial() and after a failed dial(). The
  /// pointer is valid until the next dial().
  [[nodiscard]] NetworkTransport* transport() const { return transport_.get(); }

  /// Calls NetworkTransport::wait() of the connection. Without a connection, sleeps for at most 0.1 s.
  void wait(double seconds);

  /// Returns the sum of the counters of all connections, also of the closed ones.
  [[nodiscard]] TransportStats stats() const;

 private:
  struct Server {
    std::string host;
    std::uint16_t port = 0;
  };
  void close();
  void use_token_servers(const ConnectToken& token);

  ConnectConfig config_;   // `security` has the token or ticket that the next dial() presents
  bool has_named_server_;  // false: servers_ are the servers that the token lists
  std::vector<Server> servers_;
  ServerRotation round_;
  bool token_is_new_ = true;  // true: no dial() has presented the token that the game set
  std::unique_ptr<NetworkTransport> transport_;
  TransportStats earlier_stats_;
};

}  // namespace reckoner
