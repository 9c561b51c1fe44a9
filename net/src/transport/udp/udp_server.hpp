// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/guard.hpp"
#include "net/src/transport/event_queue.hpp"
#include "net/src/transport/peer_table.hpp"
#include "net/src/transport/socket/socket_library.hpp"
#include "net/src/transport/transport_log.hpp"
#include "net/src/transport/udp/session_upkeep.hpp"
#include "net/src/transport/udp/udp_port.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// The server's end of the transport "udp". Every client proves its address before the server remembers it.
/// With security, it also presents a token, and everything after that is sealed; without, everybody is
/// admitted and nothing is sealed. A connection is a session of the guard in which the client has spoken.
class UdpServer final : public NetworkTransport {
 public:
  [[nodiscard]] static Result<std::unique_ptr<UdpServer>> listen(const ListenConfig& config);
  /// Sends all clients the end of their connections.
  ~UdpServer() override;
  UdpServer(const UdpServer&) = delete;
  UdpServer& operator=(const UdpServer&) = delete;

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, std::span<const std::byte> datagram) override;
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId peer) const override;
  void disconnect(PeerId peer, std::uint32_t reason) override;
  [[nodiscard]] PeerLogin login(PeerId peer) const override;
  void revoke_login(const PeerLogin& login) override;
  [[nodiscard]] const TransportStats& stats() const override { return port_.stats; }

  [[nodiscard]] std::optional<ClientIdentity> identity(PeerId peer) const override;
  [[nodiscard]] std::optional<ConnectToken> ticket() const override { return std::nullopt; }
  [[nodiscard]] std::shared_ptr<secure::UsedTokens> used_tokens() const override;
  [[nodiscard]] std::uint16_t port() const override { return port_.port(); }
  void wait(double seconds) override;
  void sleep_until_readable(double seconds) override { (void)port_.sleep(seconds); }

 private:
  struct Connection {
    secure::Gate::Session* session = nullptr;  ///< lives as long as the connection
    SessionUpkeep upkeep;
  };

  UdpServer(const ListenConfig& config, UdpSocket&& socket, const secure::GateConfig& gate);

  bool pass();
  [[nodiscard]] bool flush(bool always);
  void arrive(const DatagramIntake::Datagram& datagram);
  void handle(const secure::Guard::Arrival& arrival, const DatagramIntake::Datagram& datagram);
  [[nodiscard]] Connection* establish(secure::Gate::Session& session);
  void receive_close(const secure::Guard::Arrival& arrival, Connection* connection);
  void write(secure::Gate::Session& session, secure::Kind kind, std::span<const std::byte> content);
  void write_close(secure::Gate::Session& session, std::uint32_t reason);
  void write_last_close(secure::Gate::Session& session, std::uint32_t reason);
  void end_replaced();
  void end(PeerId id, std::uint32_t reason);
  void keep_up();
  [[nodiscard]] bool is_full() const;

  SocketLibrary library_;
  TransportLog log_;
  TransportLimits limits_;
  std::size_t max_peers_;
  bool has_security_;
  UdpPort port_;
  secure::Guard guard_;
  PeerTable<Connection> connections_;
  EventQueue events_;
  double now_s_;  // time of the present or last pass
  double service_s_ = 0.0;
  double kept_up_s_ = -1e300;
};

}  // namespace reckoner
