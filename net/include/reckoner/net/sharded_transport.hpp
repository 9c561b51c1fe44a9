// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <reckoner/net/enet_transport.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// An EnetTransport for more clients than one ENet host supports. It uses as many hosts as necessary, all on
/// one UDP port. The system distributes datagrams over the hosts by the client's address, so that a client
/// always reaches one and the same host. If one host has enough room, only one is used; this works on every
/// system. Several hosts need Linux.
///
/// Clients spread randomly, so every host has spare room: fewer than one in a million hosts fills up before
/// max_peers is reached. A client that the system assigns to a full host gets no answer, as from any full
/// server. When the client tries again from a new socket, it is usually assigned to another host.
///
/// In all other respects it behaves like EnetTransport. Not thread-safe.
class RECKONER_NET_API ShardedTransport final : public NetworkTransport {
 public:
  static constexpr std::uint32_t kMaxPeersPerHost = 4095;  ///< ENet's limit
  static constexpr std::uint32_t kMaxHosts = 64;           ///< maximum number of hosts that share a port

  /// Returns how many hosts of `peers_per_host` peers (at least 1) are needed for `max_peers`.
  [[nodiscard]] static std::uint32_t hosts_for(std::uint32_t max_peers, std::uint32_t peers_per_host);

  /// Opens the sockets, with room for at least `config.max_peers` connections in total; the maximum is 242
  /// 000. Fails if the port is in use (also by another ShardedTransport), the address is unknown, or several
  /// hosts are needed and the system cannot share a port.
  [[nodiscard]] static Result<std::unique_ptr<ShardedTransport>> listen(
      const ListenConfig& config, std::uint32_t peers_per_host = kMaxPeersPerHost);

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, Channel channel, std::span<const std::byte> payload) override;
  [[nodiscard]] std::size_t max_state_bytes(PeerId peer) const override;
  void disconnect(PeerId peer, std::uint32_t reason) override;
  void revoke_login(PeerId peer) override;

  [[nodiscard]] std::optional<ClientIdentity> identity(PeerId peer) const override;
  /// Nullopt: tickets are for clients.
  [[nodiscard]] std::optional<ConnectToken> ticket() const override { return std::nullopt; }

  /// The sum over all hosts. Valid as long as the transport.
  [[nodiscard]] const TransportStats& stats() const override;

  /// The UDP port in use, shared by all hosts.
  [[nodiscard]] std::uint16_t port() const override { return hosts_.front()->port(); }
  /// Number of hosts.
  [[nodiscard]] std::size_t hosts() const { return hosts_.size(); }

  /// Index of the host that a peer is connected to, from 0.
  [[nodiscard]] std::size_t host_of(PeerId peer) const { return peer.value & ((1u << bits_) - 1u); }

  /// Data for any host ends the wait.
  void wait(double seconds) override;

 private:
  explicit ShardedTransport(int bits) : bits_(bits) {}
  [[nodiscard]] EnetTransport* find(PeerId peer) const;
  bool flush(bool always);

  std::vector<std::unique_ptr<EnetTransport>> hosts_;
  int bits_;              // number of low PeerId bits that contain the host's index
  std::size_t next_ = 0;  // host to poll next
  mutable TransportStats stats_;
};

}  // namespace reckoner
