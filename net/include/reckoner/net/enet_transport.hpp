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

/// As set_network_allocator(), for ENet alone. If `allocate` returns null, ENet ends the process.
[[nodiscard]] RECKONER_NET_API bool set_enet_allocator(const EnetAllocator& allocator);

/// Transport over ENet and UDP (IPv4). State is sent unsequenced and unreliable, control reliable. ENet's
/// throttle is held open, so that it never drops state. A state payload that ENet would turn into reliable
/// fragments is refused. An error of one peer never prevents service to the others. Datagrams that Reckoner
/// never sends are refused before ENet sees them, and counted.
///
/// A peer is disconnected (reason 0) if it sends nothing for 10 s, or if 8 MiB of control messages wait for
/// its acknowledgement (both are defaults of TransportLimits). The destructor notifies all peers.
///
/// ENet reads the machine's own clock; `now_s` is not used. Not thread-safe; different transports are
/// independent.
class RECKONER_NET_API EnetTransport final : public NetworkTransport {
 public:
  /// As NetworkTransport::listen(), with one ENet host: at most ShardedTransport::kMaxPeersPerHost
  /// connections. ListenConfig::transport is not used.
  [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> listen(const ListenConfig& config);

  /// As NetworkTransport::connect().
  [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> connect(
      const std::string& host, std::uint16_t port, std::uint32_t reason,
      const OrInsecure<ClientSecurity>& security, const LogSink& log = {});

  ~EnetTransport() override;
  EnetTransport(const EnetTransport&) = delete;
  EnetTransport& operator=(const EnetTransport&) = delete;

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, Channel channel, std::span<const std::byte> payload) override;
  [[nodiscard]] std::size_t max_state_bytes(PeerId peer) const override;
  void disconnect(PeerId peer, std::uint32_t reason) override;
  void revoke_login(PeerId peer) override;
  /// Counters since the transport was created. Valid as long as the transport.
  [[nodiscard]] const TransportStats& stats() const override;

  [[nodiscard]] std::optional<ClientIdentity> identity(PeerId peer) const override;
  [[nodiscard]] std::optional<ConnectToken> ticket() const override;
  [[nodiscard]] std::uint16_t port() const override;
  void wait(double seconds) override;

  /// Returns the IPv4 address of a host in digits, so that later connections need no name look-up. Returns
  /// `host` unchanged if it is unknown.
  [[nodiscard]] static std::string numeric_host(const std::string& host);

  /// The socket's descriptor, for waiting on several transports at once. Do not read from it or write to it.
  [[nodiscard]] std::intptr_t socket() const;

 private:
  friend class ShardedTransport;
  /// Identifies one of several hosts that share a port. `number` counts from 0; the low `bits` bits of a
  /// PeerId contain it.
  struct Shard {
    std::uint32_t number = 0;
    int bits = 0;
    std::shared_ptr<secure::UsedTokens> used{};  ///< shared by all hosts
  };
  [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> listen(const ListenConfig& config,
                                                                     const Shard& shard);
  [[nodiscard]] static std::shared_ptr<secure::UsedTokens> make_used_tokens(const ServerSecurity& security);
  bool flush(bool always);  ///< sends queued data; true if events are queued or data arrived

  struct Impl;
  explicit EnetTransport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
