// SPDX-License-Identifier: MIT
#pragma once

#include "web/src/channel/channel_hub.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <reckoner/net/pipe_server.hpp>

namespace reckoner::web {

/// Settings of a ChannelServer.
struct ChannelServerConfig {
  /// Address to listen on. Empty: all addresses of the machine, IPv6 and IPv4 on one port.
  std::string host;
  std::uint16_t port = 0;  ///< UDP port; 0: any free port
  /// ChannelConfig::address is where browsers reach this port. Its host may be unspecified if `host` is one
  /// specific address. Its port 0 means the port in use.
  ChannelConfig channels{};
};

/// A ChannelHub with its UDP port. It serves browsers beside a PipeServer: the stream of a browser, which a
/// PipeServer has admitted, carries the offer and the answer. What may be lost then goes over the channel as
/// long as it is open, and over the stream otherwise:
///
/// ```
/// PipeStreams{.send = [&](StreamId stream, std::span<const std::byte> message, bool may_drop) {
///   return (may_drop && channels.send(stream, message)) || sockets.send(stream, message, may_drop);
/// }, ...}
/// ```
///
/// Call pass_on() before Server::receive(). Belongs to the thread of the PipeServer.
class ChannelServer {
 public:
  /// Opens the port. Fails if it is in use, or if a setting is invalid.
  [[nodiscard]] static Result<std::unique_ptr<ChannelServer>> create(const ChannelServerConfig& config);
  ~ChannelServer();
  ChannelServer(const ChannelServer&) = delete;
  ChannelServer& operator=(const ChannelServer&) = delete;

  /// As ChannelHub::open_offer().
  [[nodiscard]] Result<std::string> open_offer(StreamId stream, const IpAddress& host, std::string_view offer,
                                               double now_s,
                                               const std::optional<SocketAddress>& reached = std::nullopt);
  /// The stream has ended, or its browser takes back its offer.
  void close(StreamId stream);

  /// Reads the port, runs timers and sends. `now_s` is of the clock of PipeServer::received(). Then passes
  /// what has arrived to `pipes`, whose streams have the same numbers as the channels.
  void pass_on(PipeServer& pipes, double now_s);
  /// The first half of pass_on(): the events wait for poll().
  void service(double now_s);
  [[nodiscard]] std::optional<ChannelEvent> poll();

  /// As ChannelHub::send().
  bool send(StreamId stream, std::span<const std::byte> message);
  /// Sends now what otherwise waits for the next service(). Call it after the messages of a tick.
  void flush();
  [[nodiscard]] bool is_open(StreamId stream) const;

  /// The UDP port in use.
  [[nodiscard]] std::uint16_t port() const;
  /// Number of browsers, and of those whose channel is not open yet.
  [[nodiscard]] std::size_t peers() const;
  [[nodiscard]] std::size_t half_open() const;
  /// Number of messages that were not sent, because a newer one came while they waited.
  [[nodiscard]] std::uint64_t replaced() const;
  [[nodiscard]] const TransportStats& stats() const;

 private:
  struct Impl;
  explicit ChannelServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner::web
