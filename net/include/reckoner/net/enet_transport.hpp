// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

using EnetListenConfig = ListenConfig;   ///< settings of a listening ENet transport
using EnetAllocator = NetworkAllocator;  ///< memory functions for ENet's hosts, peers and packets

/// Sets the allocator for ENet only; see set_network_allocator(). If `allocate` returns null, ENet ends the
/// process.
[[nodiscard]] RECKONER_NET_API bool set_enet_allocator(const EnetAllocator& allocator);

/// Transport over ENet and UDP, over IPv4 and IPv6. State payloads are sent as unreliable and unsequenced
/// packets. Control messages are sent as reliable packets. Reckoner disables ENet's throttle, so that ENet
/// never drops state. send() refuses a state payload that ENet would turn into reliable fragments. An error
/// of one peer does not affect the other peers. If a datagram arrives that Reckoner would never send, the
/// transport refuses and counts it before ENet sees it.
///
/// A peer is disconnected (reason 0) if it sends nothing for 10 s, or if 8 MiB of control messages wait for
/// its acknowledgement. Both numbers are defaults of TransportLimits. The destructor notifies all peers.
///
/// ENet reads the machine's clock, so service() ignores its parameter `now_s`. An object is not thread-safe,
/// but two threads may use two different transports.
class RECKONER_NET_API EnetTransport final : public NetworkTransport {
 public:
  /// Opens a socket for clients, like NetworkTransport::listen(). Uses one ENet host, which supports at most
  /// ShardedTransport::kMaxPeersPerHost connections. Ignores ListenConfig::transport and
  /// ListenConfig::receive_thread.
  [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> listen(const ListenConfig& config);

  /// Starts to connect to a server, like NetworkTransport::connect().
  [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> connect(
      const std::string& host, std::uint16_t port, std::uint32_t reason,
      const OrInsecure<ClientSecurity>& security, const LogSink& log = {}, const ResolveHost& resolve = {});

  ~EnetTransport() override;
  EnetTransport(const EnetTransport&) = delete;
  EnetTransport& operator=(const EnetTransport&) = delete;

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, Channel channel, std::span<const std::byte> payload) override;
  [[nodiscard]] std::size_t max_state_bytes(PeerId peer) const override;
  void disconnect(PeerId peer, std::uint32_t reason) override;
  [[nodiscard]] PeerLogin login(PeerId peer) const override;
  void revoke_login(const PeerLogin& login) override;
  /// Returns the counters since the transport was created. The reference is valid as long as the transport.
  [[nodiscard]] const TransportStats& stats() const override;

  [[nodiscard]] std::optional<ClientIdentity> identity(PeerId peer) const override;
  [[nodiscard]] std::optional<ConnectToken> ticket() const override;
  [[nodiscard]] std::shared_ptr<secure::UsedTokens> used_tokens() const override;
  [[nodiscard]] std::string problem() const override;
  [[nodiscard]] std::uint16_t port() const override;
  void wait(double seconds) override;
  void sleep_until_readable(double seconds) override;

  /// Returns the socket's descriptor. A program can use it to wait for several transports at once, but must
  /// not read from it or write to it.
  [[nodiscard]] std::intptr_t socket() const;

 private:
  friend class ShardedTransport;
  /// Identifies one of several hosts that share a port. `number` is the index of the host, from 0. The low
  /// `bits` bits of a PeerId contain this index.
  struct Shard {
    std::uint32_t number = 0;
    int bits = 0;
    std::shared_ptr<secure::UsedTokens> used{};  ///< the tokens that clients have used; all hosts share it
  };
  [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> listen(const ListenConfig& config,
                                                                     const Shard& shard);
  [[nodiscard]] static std::shared_ptr<secure::UsedTokens> make_used_tokens(const ServerSecurity& security);
  bool flush(bool always);  ///< sends queued data; returns true if an event waits or data arrived

  struct Impl;
  explicit EnetTransport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
