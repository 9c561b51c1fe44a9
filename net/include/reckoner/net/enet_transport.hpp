// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// How a listening ENet transport is set up.
struct EnetListenConfig {
  std::string host;        ///< address to listen on; empty: every IPv4 address of the machine
  std::uint16_t port = 0;  ///< UDP port; 0: any free one, see EnetTransport::port()
  std::uint32_t max_peers =
      64;  ///< connections at once, at most 4095 (ENet's own limit); ShardedTransport: more
};

/// Transport over ENet and UDP (IPv4). State goes unsequenced and unreliable, control reliable. ENet's
/// throttle is held open so that it never drops state, a state payload that ENet would turn into reliable
/// fragments is refused, and an error of one peer's never keeps the others from being served. Datagrams that
/// no Reckoner sends are refused before ENet sees them, and counted.
///
/// A peer that sent nothing for 10 s is gone (reason 0), and so is one that takes no control messages in
/// while 8 MiB wait for it. A transport that is destroyed tells its peers.
///
/// ENet reads the machine's own clock; `now_s` is not used. One thread at a time; different transports are
/// independent.
class EnetTransport final : public Transport {
 public:
  /// Opens a socket for clients to connect to. Fails if the port is in use or the address is unknown.
  [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> listen(const EnetListenConfig& config);

  /// Starts to connect to a server; a connected event follows, or a disconnected one after 5 s.
  /// `reason` travels with the request (Reckoner's client puts its protocol version there). Fails at once if
  /// the host name does not resolve.
  [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> connect(const std::string& host,
                                                                      std::uint16_t port,
                                                                      std::uint32_t reason);

  ~EnetTransport() override;
  EnetTransport(const EnetTransport&) = delete;
  EnetTransport& operator=(const EnetTransport&) = delete;

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, Channel channel, std::span<const std::byte> payload) override;
  [[nodiscard]] std::size_t max_state_bytes(PeerId peer) const override;
  void disconnect(PeerId peer, std::uint32_t reason) override;
  [[nodiscard]] const TransportStats& stats() const override;

  /// The UDP port in use.
  [[nodiscard]] std::uint16_t port() const;

  /// Sends what waits, then sleeps until something arrives, a signal comes or `seconds` have passed. Call
  /// service() next.
  void wait(double seconds);

  /// The socket's descriptor, for waiting for several transports at once; to be neither read nor written.
  [[nodiscard]] std::intptr_t socket() const;

 private:
  friend class ShardedTransport;
  /// One of several on the same port, numbered from 0; `bits`: how many bits of a PeerId tell them apart.
  struct Shard {
    std::uint32_t number = 0;
    int bits = 0;
  };
  [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> listen(const EnetListenConfig& config,
                                                                     Shard shard);
  bool flush(bool always);  ///< sends what waits; true if events wait or something arrived

  struct Impl;
  explicit EnetTransport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
