// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/enet/enet_filter.hpp"
#include "net/src/transport/enet/enet_library.hpp"
#include "net/src/transport/event_queue.hpp"
#include "net/src/transport/limits/traffic_limit.hpp"
#include "net/src/transport/liveness.hpp"
#include "net/src/transport/peer_table.hpp"
#include "net/src/transport/socket/address_race.hpp"
#include "net/src/transport/socket/host_lookup.hpp"
#include "net/src/transport/transport_log.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/net/network_transport.hpp>

namespace reckoner {

/// A connection of an EnetTransport.
struct EnetConnection {
  Liveness liveness;
  ENetPeer* peer = nullptr;      ///< null at a client whose server has not answered yet
  SocketAddress address{};       ///< unspecified at a client whose server has not answered yet
  TrafficMeter traffic{};        ///< used at a server
  std::uint32_t arrived = 0;     ///< datagrams; wraps around
  std::uint32_t end_reason = 0;  ///< what the other end receives when the connection ends
};

/// How a client of an EnetTransport finds its server.
struct EnetSearch {
  std::string host;
  std::uint16_t version = 0;
  HostLookup lookup;
  std::optional<AddressRace> race{};  ///< set when the look-up has ended
  bool has_ipv6 = false;              ///< the look-up has found an IPv6 address
  bool noticed_udp = false;           ///< the server has answered that it uses the transport "udp"
  std::string problem{};              ///< why the server cannot be reached
};

/// The transport "enet": ENet 1.3 with its own socket, used as its documentation says. IPv4 only, and without
/// security. A datagram is an unsequenced packet. ENet's throttle never drops one. An error of one peer does
/// not affect the other peers. ENet reads the machine's clock, so service() ignores its parameter `now_s`.
class EnetTransport final : public NetworkTransport {
 public:
  /// The most connections of one ENet host.
  static constexpr std::uint32_t kMaxPeers = ENET_PROTOCOL_MAXIMUM_PEER_ID;

  /// Opens a socket for clients. Fails with security, with an IPv6 address and above kMaxPeers. Ignores
  /// ListenConfig::transport and ListenConfig::receive_thread.
  [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> listen(const ListenConfig& config);

  /// Starts to connect to a server, like NetworkTransport::connect() without security. If the server has no
  /// IPv4 address, poll() returns a disconnected event, and problem() says why.
  [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> connect(const std::string& host,
                                                                      std::uint16_t port,
                                                                      std::uint16_t version,
                                                                      const LogSink& log,
                                                                      const ResolveHost& resolve);

  /// Returns why the transport refuses settings with security.
  [[nodiscard]] static Error no_security();

  /// Sets ENet's memory functions; see set_network_allocator().
  [[nodiscard]] static bool set_allocator(const NetworkAllocator& allocator);

  /// Notifies all peers.
  ~EnetTransport() override;
  EnetTransport(const EnetTransport&) = delete;
  EnetTransport& operator=(const EnetTransport&) = delete;

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override { return events_.pop(); }
  bool send(PeerId peer, std::span<const std::byte> datagram) override;
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId peer) const override;
  void disconnect(PeerId peer, std::uint32_t reason) override;
  [[nodiscard]] PeerLogin login(PeerId peer) const override;
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

  [[nodiscard]] std::optional<ClientIdentity> identity(PeerId) const override { return std::nullopt; }
  [[nodiscard]] std::optional<ConnectToken> ticket() const override { return std::nullopt; }
  [[nodiscard]] std::string problem() const override { return search_ ? search_->problem : ""; }
  [[nodiscard]] std::uint16_t port() const override { return host_->address.port; }
  void wait(double seconds) override;
  void sleep_until_readable(double seconds) override { (void)sleep(seconds); }

 private:
  /// ENet passes the event on to intercept(), which finds the transport through it.
  struct Pump {
    ENetEvent event{};  // first, so that both have the same address
    EnetTransport* self = nullptr;
  };

  using Connection = EnetConnection;

  EnetTransport(std::size_t peers, const TransportLimits& limits, const LogSink& log);
  [[nodiscard]] bool open(const ENetAddress& address);

  static int ENET_CALLBACK intercept(ENetHost* host, ENetEvent* event);
  [[nodiscard]] std::size_t passable_bytes(const SocketAddress& from, std::span<const std::byte> datagram);
  void answer_udp(const SocketAddress& from);
  [[nodiscard]] Connection* sender_of(const SocketAddress& from, std::span<const std::byte> datagram);

  bool pump();
  void handle(const ENetEvent& event);
  void handle_connected(ENetPeer& peer, std::uint32_t data);
  [[nodiscard]] bool is_connecting() const;
  void find_server(double now_s);
  void fail_to_connect(std::string problem);
  void reset_attempts(const ENetPeer* except);
  bool count_traffic();
  void check_peers(double now_s);
  void end_half_open(double now_s);
  void end(PeerId id, std::uint32_t reason);
  [[nodiscard]] SocketAddress server_address() const;
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] bool sleep(double seconds) const;

  EnetRuntime runtime_;
  TransportLog log_;
  TransportLimits limits_;
  TrafficLimit traffic_;
  std::size_t peers_;
  HostPtr host_;
  PeerTable<Connection> connections_;
  std::vector<double> half_open_since_s_;  // for each peer of ENet; 0: it is not half-open
  std::optional<EnetSearch> search_;       // only at a client
  EventQueue events_;
  TransportStats stats_;
  bool unsent_ = false;        // data waits for the next pass
  double checked_s_ = -1e300;  // time of the last check_peers()
};

}  // namespace reckoner
