// SPDX-License-Identifier: MIT
#pragma once

#include "web/src/channel/channel_config.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace reckoner::web {

/// The data channels of many browsers on one UDP port, without the port: it is passed datagrams, and times of
/// a monotonic clock. Each channel belongs to a stream, for example a WebSocket, which has admitted the
/// browser and carries its offer. The stream goes on as long as the channel, and when the channel ends.
///
/// Nobody without a stream can make the server do anything:
/// - A STUN check is answered only with the password of an offer, and by fewer bytes than it has.
/// - A DTLS hello is answered only to an address with such a check. Such an address can still be forged, so
///   it first gets a cookie, in fewer bytes than the hello has (HelloCookies). State is made only for the
///   hello that returns the cookie.
/// - A DTLS session begins once for each offer, and limits count the offers.
///
/// The server sends to the address that has returned the cookie, and to no other one. A browser whose address
/// changes makes a new offer. Belongs to one thread at a time.
class ChannelHub {
 public:
  /// Sends one datagram. It must not use the hub.
  using Send = std::function<void(const SocketAddress& to, std::span<const std::byte> datagram)>;

  /// Fails if a setting is invalid, or if OpenSSL does.
  [[nodiscard]] static Result<std::unique_ptr<ChannelHub>> create(const ChannelConfig& config, Send send);
  ~ChannelHub();
  ChannelHub(const ChannelHub&) = delete;
  ChannelHub& operator=(const ChannelHub&) = delete;

  /// Reads the offer (SDP) of a stream's browser, and returns the answer. `host` is the address of the other
  /// end of the stream. `reached`: where the browser reaches this machine, if the answer should not contain
  /// ChannelConfig::address. An earlier channel of the stream ends. The error is one sentence for the
  /// browser.
  [[nodiscard]] Result<std::string> open_offer(StreamId stream, const IpAddress& host, std::string_view offer,
                                               double now_s,
                                               const std::optional<SocketAddress>& reached = std::nullopt);
  /// Ends the channel of a stream, without an event. Does nothing if it has none.
  void close(StreamId stream);

  /// Takes an untrusted datagram. `waited_s`: how long it waited in this machine.
  void receive(const SocketAddress& from, std::span<const std::byte> datagram, double now_s,
               double waited_s = 0.0);
  /// Runs timers and limits. Call it at least 20 times a second.
  void service(double now_s);
  /// Removes and returns the oldest event.
  [[nodiscard]] std::optional<ChannelEvent> poll();

  /// Sends a message over the channel of a stream. Returns false if the channel is not open, or the message
  /// is empty or too large for it: use the stream then. A message may be lost. If the network is slow, only
  /// the newest message is sent.
  bool send(StreamId stream, std::span<const std::byte> message);
  [[nodiscard]] bool is_open(StreamId stream) const;

  /// Number of browsers, and of those whose channel is not open yet.
  [[nodiscard]] std::size_t peers() const;
  [[nodiscard]] std::size_t half_open() const;
  /// Number of messages that were not sent, because a newer one came while they waited.
  [[nodiscard]] std::uint64_t replaced() const;
  /// What was sent and received, and what was refused and why. `challenges`: cookies that were sent.
  [[nodiscard]] const TransportStats& stats() const;

 private:
  struct Impl;
  explicit ChannelHub(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner::web
