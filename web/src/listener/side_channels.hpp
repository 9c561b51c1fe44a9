// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <reckoner/net/pipe_server.hpp>
#include <reckoner/net/socket_address.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/web/web_listener.hpp>

namespace reckoner::web {

/// Channels beside the WebSockets, for what may be lost: data channels over UDP. The WebSocket of a client
/// carries the offer and the answer (signal_message.hpp), and everything that must arrive. It stays open:
/// when a channel ends, everything goes over the WebSocket again. The client keeps its PeerId, and so its
/// session, because a channel belongs to a stream of the PipeServer and is no peer of its own.
///
/// A WebListener calls all functions on the server's thread.
class SideChannels {
 public:
  virtual ~SideChannels() = default;

  /// Reads the untrusted offer of a stream whose client has joined, and returns the answer. `reached`: the
  /// address of this machine that the client has reached. An earlier channel of the stream ends. The error is
  /// one sentence for the client.
  [[nodiscard]] virtual Result<std::string> open_offer(StreamId stream, const IpAddress& host,
                                                       const IpAddress& reached, std::string_view offer,
                                                       double now_s) = 0;
  /// The stream has ended, or its client has left the channel. Does nothing if it has no channel.
  virtual void close(StreamId stream) = 0;
  /// Sends a message over the stream's channel. Returns false if there is none that is open, or if it is too
  /// large for it: the listener then uses the WebSocket.
  virtual bool send(StreamId stream, std::span<const std::byte> message) = 0;
  /// Reads the sockets, runs timers, and passes what has arrived to PipeServer::received(), with the number
  /// of the stream. `now_s`: of the machine's monotonic clock (steady_seconds()). The PipeServer may call
  /// close() and send() meanwhile.
  virtual void pass_on(PipeServer& pipes, double now_s) = 0;
  /// The UDP port in use.
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// Sets the members of WebStats about channels.
  virtual void count(WebStats& stats) const = 0;
  /// Counters of the port. The listener adds what it has refused to its own counters.
  [[nodiscard]] virtual const TransportStats& stats() const = 0;
};

/// Opens a listener whose clients may offer these channels, or none if it is null. WebListener::open() makes
/// the channels itself (open_data_channels()).
[[nodiscard]] Result<std::unique_ptr<WebListener>> open_listener(const WebConfig& config,
                                                                 std::unique_ptr<SideChannels> channels);

}  // namespace reckoner::web
