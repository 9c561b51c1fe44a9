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
/// one UDP port. The operating system selects the host for a datagram by the client's address, so that all
/// datagrams of one client reach one host. Several hosts work only on Linux. If one host has enough room,
/// only one host is used, which works on every system.
///
/// The system distributes clients randomly, so each host has more room than its average share of the clients
/// needs. With max_peers clients, the probability that a given host is full is below one in a million. A
/// client that the system assigns to a full host gets no answer. When this client tries again from a new
/// socket, the system usually assigns it to another host.
///
/// In all other respects, ShardedTransport behaves like EnetTransport. Not thread-safe.
class RECKONER_NET_API ShardedTransport final : public NetworkTransport {
 public:
  static constexpr std::uint32_t kMaxPeersPerHost = 4095;  ///< maximum number of peers that ENet supports
  static constexpr std::uint32_t kMaxHosts = 64;           ///< maximum number of hosts that share a port

  /// Returns how many hosts are needed for `max_peers` peers, if each host has room for `peers_per_host`
  /// peers. `peers_per_host` must be at least 1.
  [[nodiscard]] static std::uint32_t hosts_for(std::uint32_t max_peers, std::uint32_t peers_per_host);

  /// Opens the sockets, with room for `config.max_peers` connections in total, which may be up to 242,000.
  /// Fails if the port is in use (also by another ShardedTransport) or the address is unknown. Also fails if
  /// several hosts are needed and the system does not let them share a port.
  [[nodiscard]] static Result<std::unique_ptr<ShardedTransport>> listen(
      const ListenConfig& config, std::uint32_t peers_per_host = kMaxPeersPerHost);

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, Channel channel, std::span<const std::byte> payload) override;
  [[nodiscard]] std::size_t max_state_bytes(PeerId peer) const override;
  void disconnect(PeerId peer, std::uint32_t reason) override;
  [[nodiscard]] PeerLogin login(PeerId peer) const override;
  void revoke_login(const PeerLogin& login) override;

  [[nodiscard]] std::optional<ClientIdentity> identity(PeerId peer) const override;
  /// Returns nullopt, because only clients get tickets.
  [[nodiscard]] std::optional<ConnectToken> ticket() const override { return std::nullopt; }
  [[nodiscard]] std::shared_ptr<secure::UsedTokens> used_tokens() const override;

  /// Returns the sum of the counters of all hosts. The reference is valid as long as the transport.
  [[nodiscard]] const TransportStats& stats() const override;

  /// Returns the UDP port that all hosts share.
  [[nodiscard]] std::uint16_t port() const override { return hosts_.front()->port(); }
  /// Returns the number of hosts.
  [[nodiscard]] std::size_t hosts() const { return hosts_.size(); }

  /// Returns the index of the host that a peer is connected to. The first host has index 0.
  [[nodiscard]] std::size_t host_of(PeerId peer) const { return peer.value & ((1u << bits_) - 1u); }

  /// Like NetworkTransport::wait(). The wait ends when data arrives for any of the hosts.
  void wait(double seconds) override;
  void sleep_until_readable(double seconds) override;

 private:
  explicit ShardedTransport(int bits) : bits_(bits) {}
  [[nodiscard]] EnetTransport* find(PeerId peer) const;
  bool flush(bool always);
  [[nodiscard]] std::vector<std::intptr_t> sockets() const;

  std::vector<std::unique_ptr<EnetTransport>> hosts_;
  int bits_;              // how many low bits of a PeerId contain the host's index
  std::size_t next_ = 0;  // index of the host to poll next
  mutable TransportStats stats_;
};

}  // namespace reckoner
