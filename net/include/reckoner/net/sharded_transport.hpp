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

/// An EnetTransport for more clients than one ENet host carries: as many hosts as it takes, all on one UDP
/// port. The system gives each client's datagrams to one of them, chosen by the client's address and always
/// the same. With room in one host for all it is that one host, on every system; several take Linux.
///
/// Clients spread by chance, so every host has room to spare: for as many as are given out to it in all but
/// one of a million cases. Should a host be full all the same, a client that it falls to gets no answer, as
/// from any full server, and is given to another when it tries again from a new socket.
///
/// Otherwise all is as EnetTransport has it. One thread at a time.
class RECKONER_NET_API ShardedTransport final : public Transport {
 public:
  static constexpr std::uint32_t kMostPeersPerHost = 4095;  ///< ENet's own limit
  static constexpr std::uint32_t kMostHosts = 64;           ///< that share a port at most

  /// How many hosts of `peers_per_host` (at least 1) make room for `max_peers`.
  [[nodiscard]] static std::uint32_t hosts_for(std::uint32_t max_peers, std::uint32_t peers_per_host);

  /// Opens the sockets. At least `config.max_peers` connections have room, taken together; up to 242 000.
  /// Fails if the port is in use - also by another server of this kind -, the address is unknown, or several
  /// hosts are needed and the system does not share a port.
  [[nodiscard]] static Result<std::unique_ptr<ShardedTransport>> listen(
      const EnetListenConfig& config, std::uint32_t peers_per_host = kMostPeersPerHost);

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, Channel channel, std::span<const std::byte> payload) override;
  [[nodiscard]] std::size_t max_state_bytes(PeerId peer) const override;
  void disconnect(PeerId peer, std::uint32_t reason) override;

  /// As EnetTransport::identity().
  [[nodiscard]] std::optional<ClientIdentity> identity(PeerId peer) const;

  /// Of all hosts together.
  [[nodiscard]] const TransportStats& stats() const override;

  /// The UDP port in use, that of all hosts.
  [[nodiscard]] std::uint16_t port() const { return hosts_.front()->port(); }
  /// How many there are.
  [[nodiscard]] std::size_t hosts() const { return hosts_.size(); }

  /// Which host a peer is connected to, from 0.
  [[nodiscard]] std::size_t host_of(PeerId peer) const { return peer.value & ((1u << bits_) - 1u); }

  /// As EnetTransport::wait(); any host ends it.
  void wait(double seconds);

 private:
  explicit ShardedTransport(int bits) : bits_(bits) {}
  [[nodiscard]] EnetTransport* find(PeerId peer) const;
  bool flush(bool always);

  std::vector<std::unique_ptr<EnetTransport>> hosts_;
  int bits_;              // of a PeerId that number the host
  std::size_t next_ = 0;  // host to be polled next
  mutable TransportStats stats_;
};

}  // namespace reckoner
